/** Where the parts of a Responses body stand. */

import type { BodyLayout } from '../../body-layout.ts';
import { namesAmong, putBefore } from '../../kit/body-layout.ts';
import { own } from '../../kit/read.ts';

const media: ReadonlyMap<unknown, string> = new Map([
  ['input_text', 'text'],
  ['output_text', 'text'],
  ['input_image', 'image'],
  ['input_audio', 'audio'],
  ['input_file', 'document'],
]);

const namesOf = (tool: unknown): string[] => {
  const named = namesAmong(own(tool, 'name'), own(tool, 'server_label'));
  return own(tool, 'type') === 'function' && named.length > 0 ? named : [...named, ...namesAmong(own(tool, 'type'))];
};

export const bodyLayout: BodyLayout = {
  counted: ['instructions', 'input', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'text', 'truncation'],
  content: ['input.*.content', 'input.*.output'],
  kindsOf: (block) => namesAmong(own(block, 'type'), media.get(own(block, 'type'))),
  textBlock: (text) => ({ type: 'input_text', text }),
  tools: {
    places: ['tools'],
    namesOf,
    choices: [
      { path: 'tool_choice', namesOf },
      { path: 'tool_choice.tools', namesOf, above: 1 },
    ],
    meaningless: ['tool_choice', 'parallel_tool_calls'],
  },
  systemNeeds: [{ path: ['instructions'], depth: 'text' }],
  injectSystem: (body, text) => putBefore(own(body, 'instructions'), ['instructions'], text, undefined),
};
