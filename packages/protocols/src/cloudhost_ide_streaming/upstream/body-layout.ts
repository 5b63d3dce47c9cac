/** Where the parts of an assistant's body stand. It has no place for system text: the conversation's first words are the user's. */

import type { BodyLayout } from '../../body-layout.ts';
import { keysOf, namesAmong, putBefore } from '../../kit/body-layout.ts';
import { asArray, own } from '../../kit/read.ts';

const current = 'conversationState.currentMessage.userInputMessage';
const earlier = 'conversationState.history.*.userInputMessage';
const images = '.images';

export const bodyLayout: BodyLayout = {
  content: [current, earlier].flatMap((message) => [`${message}${images}`, `${message}.userInputMessageContext.toolResults.*.content`]),
  // An image is its format and its bytes.
  kindsOf: (block) => (own(block, 'source') === undefined ? keysOf(block) : ['image']),
  textBlock: (text, place) => (place.endsWith(images) ? null : { text }),
  wordsBeside: (place) => (place.endsWith(images) ? 'content' : null),
  tools: {
    places: [`${current}.userInputMessageContext.tools`],
    namesOf: (tool) => namesAmong(own(own(tool, 'toolSpecification'), 'name')),
    choices: [],
    meaningless: [],
  },
  systemNeeds: [{ path: ['conversationState'], depth: 'value' }],
  injectSystem(body, text) {
    const state = own(body, 'conversationState');
    const first = own(asArray(own(state, 'history'))?.[0], 'userInputMessage');
    const [message, path] =
      first === undefined
        ? [own(own(state, 'currentMessage'), 'userInputMessage'), ['conversationState', 'currentMessage', 'userInputMessage', 'content']]
        : [first, ['conversationState', 'history', 0, 'userInputMessage', 'content']];
    return message === undefined ? [] : putBefore(own(message, 'content'), path, text, undefined);
  },
};
