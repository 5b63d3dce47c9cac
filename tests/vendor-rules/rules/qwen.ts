/** Qwen's chat completions, as Alibaba serves them. */
import { first, isObject, type Json, objectOf, textOf } from '../read.ts';
import type { Refusal, VendorRule } from '../rule.ts';
import { bad, callsOf, chatCall, chatLoop, chatResult, chatTool, findUnpaired, functionsOf, hello, messagesOf } from './kit.ts';

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

/** Ranges that its two protocols have in common. */
export function rangeFault(parameters: Json): Refusal | null {
  const outside = (key: string, holds: (value: number) => boolean): boolean => typeof parameters[key] === 'number' && !holds(parameters[key]);
  if (outside('temperature', (value) => value >= 0 && value < 2)) return bad('Temperature should be in [0.0, 2.0)');
  if (outside('top_p', (value) => value > 0 && value <= 1)) return bad('Range of top_p should be (0.0, 1.0]');
  if (outside('presence_penalty', (value) => value >= -2 && value <= 2)) return bad('Presence_penalty should be in [-2.0, 2.0]');
  return outside('n', (value) => value >= 1 && value <= 4) ? bad('Range of n should be [1, 4]') : null;
}

const thinksUnasked = /^(?:qwen3\.[5-9]|qwen3(?:-vl)?-\d+b(?!.*-instruct)|qwen3.*-thinking|qwq|qvq)/;
const oneTool = { type: 'function', function: { name: 'weather' } };

/** The fields of a request, or of the parameters of the vendor's own protocol. */
export function forcedWhileThinking(modelId: string, fields: Json): Refusal | null {
  const { tool_choice: choice, enable_thinking: enabled } = fields;
  const thinks = enabled === true || (enabled === undefined && thinksUnasked.test(modelId));
  return thinks && (choice === 'required' || isObject(choice))
    ? bad(`${invalid}The tool_choice parameter does not support being set to required or object in thinking mode`)
    : null;
}

/** Those that think less than others at most. */
const thinksLess = /^(?:qwen-turbo|qwen3-\d+(?:\.\d)?b(?!.*-(?:instruct|thinking)))/;

export function budgetFault(modelId: string, { enable_thinking: enabled, thinking_budget: budget }: Json): Refusal | null {
  if (enabled === false || typeof budget !== 'number') return null;
  const most = thinksLess.test(modelId) ? 38_912 : /^qwen3\.6-(?:flash|max)/.test(modelId) ? 131_072 : 81_920;
  return budget < 1 || budget > most ? bad(`${invalid}The thinking_budget parameter must be a positive integer and not greater than ${most}`) : null;
}

