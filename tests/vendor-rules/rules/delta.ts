/** DashScope's own generation. */
import { first, isGiven, type Json, list, objectOf, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { headerOf } from '../vendor.ts';
import { bad, callsOf, chatCall, chatResult, chatTool, findUnpaired, hello, pixel } from './kit.ts';
import { budgetFault, forcedWhileThinking, rangeFault } from './qwen.ts';

type Row = Omit<VendorRule, 'protocol'>;
const messagesOf = (body: Json): Json[] => list(objectOf(body['input'])['messages']);
const parametersOf = (body: Json): Json => objectOf(body['parameters']);
const invalid = '<400> InternalError.Algo.InvalidParameter: ';
const roles = new Set(['system', 'user', 'assistant', 'tool']);
const ask = (messages: unknown = hello, parameters: Json = { result_format: 'message' }): Json => ({ input: { messages }, parameters });
const named = { type: 'function', function: { name: 'weather' } };
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
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
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
    source: 'https://github.com/mateaix/mateclaw/issues/410',
    date: '2026-06-24',
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
    models: /^(?:qwen3(?:-vl)?-\d+b|qwq|qvq)/,
    what: 'Thinking in a reply that is no stream, at the open models',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
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
  {
    id: 'delta.no-messages',
    what: 'Neither messages nor a prompt in the input',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check({ body }) {
      const input = objectOf(body['input']);
      if (!isGiven(input['messages']) && !isGiven(input['prompt'])) return bad('Either "prompt" or "messages" must exist and cannot both be none');
      return Array.isArray(input['messages']) && input['messages'].length === 0 ? bad("[] is too short - 'messages'") : null;
    },
    refused: [{ body: { input: {} } }, { body: ask([]) }],
    accepted: [{ body: ask() }],
  },
  {
    id: 'delta.content',
    what: 'Messages without content',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check: ({ body }) =>
      messagesOf(body).some((message) => message['content'] === undefined && callsOf(message).length === 0)
        ? bad('The content field is a required field.')
        : null,
    refused: [{ body: ask([{ role: 'user' }]) }],
    accepted: [{ body: ask() }],
  },
  {
    id: 'delta.orphan-result',
    what: 'A result without a call in front of it',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check({ body }) {
      const found = findUnpaired(messagesOf(body));
      return (found?.kind === 'orphan' || found?.kind === 'doubled result') && found.ids[0] !== ''
        ? bad('Messages with role "tool" must be a response to a preceding message with "tool_calls"')
        : null;
    },
    refused: [{ body: ask([...hello, chatResult()]) }],
    accepted: [{ body: ask(loop()) }],
  },
  {
    id: 'delta.text-content',
    what: 'Content that is no text, at the endpoint for text',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check: ({ body, path }) =>
      path.includes('/text-generation/') && messagesOf(body).some(({ content }) => isGiven(content) && typeof content !== 'string')
        ? bad('input content must be a string.')
        : null,
    refused: [{ path: text, body: ask([{ role: 'user', content: [{ text: 'hello' }] }]) }],
    accepted: [
      { path: text, body: ask() },
      { path: text.replace('text', 'multimodal'), body: ask([{ role: 'user', content: [{ text: 'hello' }] }]) },
    ],
  },
  {
    id: 'delta.thinking-format',
    what: 'While it thinks, a stream that repeats itself',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check({ body, headers }) {
      const parameters = parametersOf(body);
      if (parameters['enable_thinking'] !== true) return null;
      return headerOf(headers, 'x-dashscope-sse') === 'enable' && parameters['incremental_output'] !== true
        ? bad('The incremental_output parameter must be "true" when enable_thinking is true')
        : null;
    },
    refused: [{ headers: { 'x-dashscope-sse': 'enable' }, body: ask(hello, { result_format: 'message', enable_thinking: true }) }],
    accepted: [{ headers: { 'x-dashscope-sse': 'enable' }, body: ask(hello, { result_format: 'message', incremental_output: true, enable_thinking: true }) }],
  },
  {
    id: 'delta.json-word',
    what: 'JSON mode in a conversation that does not speak of JSON, or while it thinks',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check({ body }) {
      const parameters = parametersOf(body);
      if (objectOf(parameters['response_format'])['type'] !== 'json_object') return null;
      if (parameters['enable_thinking'] === true) return bad('Json mode response is not supported when enable_thinking is true');
      return /json/i.test(JSON.stringify(body['input'] ?? ''))
        ? null
        : bad("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.");
    },
    refused: [{ body: ask(hello, { result_format: 'message', response_format: { type: 'json_object' } }) }],
    accepted: [{ body: ask([{ role: 'user', content: 'a color, as JSON' }], { result_format: 'message', response_format: { type: 'json_object' } }) }],
  },
  {
    id: 'delta.tool-choice',
    what: 'tool_choice as a word other than auto and none, and a tool named search',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check({ body }) {
      const { tool_choice: choice, tools } = parametersOf(body);
      if (list(tools).some((tool) => objectOf(tool['function'])['name'] === 'search')) return bad('Tool names are not allowed to be [search]');
      return typeof choice === 'string' && !/^(?:auto|none)$/.test(choice) ? bad('tool_choice is one of the strings that should be ["none", "auto"]') : null;
    },
    refused: [
      { body: ask(hello, { tools: [chatTool()], tool_choice: 'required' }) },
      { body: ask(hello, { tools: [chatTool({ type: 'object' }, 'search')] }) },
    ],
    accepted: [{ body: ask(hello, { tools: [chatTool()], tool_choice: { type: 'function', function: { name: 'weather' } } }) }],
  },
  {
    id: 'delta.thinking-forced',
    what: 'A forced call of a tool while it thinks, which the newer models and the open ones do unless told not to',
    source: 'https://github.com/agentscope-ai/agentscope/issues/1608',
    date: '2026-09-07',
    check: ({ modelId, body }) => forcedWhileThinking(modelId, parametersOf(body)),
    refused: [
      {
        modelId: 'qwen3-max',
        body: ask(hello, { result_format: 'message', tools: [chatTool()], tool_choice: named, enable_thinking: true, incremental_output: true }),
      },
    ],
    accepted: [{ modelId: 'qwen3-max', body: ask(hello, { tools: [chatTool()], tool_choice: named }) }],
  },
  {
    id: 'delta.thinking-budget',
    what: 'Budgets of thinking of 0 and less, or past what the model thinks at most',
    source: 'https://github.com/QwenLM/Qwen-Agent/issues/941',
    date: '2026-08-16',
    check: ({ modelId, body }) => budgetFault(modelId, parametersOf(body)),
    refused: [
      { modelId: 'qwen-turbo', body: ask(hello, { result_format: 'message', enable_thinking: true, thinking_budget: 40_000, incremental_output: true }) },
    ],
    accepted: [
      { modelId: 'qwen-turbo', body: ask(hello, { result_format: 'message', enable_thinking: true, thinking_budget: 4000, incremental_output: true }) },
    ],
  },
  {
    id: 'delta.ranges',
    what: 'A temperature of 2 and more, top_p past 1 or of 0, presence_penalty past 2, n past 4',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check: ({ body }) => rangeFault(parametersOf(body)),
    refused: [{ body: ask(hello, { temperature: 2 }) }],
    accepted: [{ body: ask(hello, { temperature: 1.9 }) }],
  },
];

export const deltaRules: VendorRule[] = rows.map((row) => ({ ...row, protocol: 'delta' }));
