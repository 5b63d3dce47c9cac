/** Where the parts of a generation body stand. */

import type { BodyLayout } from '../../body-layout.ts';
import { injectSystemMessage, keysOf, namesAmong, systemMessageNeeds } from '../../kit/body-layout.ts';
import { asArray, own } from '../../kit/read.ts';

const functionName = (holder: unknown): string[] => namesAmong(own(own(holder, 'function'), 'name'));

/** Content is text at the text endpoint and a list of parts at the multimodal one; a new message is of the kind that its neighbours are. */
const takesParts = (messages: unknown): boolean => (asArray(messages) ?? []).some((message) => Array.isArray(own(message, 'content')));

export const bodyLayout: BodyLayout = {
  content: ['input.messages.*.content'],
  kindsOf: keysOf,
  textBlock: (text) => ({ text }),
  tools: {
    places: ['parameters.tools'],
    namesOf: functionName,
    choices: [{ path: 'parameters.tool_choice', namesOf: functionName }],
    meaningless: ['parameters.tool_choice', 'parameters.parallel_tool_calls'],
  },
  systemNeeds: [...systemMessageNeeds(['input', 'messages']), { path: ['input', 'messages', '*', 'content'], depth: 'length' }],
  injectSystem(body, text) {
    const messages = own(own(body, 'input'), 'messages');
    return injectSystemMessage(messages, ['input', 'messages'], text, { text }, takesParts(messages) ? [{ text }] : text);
  },
};
