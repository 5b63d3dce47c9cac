/** Where the parts of a messages body stand. */

import type { BodyLayout } from '../../body-layout.ts';
import { namesAmong, putBefore } from '../../kit/body-layout.ts';
import { own } from '../../kit/read.ts';

export const bodyLayout: BodyLayout = {
  counted: ['system', 'messages', 'tools', 'tool_choice', 'thinking'],
  // Blocks stand inside results, and inside documents that are made of blocks.
  content: ['system', 'messages.*.content', 'messages.*.content.*.content', 'messages.*.content.*.source.content'],
  kindsOf: (block) => namesAmong(own(block, 'type')),
  textBlock: (text) => ({ type: 'text', text }),
  tools: {
    places: ['tools'],
    namesOf: (tool) => namesAmong(own(tool, 'name'), own(tool, 'type') === 'custom' ? undefined : own(tool, 'type')),
    choices: [{ path: 'tool_choice', namesOf: (choice) => namesAmong(own(choice, 'name')) }],
    meaningless: ['tool_choice'],
  },
  systemNeeds: [{ path: ['system'], depth: 'text' }],
  injectSystem: (body, text) => putBefore(own(body, 'system'), ['system'], text, { type: 'text', text }),
};
