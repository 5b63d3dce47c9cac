/** DashScope's own generation. */
import { first, isGiven, type Json, list, objectOf, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { headerOf } from '../vendor.ts';
import { bad, callsOf, chatCall, chatResult, findUnpaired, hello, pixel } from './kit.ts';

type Row = Omit<VendorRule, 'protocol'>;
const messagesOf = (body: Json): Json[] => list(objectOf(body['input'])['messages']);
const parametersOf = (body: Json): Json => objectOf(body['parameters']);
const invalid = '<400> InternalError.Algo.InvalidParameter: ';
const roles = new Set(['system', 'user', 'assistant', 'tool']);
const ask = (messages: unknown = hello, parameters: Json = { result_format: 'message' }): Json => ({ input: { messages }, parameters });
const loop = (args = '{"city":"Paris"}'): Json[] => [
  ...hello,
  { role: 'assistant', content: '', tool_calls: [chatCall('call_1', 'weather', args)] },
  chatResult(),
];
const text = '/api/v1/services/aigc/text-generation/generation';

const isJson = (value: string): boolean => {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
};

const rows: Row[] = [
  {
    id: 'delta.role',
    what: 'Roles other than system, user, assistant and tool',
    source: 'recorded: delta/err-400-unary',
    date: '2025',
    check: ({ body }) =>
      first(messagesOf(body), ({ role }) => (roles.has(textOf(role)) ? null : bad('Role must be user or assistant and Content length must be greater than 0'))),
    refused: [{ body: ask([{ role: 'developer', content: 'short' }, ...hello]) }],
    accepted: [{ body: ask([{ role: 'system', content: 'short' }, ...hello]) }],
  },
  {
    id: 'delta.pictures',
    what: 'Pictures at the endpoint for text',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code (url error)',
    date: '2026-05',
    check: ({ body, path }) =>
      path.includes('/text-generation/') &&
      messagesOf(body).some(({ content }) => list(content).some((part) => isGiven(part['image']) || isGiven(part['video']) || isGiven(part['audio'])))
        ? bad('url error, please check url！')
        : null,
    refused: [{ path: text, body: ask([{ role: 'user', content: [{ image: `data:image/png;base64,${pixel}` }, { text: 'what is it?' }] }]) }],
    accepted: [{ path: text, body: ask() }],
  },
  {
    id: 'delta.unanswered-call',
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
    refused: [{ body: ask(loop().slice(0, 2)) }],
    accepted: [{ body: ask(loop()) }],
  },
  {
    id: 'delta.arguments',
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
    refused: [{ body: ask(loop('{"city":')) }],
    accepted: [{ body: ask(loop()) }],
  },
  {
    id: 'delta.thinking-unary',
    models: /^qwen3/,
    what: 'Thinking in a reply that is no stream, at the open models',
    source: 'TODO',
    date: '2025',
    check: ({ body, headers }) =>
      parametersOf(body)['enable_thinking'] === true &&
      headerOf(headers, 'x-dashscope-sse') !== 'enable' &&
      !headerOf(headers, 'accept').includes('text/event-stream')
        ? bad('parameter.enable_thinking must be set to false for non-streaming calls')
        : null,
    refused: [{ modelId: 'qwen3-32b', body: ask(hello, { result_format: 'message', enable_thinking: true }) }],
    accepted: [
      {
        modelId: 'qwen3-32b',
        headers: { 'x-dashscope-sse': 'enable' },
        body: ask(hello, { result_format: 'message', enable_thinking: true, incremental_output: true }),
      },
    ],
  },
];

export const deltaRules: VendorRule[] = rows.map((row) => ({ ...row, protocol: 'delta' }));