const rows: Row[] = [
  {
    id: 'alpha.qwen.role',
    what: 'Role developer, and others that it does not know',
    source: 'https://github.com/proma-ai/Proma/issues/1496',
    date: '2026-08-08',
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
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
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
    source: 'https://github.com/HKUDS/nanobot/issues/1487',
    date: '2026-03-03',
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
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check: ({ body }) =>
      objectOf(body['response_format'])['type'] === 'json_object' && !/json/i.test(JSON.stringify(body['messages'] ?? ''))
        ? bad(`${invalid}'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.`)
        : null,
    refused: [{ body: { messages: hello, response_format: { type: 'json_object' } } }],
    accepted: [{ body: { messages: [{ role: 'user', content: 'a color, as JSON' }], response_format: { type: 'json_object' } } }],
  },
  {
    id: 'alpha.qwen.thinking-unary',
    models: /^(?:qwen3(?:-vl)?-\d+b|qwq|qvq)/,
    what: 'Thinking in a reply that is no stream, at the open models',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check: ({ body }) =>
      body['enable_thinking'] === true && body['stream'] !== true ? bad('parameter.enable_thinking must be set to false for non-streaming calls') : null,
    refused: [{ modelId: 'qwen3-32b', body: { messages: hello, enable_thinking: true } }],
    accepted: [{ modelId: 'qwen3-32b', body: { messages: hello, enable_thinking: true, stream: true } }],
  },
  {
    id: 'alpha.qwen.tool-choice',
    what: 'tool_choice as a word other than auto and none',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check: ({ body }) =>
      typeof body['tool_choice'] === 'string' && !/^(?:auto|none)$/.test(body['tool_choice'])
        ? bad('tool_choice is one of the strings that should be ["none", "auto"]')
        : null,
    refused: [{ body: { messages: hello, tools: [chatTool()], tool_choice: 'required' } }],
    accepted: [{ body: { messages: hello, tools: [chatTool()], tool_choice: 'auto' } }],
  },
  {
    id: 'alpha.qwen.thinking-forced',
    what: 'A forced call of a tool while it thinks, which the newer models and the open ones do unless told not to',
    source: 'https://github.com/cloudwego/eino/issues/994',
    date: '2026-04-24',
    check: ({ modelId, body }) => forcedWhileThinking(modelId, body),
    refused: [
      { body: { messages: hello, tools: [chatTool()], tool_choice: oneTool, enable_thinking: true } },
      { modelId: 'qwen3.6-plus', body: { messages: hello, tools: [chatTool()], tool_choice: oneTool } },
    ],
    accepted: [
      { body: { messages: hello, tools: [chatTool()], tool_choice: oneTool } },
      { modelId: 'qwen3.6-plus', body: { messages: hello, tools: [chatTool()], tool_choice: oneTool, enable_thinking: false } },
    ],
  },
  {
    id: 'alpha.qwen.thinking-budget',
    what: 'Budgets of thinking of 0 and less, or past what the model thinks at most',
    source: 'https://github.com/CherryHQ/cherry-studio/issues/7263',
    date: '2025-06-16',
    check: ({ modelId, body }) => budgetFault(modelId, body),
    refused: [
      { modelId: 'qwen-turbo', body: { messages: hello, enable_thinking: true, thinking_budget: 77_824, stream: true } },
      { modelId: 'qwen-plus', body: { messages: hello, enable_thinking: true, thinking_budget: 0, stream: true } },
    ],
    accepted: [{ modelId: 'qwen-plus', body: { messages: hello, enable_thinking: true, thinking_budget: 77_824, stream: true } }],
  },
  {
    id: 'alpha.qwen.json-thinking',
    what: 'JSON mode while it thinks',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check: ({ body }) =>
      body['enable_thinking'] === true && objectOf(body['response_format'])['type'] === 'json_object'
        ? bad('Json mode response is not supported when enable_thinking is true')
        : null,
    refused: [{ body: { messages: [{ role: 'user', content: 'json' }], stream: true, enable_thinking: true, response_format: { type: 'json_object' } } }],
    accepted: [{ body: { messages: [{ role: 'user', content: 'json' }], stream: true, enable_thinking: false, response_format: { type: 'json_object' } } }],
  },
  {
    id: 'alpha.qwen.always-thinks',
    models: /^qwen3.*-thinking-/,
    what: 'Thinking switched off, at models that cannot do without',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check: ({ body }) => (body['enable_thinking'] === false ? bad('The value of the enable_thinking parameter is restricted to True.') : null),
    refused: [{ modelId: 'qwen3-235b-a22b-thinking-2507', body: { messages: hello, enable_thinking: false } }],
    accepted: [{ modelId: 'qwen3-235b-a22b-thinking-2507', body: { messages: hello, stream: true, enable_thinking: true } }],
  },
  {
    id: 'alpha.qwen.ranges',
    what: 'A temperature of 2 and more, top_p past 1 or of 0, presence_penalty past 2, n past 4',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check: ({ body }) => rangeFault(body),
    refused: [{ body: { messages: hello, temperature: 2 } }, { body: { messages: hello, top_p: 0 } }, { body: { messages: hello, n: 5 } }],
    accepted: [{ body: { messages: hello, temperature: 1.9, top_p: 1, n: 4 } }],
  },
  {
    id: 'alpha.qwen.tool-name',
    what: 'A tool named search',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check: ({ body }) => (functionsOf(body).some(({ spec }) => spec['name'] === 'search') ? bad('Tool names are not allowed to be [search]') : null),
    refused: [{ body: { messages: hello, tools: [chatTool({ type: 'object' }, 'search')] } }],
    accepted: [{ body: { messages: hello, tools: [chatTool({ type: 'object' }, 'search_web')] } }],
  },
  {
    id: 'alpha.qwen.content',
    what: 'A conversation without a message, and messages without content',
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code',
    date: '2026-05',
    check({ body }) {
      if (messagesOf(body).length === 0) return bad("[] is too short - 'messages'");
      return messagesOf(body).some((message) => message['content'] === undefined && callsOf(message).length === 0)
        ? bad('The content field is a required field.')
        : null;
    },
    refused: [{ body: { messages: [] } }, { body: { messages: [{ role: 'user' }] } }],
    accepted: [{ body: { messages: chatLoop() } }],
  },
];

export const qwenRules: VendorRule[] = rows.map((row) => ({
  ...row,
  protocol: 'alpha',
  vendors: ['qwen'],
  refused: row.refused.map((example) => ({ modelId: 'qwen-plus', ...example })),
  accepted: row.accepted.map((example) => ({ modelId: 'qwen-plus', ...example })),
}));
