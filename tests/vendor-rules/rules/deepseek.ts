/** DeepSeek's chat completions. */
import { first, isGiven, isObject, objectOf, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { bad, callsOf, chatCall, chatLoop, chatResult, chatTool, findUnpaired, functionsOf, hello, messagesOf, partsOf, picture } from './kit.ts';

type Row = Omit<VendorRule, 'protocol' | 'vendors'>;
const roles = new Set(['system', 'user', 'assistant', 'tool', 'latest_reminder']);
const expected = (known: Iterable<string>): string => [...known].map((one) => `\`${one}\``).join(', ');
const deserialize = 'Failed to deserialize the JSON body into the target type: ';
/** It thinks where it is asked to, and where its id says so unless it is asked not to. */
const thinks = (modelId: string, body: Record<string, unknown>): boolean => {
  const type = objectOf(body['thinking'])['type'];
  return type === 'enabled' || (type !== 'disabled' && /reasoner|r1|v4|deepseek-(?:flash|pro)/.test(modelId));
};
const withoutReasoning = (message: Record<string, unknown>): boolean =>
  message['role'] === 'assistant' && callsOf(message).length > 0 && !isGiven(message['reasoning_content']);
const thoughtLoop = [...hello, { role: 'assistant', content: '', reasoning_content: 'I need it.', tool_calls: [chatCall()] }, chatResult()];

const rows: Row[] = [
  {
    id: 'alpha.deepseek.role',
    what: 'Role developer, and others that it does not know',
    source: 'https://github.com/earendil-works/pi/issues/1048',
    date: '2026-01-28',
    check: ({ body }) =>
      first(messagesOf(body), ({ role }, at) =>
        roles.has(textOf(role))
          ? null
          : bad(`${deserialize}messages[${at}].role: unknown variant \`${role}\`, expected one of ${expected(roles)} at line 1 column 85`),
      ),
    refused: [{ body: { messages: [{ role: 'developer', content: 'short' }, ...hello] } }],
    accepted: [{ body: { messages: [{ role: 'system', content: 'short' }, ...hello] } }],
  },
  {
    id: 'alpha.deepseek.text-only',
    models: /^(?!.*(?:vision|v4\.1|deepseek-flash))/,
    what: 'Parts other than text, at models that read nothing else',
    source: 'https://github.com/1jehuang/jcode/issues/310',
    date: '2026-06-02',
    check: ({ body }) =>
      first(messagesOf(body), (message, at) =>
        first(partsOf(message), ({ type }) =>
          type === 'text' ? null : bad(`${deserialize}messages[${at}]: unknown variant \`${type}\`, expected \`text\` at line 1 column 120`),
        ),
      ),
    refused: [{ body: { messages: [{ role: 'user', content: [{ type: 'text', text: 'what is it?' }, picture()] }] } }],
    accepted: [{ body: { messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }] } }],
  },
  {
    id: 'alpha.deepseek.unanswered-call',
    what: 'A call of a tool without its result, directly after the turn that called',
    source: 'https://github.com/QwenLM/qwen-code/issues/135',
    date: '2025-07-28',
    check({ body }) {
      const found = findUnpaired(messagesOf(body));
      return found?.kind === 'unanswered'
        ? bad(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
          )
        : null;
    },
    refused: [{ body: { messages: chatLoop().slice(0, 2) } }],
    accepted: [{ body: { messages: chatLoop() } }],
  },
  {
    id: 'alpha.deepseek.orphan-result',
    what: 'A result without a call in front of it',
    source: 'https://github.com/itmisx/deepx-code/issues/94',
    date: '2026-06-10',
    check({ body }) {
      const found = findUnpaired(messagesOf(body));
      return found?.kind === 'orphan' || found?.kind === 'doubled result'
        ? bad("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'")
        : null;
    },
    refused: [{ body: { messages: [...hello, chatResult()] } }],
    accepted: [{ body: { messages: chatLoop() } }],
  },
  {
    id: 'alpha.deepseek.reasoning-back',
    what: 'A turn that called a tool while thinking, without the reasoning that led there',
    source: 'https://github.com/mnfst/modelparams.dev/issues/29',
    date: '2026-05-25',
    check: ({ modelId, body }) =>
      thinks(modelId, body) && messagesOf(body).some(withoutReasoning)
        ? bad('The `reasoning_content` in the thinking mode must be passed back to the API.')
        : null,
    refused: [
      { modelId: 'deepseek-v4-pro', body: { messages: chatLoop() } },
      { modelId: 'deepseek-chat', body: { messages: chatLoop(), thinking: { type: 'enabled' } } },
    ],
    accepted: [
      { modelId: 'deepseek-v4-pro', body: { messages: thoughtLoop } },
      { modelId: 'deepseek-chat', body: { messages: chatLoop() } },
      { modelId: 'deepseek-v4-pro', body: { messages: chatLoop(), thinking: { type: 'disabled' } } },
    ],
  },
  {
    id: 'alpha.deepseek.json-schema',
    what: 'Structured output by a schema: it has JSON mode alone',
    source: 'https://github.com/llm-exe/llm-exe/issues/662',
    date: '2026-07-11',
    check: ({ body }) => (objectOf(body['response_format'])['type'] === 'json_schema' ? bad('This response_format type is unavailable now') : null),
    refused: [{ body: { messages: hello, response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } } } }],
    accepted: [{ body: { messages: [{ role: 'user', content: 'json please' }], response_format: { type: 'json_object' } } }],
  },
  {
    id: 'alpha.deepseek.function-name',
    what: 'Names of functions past 64 characters, or with others than letters, digits, _ and -',
    source: 'https://github.com/nikkigallery/Whimbox/issues/61',
    date: '2026-05-04',
    check: ({ body }) =>
      first(functionsOf(body), ({ at, spec }) =>
        /^[a-zA-Z0-9_-]{1,64}$/.test(textOf(spec['name']))
          ? null
          : bad(`Invalid 'tools[${at}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`),
      ),
    refused: [{ body: { messages: hello, tools: [chatTool({ type: 'object' }, 'a.b')] } }],
    accepted: [{ body: { messages: hello, tools: [chatTool({ type: 'object' }, 'a_b')] } }],
  },
  {
    id: 'alpha.deepseek.json-word',
    what: 'JSON mode in a conversation that does not speak of JSON',
    source: 'https://github.com/browserbase/stagehand/issues/1204',
    date: '2025-10-30',
    check: ({ body }) =>
      objectOf(body['response_format'])['type'] === 'json_object' && !/json/i.test(JSON.stringify(body['messages'] ?? ''))
        ? bad("Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.")
        : null,
    refused: [{ body: { messages: hello, response_format: { type: 'json_object' } } }],
    accepted: [{ body: { messages: [{ role: 'user', content: 'a color, as JSON' }], response_format: { type: 'json_object' } } }],
  },
  {
    id: 'alpha.deepseek.thinking-forced',
    models: /v4/,
    what: 'A forced call of a tool while V4 thinks, which it does unless told not to',
    source: 'https://github.com/deepseek-ai/DeepSeek-V3/issues/1376',
    date: '2026-05-30',
    check: ({ modelId, body }) =>
      thinks(modelId, body) && (body['tool_choice'] === 'required' || isObject(body['tool_choice']))
        ? bad('Thinking mode does not support this tool_choice')
        : null,
    refused: [{ modelId: 'deepseek-v4-pro', body: { messages: hello, tools: [chatTool()], tool_choice: 'required' } }],
    accepted: [
      { modelId: 'deepseek-v4-pro', body: { messages: hello, tools: [chatTool()], tool_choice: 'auto' } },
      { modelId: 'deepseek-v4-pro', body: { messages: hello, tools: [chatTool()], tool_choice: 'required', thinking: { type: 'disabled' } } },
    ],
  },
];

export const deepseekRules: VendorRule[] = rows.map((row) => ({
  ...row,
  protocol: 'alpha',
  vendors: ['deepseek'],
  refused: row.refused.map((example) => ({ modelId: 'deepseek-chat', ...example })),
  accepted: row.accepted.map((example) => ({ modelId: 'deepseek-chat', ...example })),
}));
