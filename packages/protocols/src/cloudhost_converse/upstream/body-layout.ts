/** Where the parts of a Converse body stand. */

import type { BodyLayout } from '../../body-layout.ts';
import { keysOf, namesAmong, putBefore } from '../../kit/body-layout.ts';
import { own } from '../../kit/read.ts';

/** `schemaVersion`-style bodies of the same vendor have the same places. */
export const bodyLayout: BodyLayout = {
  content: ['system', 'messages.*.content', 'messages.*.content.*.toolResult.content'],
  kindsOf: keysOf,
  textBlock: (text) => ({ text }),
  tools: {
    places: ['toolConfig.tools'],
    namesOf: (tool) => namesAmong(own(own(tool, 'toolSpec'), 'name'), own(own(tool, 'systemTool'), 'name')),
    choices: [{ path: 'toolConfig.toolChoice', namesOf: (choice) => namesAmong(own(own(choice, 'tool'), 'name')) }],
    meaningless: ['toolConfig'],
  },
  systemNeeds: [{ path: ['system'], depth: 'text' }],
  injectSystem: (body, text) => putBefore(own(body, 'system'), ['system'], text, { text }, [{ text }]),
};
