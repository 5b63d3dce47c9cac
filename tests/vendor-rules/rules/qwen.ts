/** Qwen's chat completions, as Alibaba serves them. */
import { first, isGiven, objectOf, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { bad, callsOf, chatCall, chatLoop, chatResult, findUnpaired, hello, messagesOf } from './kit.ts';

type Row = Omit<VendorRule, 'protocol' | 'vendors'>;
const invalid = '<400> InternalError.Algo.InvalidParameter: ';
const roles = new Set(['system', 'assistant', 'user', 'tool', 'function']);

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const rows: Row[] = [
  {
    id: 'alpha.qwen.role',
    what: 'Role developer, and others that it does not know',
    source: 'TODO',
    date: '2025',
    check: ({ body }) =>
      first(messagesOf(body), ({ role }, at) =>
        roles.has(textOf(role)) ? null : bad(`${role} is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.${at}.role'`),
      ),
    refused: [{ body: { messages: [{ role: 'developer', content: 'short' }, ...hello] } }],
    accepted: [{ body: { messages: [{ role: 'system', content: 'short' }, ...hello] } }],
  },
  {
    id: 'alpha.qwen.unanswered-call',
    what: 'A call of a tool without its result, directly after the turn that called',
    source: 'https://github.com/QwenLM/qwen-code/issues/315',
    date: '2025-08-13',
    check({ body }) {
      const found = findUnpaired(messagesOf(body));
      return found?.kind === 'unanswered'
        ? bad(
            `${invalid}An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". The following tool_call_ids did not have response messages: message[${found.at}].role`,
          )
        : null;
    },
    refused: [{ body: { messages: chatLoop().slice(0, 2) } }],
    accepted: [{ body: { messages: chatLoop() } }],
  },
  {
    id: 'alpha.qwen.orphan-result',
    what: 'A result without a call in front of it',
    source: 'https://github.com/philschmid/mcp-openai-gemini-llama-example/pull/5',
    date: '2025-03-23',
    check({ body }) {
      const found = findUnpaired(messagesOf(body));
      return found?.kind === 'orphan' || found?.kind === 'doubled result'
        ? bad(`${invalid}messages with role "tool" must be a response to a preceeding message with "tool_calls".`)
        : null;
    },
    refused: [{ body: { messages: [...hello, chatResult()] } }],
    accepted: [{ body: { messages: chatLoop() } }],
  },
  {
    id: 'alpha.qwen.arguments',
    what: 'Arguments of a call that are no JSON',
    source: 'TODO',
    date: '2025',
    check: ({ body }) =>
      first(messagesOf(body), (message) =>
        first(callsOf(message), (call) =>
          isJson(textOf(objectOf(call['function'])['arguments']) || '{}')
            ? null
            : bad(`${invalid}The "function.arguments" parameter of the code model must be in JSON format.`),
        ),
      ),
    refused: [{ body: { messages: [...hello, { role: 'assistant', content: '', tool_calls: [chatCall('call_1', 'weather', '{"city":')] }, chatResult()] } }],
    accepted: [{ body: { messages: chatLoop() } }],
  },
  {
    id: 'alpha.qwen.json-word',
    what: 'JSON mode in a conversation that does not speak of JSON',
    source: 'TODO',
    date: '2025',
    check: ({ body }) =>
      objectOf(body['response_format'])['type'] === 'json_object' && !/json/i.test(JSON.stringify(body['messages'] ?? ''))
        ? bad(`${invalid}'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.`)
        : null,
    refused: [{ body: { messages: hello, response_format: { type: 'json_object' } } }],
    accepted: [{ body: { messages: [{ role: 'user', content: 'a color, as JSON' }], response_format: { type: 'json_object' } } }],
  },
  {
    id: 'alpha.qwen.thinking-unary',
    models: /^qwen3/,
    what: 'Thinking in a reply that is no stream, at the open models',
    source: 'TODO',
    date: '2025',
    check: ({ body }) =>
      body['enable_thinking'] === true && body['stream'] !== true ? bad('parameter.enable_thinking must be set to false for non-streaming calls') : null,
    refused: [{ modelId: 'qwen3-32b', body: { messages: hello, enable_thinking: true } }],
    accepted: [{ modelId: 'qwen3-32b', body: { messages: hello, enable_thinking: true, stream: true } }],
  },
  {
    id: 'alpha.qwen.forced-thinking',
    what: 'A forced call of a tool while it thinks',
    source: 'TODO',
    date: '2025',
    check: ({ body }) =>
      body['enable_thinking'] === true && isGiven(body['tool_choice']) && !/^(?:auto|none)$/.test(textOf(body['tool_choice']))
        ? bad(`${invalid}The tool_choice parameter does not support being set to required or object in thinking mode`)
        : null,
    refused: [{ body: { messages: hello, stream: true, enable_thinking: true, tools: [], tool_choice: 'required' } }],
    accepted: [{ body: { messages: hello, stream: true, enable_thinking: true, tools: [], tool_choice: 'auto' } }],
  },
];

export const qwenRules: VendorRule[] = rows.map((row) => ({
  ...row,
  protocol: 'alpha',
  vendors: ['qwen'],
  refused: row.refused.map((example) => ({ modelId: 'qwen-plus', ...example })),
  accepted: row.accepted.map((example) => ({ modelId: 'qwen-plus', ...example })),
}));
