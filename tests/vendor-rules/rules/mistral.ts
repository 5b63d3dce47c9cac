/** Mistral's chat completions: a closed schema, and a strict order of roles. */
import { mistralChat, unknownKeys } from '../fields.ts';
import { first, isBlank, isGiven, list, objectOf, textOf } from '../read.ts';
import type { Refusal, VendorRule } from '../rule.ts';
import { bad, callsOf, chatCall, chatResult, chatTool, findUnpaired, functionsOf, hello, messagesOf, partsOf } from './kit.ts';

type Row = Omit<VendorRule, 'protocol' | 'vendors'>;
const extra = (param: string): Refusal => ({ status: 422, message: 'Extra inputs are not permitted', type: 'extra_forbidden', param });
const order = (message: string): Refusal => bad(message, { type: 'invalid_request_message_order', code: '3230' });
const id = 'abcdeFG12';
const loop = (callId = id) => [...hello, { role: 'assistant', content: '', tool_calls: [chatCall(callId)] }, chatResult(callId)];

const rows: Row[] = [
  {
    id: 'alpha.mistral.unknown-field',
    what: 'Fields that its schema does not have: max_completion_tokens, user, store, logprobs, stream_options and others',
    source: 'https://github.com/editor-code-assistant/eca/issues/231',
    date: '2025-12-12',
    check: ({ body }) => first(unknownKeys(body, mistralChat.request), (key) => (key === 'stream_options' ? null : extra(key))),
    refused: [{ body: { messages: hello, max_completion_tokens: 10 } }, { body: { messages: hello, user: 'u' } }, { body: { messages: hello, store: false } }],
    accepted: [{ body: { messages: hello, max_tokens: 10, temperature: 0.5, prompt_cache_key: 'a' } }],
  },
  {
    id: 'alpha.mistral.role',
    what: 'Role developer, and others that it does not know',
    source: 'https://github.com/mistralai/mistral-common/blob/bc022b9/src/mistral_common/protocol/instruct/messages.py',
    date: '2026-07-23',
    check: ({ body }) =>
      first(messagesOf(body), ({ role }, at) =>
        Object.hasOwn(mistralChat.message, textOf(role))
          ? null
          : {
              status: 422,
              message: `Input tag '${role}' found using 'role' does not match any of the expected tags: 'system', 'user', 'assistant', 'tool'`,
              type: 'union_tag_invalid',
              param: `messages.${at}`,
            },
      ),
    refused: [{ body: { messages: [{ role: 'developer', content: 'short' }, ...hello] } }],
    accepted: [{ body: { messages: [{ role: 'system', content: 'short' }, ...hello] } }],
  },
  {
    id: 'alpha.mistral.unknown-message-field',
    what: 'Fields of messages that its schema does not have: reasoning_content, name of a user, tool_calls of a user',
    source: 'https://github.com/charmbracelet/crush/issues/1590',
    date: '2025-12-10',
    check: ({ body }) =>
      first(messagesOf(body), (message, at) => {
        const role = textOf(message['role']);
        const known = mistralChat.message[role];
        return known ? first(unknownKeys(message, known), (key) => extra(`messages.${at}.${role}.${key}`)) : null;
      }),
    refused: [
      { body: { messages: [...hello, { role: 'assistant', content: 'hi', reasoning_content: 'hm' }, ...hello] } },
      { body: { messages: [{ role: 'user', content: 'hello', name: 'me' }] } },
    ],
    accepted: [{ body: { messages: [...hello, { role: 'assistant', content: 'hi' }, ...hello] } }],
  },
  {
    id: 'alpha.mistral.unknown-call-field',
    what: 'Fields of calls and tools that its schema does not have',
    source: 'https://github.com/zeroclaw-labs/zeroclaw/issues/2693',
    date: '2026-03-04',
    check: ({ body }) =>
      first(messagesOf(body), (message, at) =>
        first(callsOf(message), (call, index) => {
          const where = `messages.${at}.assistant.tool_calls.${index}`;
          const [key] = unknownKeys(call, mistralChat.toolCall);
          if (key !== undefined) return extra(`${where}.${key}`);
          const [inner] = unknownKeys(objectOf(call['function']), mistralChat.function);
          return inner === undefined ? null : extra(`${where}.function.${inner}`);
        }),
      ) ??
      first(list(body['tools']), (tool, index) => {
        const [key] = tool['type'] === 'function' ? unknownKeys(objectOf(tool['function']), mistralChat.toolFunction) : [];
        return key === undefined ? null : extra(`tools.${index}.function.${key}`);
      }),
    refused: [
      { body: { messages: [...hello, { role: 'assistant', content: '', tool_calls: [{ ...chatCall(id), extra_content: { google: {} } }] }, chatResult(id)] } },
      { body: { messages: [...hello, { role: 'assistant', content: '', tool_calls: [{ ...chatCall(id), name: 'weather' }] }, chatResult(id)] } },
    ],
    accepted: [{ body: { messages: loop(), tools: [chatTool()] } }],
  },
  {
    id: 'alpha.mistral.call-id',
    what: 'Ids of calls that are not nine letters and digits',
    source: 'https://github.com/nearai/ironclaw/issues/1241',
    date: '2026-03-16',
    check: ({ body }) =>
      first(messagesOf(body), (message) => {
        const ids = message['role'] === 'tool' ? [message['tool_call_id']] : callsOf(message).map((call) => call['id']);
        return first(ids, (one) =>
          /^[a-zA-Z0-9]{9}$/.test(textOf(one))
            ? null
            : bad(`Tool call id was ${one} but must be a-z, A-Z, 0-9, with a length of 9.`, { type: 'invalid_function_call', code: '3280' }),
        );
      }),
    refused: [{ body: { messages: loop('call_1') } }],
    accepted: [{ body: { messages: loop() } }],
  },
  {
    id: 'alpha.mistral.call-count',
    what: 'Not as many results as calls, and ids that stand twice in a turn',
    source: 'https://github.com/mistralai/mistral-common/blob/bc022b9/src/mistral_common/protocol/instruct/validator.py',
    date: '2026-07-23',
    check({ body }) {
      const found = findUnpaired(messagesOf(body));
      if (found === null) return null;
      if (found.kind === 'doubled call') return order(`Duplicate tool call id ${found.ids[0]} in assistant message`);
      if (found.kind === 'doubled result') return order(`Duplicate tool call id ${found.ids[0]} in tool results`);
      return order('Not the same number of function calls and responses');
    },
    refused: [{ body: { messages: [...hello, { role: 'assistant', content: '', tool_calls: [chatCall(id), chatCall('abcdeFG13')] }, chatResult(id)] } }],
    accepted: [{ body: { messages: loop() } }],
  },
  {
    id: 'alpha.mistral.last-role',
    what: 'An assistant turn at the end that is not marked as a prefix',
    source: 'https://github.com/QuantumNous/new-api/issues/2858',
    date: '2026-02-05',
    check({ body }) {
      const last = messagesOf(body).at(-1);
      return last?.['role'] === 'assistant' && last['prefix'] !== true && callsOf(last).length === 0
        ? order('Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant')
        : null;
    },
    refused: [{ body: { messages: [...hello, { role: 'assistant', content: '{"a":' }] } }],
    accepted: [{ body: { messages: [...hello, { role: 'assistant', content: '{"a":', prefix: true }] } }],
  },
  {
    id: 'alpha.mistral.role-order',
    what: 'A result directly after a user turn or a system turn, and system turns after the assistant',
    source: 'https://github.com/mistralai/mistral-common/blob/bc022b9/src/mistral_common/protocol/instruct/validator.py',
    date: '2026-07-23',
    check({ body }) {
      const roles = messagesOf(body).map(({ role }) => textOf(role));
      return first(roles, (role, at) => {
        const before = roles[at - 1];
        const odd = (role === 'tool' && (before === 'user' || before === 'system')) || (role === 'system' && (before === 'assistant' || before === 'tool'));
        return odd ? order(`Unexpected role '${role}' after role '${before}'`) : null;
      });
    },
    refused: [{ body: { messages: [...hello, chatResult(id)] } }, { body: { messages: [...loop(), { role: 'system', content: 'short' }, ...hello] } }],
    accepted: [{ body: { messages: [{ role: 'system', content: 'short' }, ...loop(), ...hello] } }],
  },
  {
    id: 'alpha.mistral.function-name',
    what: 'Names of functions past 64 characters, or with others than letters, digits, _ and -',
    source: 'https://github.com/mistralai/mistral-common/blob/bc022b9/src/mistral_common/protocol/instruct/validator.py',
    date: '2026-07-23',
    check: ({ body }) =>
      first(functionsOf(body), ({ spec }) =>
        /^[a-zA-Z0-9_-]{1,64}$/.test(textOf(spec['name']))
          ? null
          : bad(`Function name was ${spec['name']} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`, {
              type: 'invalid_request_function',
            }),
      ),
    refused: [{ body: { messages: hello, tools: [chatTool({ type: 'object' }, 'get.weather')] } }],
    accepted: [{ body: { messages: hello, tools: [chatTool({ type: 'object' }, 'get_weather')] } }],
  },
  {
    id: 'alpha.mistral.empty-messages',
    what: 'A conversation without a message',
    source: 'https://github.com/mistralai/mistral-common/blob/bc022b9/src/mistral_common/protocol/instruct/validator.py',
    date: '2026-07-23',
    check: ({ body }) => (messagesOf(body).length === 0 ? order('Conversation must have at least one message') : null),
    refused: [{ body: { messages: [] } }],
    accepted: [{ body: { messages: hello } }],
  },
  {
    id: 'alpha.mistral.empty-assistant',
    what: 'Assistant turns with neither content nor calls',
    source: 'https://github.com/mistralai/mistral-common/blob/bc022b9/src/mistral_common/protocol/instruct/validator.py',
    date: '2026-07-23',
    check: ({ body }) =>
      first(messagesOf(body), (message) =>
        message['role'] === 'assistant' && isBlank(message['content']) && partsOf(message).length === 0 && callsOf(message).length === 0
          ? bad('Assistant message must have either content or tool_calls, but not none.', { type: 'invalid_request_assistant_message', code: '3240' })
          : null,
      ),
    refused: [{ body: { messages: [...hello, { role: 'assistant', content: '' }, ...hello] } }],
    accepted: [{ body: { messages: loop() } }],
  },
  {
    id: 'alpha.mistral.temperature',
    what: 'A temperature past 1.5',
    source: 'https://github.com/SillyTavern/SillyTavern/pull/4856',
    date: '2025-12-03',
    check: ({ body }) =>
      typeof body['temperature'] === 'number' && body['temperature'] > 1.5
        ? { status: 422, message: 'Input should be less than or equal to 1.5', type: 'less_than_equal', param: 'temperature' }
        : null,
    refused: [{ body: { messages: hello, temperature: 1.9 } }],
    accepted: [{ body: { messages: hello, temperature: 1 } }],
  },
  {
    id: 'alpha.mistral.effort',
    what: 'Efforts of reasoning other than none and high; Large 4 takes low to high, and no none',
    source: 'https://github.com/withceleste/celeste-python/pull/311',
    date: '2026-07-15',
    check({ modelId, body }) {
      const taken = /large-4/.test(modelId) ? ['low', 'medium', 'high'] : ['none', 'high'];
      if (!isGiven(body['reasoning_effort']) || taken.includes(textOf(body['reasoning_effort']))) return null;
      const words = taken.map((word) => `'${word}'`).join(', ');
      return { status: 422, message: `Input should be ${words.replace(/, (?=[^,]*$)/, ' or ')}`, type: 'literal_error', param: 'reasoning_effort' };
    },
    refused: [{ body: { messages: hello, reasoning_effort: 'low' } }, { modelId: 'mistral-large-4', body: { messages: hello, reasoning_effort: 'none' } }],
    accepted: [{ body: { messages: hello, reasoning_effort: 'high' } }, { modelId: 'mistral-large-4', body: { messages: hello, reasoning_effort: 'low' } }],
  },
];

export const mistralRules: VendorRule[] = rows.map((row) => ({
  ...row,
  protocol: 'alpha',
  vendors: ['mistral'],
  refused: row.refused.map((example) => ({ modelId: 'mistral-small-latest', ...example })),
  accepted: row.accepted.map((example) => ({ modelId: 'mistral-small-latest', ...example })),
}));
