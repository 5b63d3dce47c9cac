/** Where the parts of a chat completion's body stand. */

import type { BodyLayout } from '../../body-layout.ts';
import { injectSystemMessage, namesAmong, systemMessageNeeds } from '../../kit/body-layout.ts';
import { own } from '../../kit/read.ts';

const media: ReadonlyMap<unknown, string> = new Map([
  ['image_url', 'image'],
  ['input_audio', 'audio'],
  ['video_url', 'video'],
  ['file', 'document'],
]);

const functionName = (tool: unknown): unknown => own(own(tool, 'function'), 'name') ?? own(own(tool, 'custom'), 'name') ?? own(tool, 'name');

/** A tool by its name; one without (the vendor's own) by its type. */
const namesOf = (tool: unknown): string[] => {
  const named = namesAmong(functionName(tool));
  return named.length > 0 ? named : namesAmong(own(tool, 'type'));
};

export const bodyLayout: BodyLayout = {
  content: ['messages.*.content'],
  kindsOf: (block) => namesAmong(own(block, 'type'), media.get(own(block, 'type'))),
  textBlock: (text) => ({ type: 'text', text }),
  tools: {
    places: ['tools', 'functions'],
    namesOf,
    choices: [
      { path: 'tool_choice', namesOf: (choice) => namesAmong(functionName(choice)) },
      { path: 'tool_choice.allowed_tools.tools', namesOf, above: 2 },
      { path: 'function_call', namesOf: (choice) => namesAmong(own(choice, 'name')) },
    ],
    meaningless: ['tool_choice', 'function_call', 'parallel_tool_calls'],
  },
  systemNeeds: systemMessageNeeds(['messages']),
  injectSystem: (body, text) => injectSystemMessage(own(body, 'messages'), ['messages'], text, { type: 'text', text }),
};
