/** What Anthropic's messages refuse about headers, fields, turns, blocks and tools. */
import { messages as fields, unknownKeys } from '../fields.ts';
import { first, imageTypeOf, isBlank, isGiven, list, objectOf, textOf } from '../read.ts';
import { headerOf } from '../vendor.ts';
import {
  ask,
  betaLoop,
  customTools,
  everyBlock,
  goesOn,
  idsOf,
  imageTypes,
  picture,
  type Row,
  result,
  tools,
  turnsOf,
  use,
  withoutPrefill,
  withoutSampling,
} from './beta-kit.ts';
import { bad, hello, rootUnion, weather } from './kit.ts';

export const betaMessages: readonly Row[] = [
  {
    id: 'beta.version-header',
    what: 'Requests without the header anthropic-version',
    source: 'https://github.com/envoyproxy/ai-gateway/pull/1909',
    date: '2026-03-02',
    check: ({ headers }) => (headerOf(headers, 'anthropic-version') === '' ? bad('anthropic-version: header is required') : null),
    refused: [{ headers: {}, body: ask() }],
    accepted: [{ body: ask() }],
  },
  {
    id: 'beta.max-tokens',
    what: 'Requests without max_tokens; counting does not need it',
    source: 'https://platform.claude.com/docs/en/api/messages',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body, path }) => (isGiven(body['max_tokens']) || path.includes('count_tokens') ? null : bad('max_tokens: Field required')),
    refused: [{ body: { messages: hello } }],
    accepted: [{ body: ask() }, { body: { messages: hello }, path: '/v1/messages/count_tokens' }],
  },
  {
    id: 'beta.unknown-field',
    what: 'Fields that the reference does not list',
    source: 'https://github.com/anthropics/claude-code/issues/21612',
    date: '2026-01',
    check: ({ body }) => first(unknownKeys(body, fields.request), (key) => bad(`${key}: Extra inputs are not permitted`)),
    refused: [{ body: ask({ frequency_penalty: 1 }) }],
    accepted: [{ body: ask({ metadata: { user_id: 'a1b2' } }) }],
  },
  {
    id: 'beta.unknown-block-field',
    what: 'Fields of blocks that the reference does not list',
    source: 'https://github.com/anthropics/claude-code/issues/4378',
    date: '2025-07-25',
    check: ({ body }) =>
      first(everyBlock(body), ({ where, block }) => {
        const type = textOf(block['type']);
        const known = fields.block[type];
        const [key] = known ? unknownKeys(block, known) : [];
        return key === undefined ? null : bad(`${where}.${type}.${key}: Extra inputs are not permitted`);
      }),
    refused: [{ body: ask({ messages: betaLoop([{ type: 'text', text: 'I look.', name: 'x' }]), tools }) }],
    accepted: [{ body: ask({ messages: betaLoop([{ type: 'text', text: 'I look.' }]), tools }) }],
  },
  {
    id: 'beta.role',
    what: 'Roles other than user and assistant; system among the messages is for the newest models',
    source: 'https://platform.claude.com/docs/en/api/messages',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body, modelId }) =>
      first(turnsOf(body), ({ role }) => {
        if (role === 'user' || role === 'assistant') return null;
        if (role === 'system') return modelId === '' || withoutSampling.test(modelId) ? null : bad("role 'system' is not supported on this model");
        return bad(`messages: Unexpected role "${role}". Allowed roles are "user" or "assistant"`);
      }),
    refused: [
      { body: ask({ messages: [{ role: 'tool', content: 'x' }] }) },
      { modelId: 'claude-sonnet-4-5', body: ask({ messages: [...hello, { role: 'system', content: 'x' }] }) },
    ],
    accepted: [{ body: ask() }],
  },
  {
    id: 'beta.empty-text',
    what: 'Blocks of empty text',
    source: 'https://github.com/anthropics/claude-code/issues/59812',
    date: '2026-05-16',
    check: ({ body }) =>
      first(everyBlock(body), ({ block }) =>
        block['type'] === 'text' && block['text'] === '' ? bad('messages: text content blocks must be non-empty') : null,
      ) ?? first(list(body['system']), ({ text }) => (text === '' ? bad('system: text content blocks must be non-empty') : null)),
    refused: [{ body: ask({ messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] }) }, { body: ask({ system: [{ type: 'text', text: '' }] }) }],
    accepted: [{ body: ask({ system: [{ type: 'text', text: 'short' }] }) }],
  },
  {
    id: 'beta.blank-text',
    what: 'Blocks of nothing but white space',
    source: 'https://github.com/anthropics/claude-code/issues/23440',
    date: '2026-02-05',
    check: ({ body }) =>
      first(everyBlock(body), ({ block }) =>
        block['type'] === 'text' && block['text'] !== '' && isBlank(block['text'])
          ? bad('messages: text content blocks must contain non-whitespace text')
          : null,
      ),
    refused: [{ body: ask({ messages: [{ role: 'user', content: [{ type: 'text', text: ' \n' }] }] }) }],
    accepted: [{ body: ask() }],
  },
  {
    id: 'beta.empty-content',
    what: 'Turns without content, but for an assistant turn at the end',
    source: 'https://github.com/anthropics/claude-code/issues/6774',
    date: '2025-08-28',
    check({ body }) {
      const turns = turnsOf(body);
      return first(turns, ({ blocks, role, content }, at) =>
        (blocks.length > 0 && content !== '') || (role === 'assistant' && at === turns.length - 1)
          ? null
          : bad(`messages.${at}: all messages must have non-empty content except for the optional final assistant message`),
      );
    },
    refused: [
      { body: ask({ messages: [{ role: 'user', content: [] }] }) },
      { body: ask({ messages: [...hello, { role: 'assistant', content: '' }, ...hello] }) },
    ],
    accepted: [{ body: ask() }],
  },
  {
    id: 'beta.unanswered-call',
    what: 'Calls without their results in the very next turn',
    source: 'https://github.com/anthropics/claude-code/issues/12526',
    date: '2025-11-27',
    check({ body }) {
      const turns = turnsOf(body);
      return first(turns, ({ role, blocks }, at) => {
        if (role !== 'assistant') return null;
        const answered = new Set(turns.slice(at + 1, at + 2).flatMap((next) => idsOf(next.blocks, 'tool_result', 'tool_use_id')));
        const missing = idsOf(blocks, 'tool_use', 'id').filter((id) => !answered.has(id));
        return missing.length === 0
          ? null
          : bad(
              `messages.${at + 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
            );
      });
    },
    refused: [{ body: ask({ messages: [...betaLoop().slice(0, 2), ...hello], tools }) }],
    accepted: [{ body: ask({ messages: betaLoop(), tools }) }],
  },
  {
    id: 'beta.orphan-result',
    what: 'Results whose call is not in the turn before',
    source: 'https://github.com/anthropics/claude-code/issues/18947',
    date: '2026-01-18',
    check({ body }) {
      const turns = turnsOf(body);
      return first(turns, ({ blocks }, at) => {
        if (at === 0 && goesOn(body)) return null;
        const called = new Set(turns.slice(Math.max(0, at - 1), at).flatMap((before) => idsOf(before.blocks, 'tool_use', 'id')));
        return first(blocks, (block, index) =>
          block['type'] === 'tool_result' && !called.has(textOf(block['tool_use_id']))
            ? bad(
                `messages.${at}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block['tool_use_id']}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
              )
            : null,
        );
      });
    },
    refused: [{ body: ask({ messages: [{ role: 'user', content: [result()] }], tools }) }],
    accepted: [
      { body: ask({ messages: betaLoop(), tools }) },
      { body: ask({ messages: betaLoop().slice(2), thread: { type: 'continue', previous_message_id: 'msg_1' } }) },
    ],
  },
  {
    id: 'beta.doubled-call',
    what: 'Two calls under one id, in the whole conversation',
    source: 'https://github.com/trycua/cua/issues/524',
    date: '2025-10',
    check({ body }) {
      const seen = new Set<string>();
      return first(everyBlock(body), ({ where, block }) => {
        if (block['type'] !== 'tool_use') return null;
        const id = textOf(block['id']);
        if (seen.has(id)) return bad(`${where}: \`tool_use\` ids must be unique`);
        seen.add(id);
        return null;
      });
    },
    refused: [{ body: ask({ messages: [...betaLoop(), { role: 'assistant', content: [use()] }, { role: 'user', content: [result()] }], tools }) }],
    accepted: [
      { body: ask({ messages: [...betaLoop(), { role: 'assistant', content: [use('toolu_2')] }, { role: 'user', content: [result('toolu_2')] }], tools }) },
    ],
  },
  {
    id: 'beta.doubled-result',
    what: 'Two results of one call',
    source: 'https://github.com/sipeed/picoclaw/pull/1793',
    date: '2026-03-19',
    check: ({ body }) =>
      first(turnsOf(body), ({ blocks }, at) => {
        const ids = idsOf(blocks, 'tool_result', 'tool_use_id');
        const twice = ids.find((id, index) => ids.indexOf(id) !== index);
        return twice === undefined
          ? null
          : bad(`messages.${at}.content.1: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${twice}`);
      }),
    refused: [{ body: ask({ messages: [...betaLoop().slice(0, 2), { role: 'user', content: [result(), result()] }], tools }) }],
    accepted: [{ body: ask({ messages: betaLoop(), tools }) }],
  },
  {
    id: 'beta.result-first',
    what: 'Anything in front of the results in a turn that answers calls',
    source: 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls',
    date: '2026-05',
    check({ body }) {
      const turns = turnsOf(body);
      return first(turns, ({ blocks }, at) => {
        const firstResult = blocks.findIndex((block) => block['type'] === 'tool_result');
        const called = turns[at - 1] ? idsOf(turns[at - 1]?.blocks ?? [], 'tool_use', 'id') : [];
        return firstResult > 0 && called.length > 0
          ? bad(
              `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${called.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
            )
          : null;
      });
    },
    refused: [{ body: ask({ messages: [...betaLoop().slice(0, 2), { role: 'user', content: [{ type: 'text', text: 'here' }, result()] }], tools }) }],
    accepted: [{ body: ask({ messages: [...betaLoop().slice(0, 2), { role: 'user', content: [result(), { type: 'text', text: 'here' }] }], tools }) }],
  },
  {
    id: 'beta.call-id',
    what: 'Ids of calls with others than letters, digits, _ and -',
    source: 'https://github.com/HKUDS/nanobot/pull/4356',
    date: '2026-06-15',
    check: ({ body }) =>
      first(everyBlock(body), ({ where, block }) =>
        block['type'] === 'tool_use' && !/^[a-zA-Z0-9_-]+$/.test(textOf(block['id']))
          ? bad(`${where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`)
          : null,
      ),
    refused: [{ body: ask({ messages: betaLoop([], 'Bash:0'), tools }) }],
    accepted: [{ body: ask({ messages: betaLoop([], 'call_0'), tools }) }],
  },
  {
    id: 'beta.tool-name',
    what: 'Names of tools past 128 characters, or with others than letters, digits, _ and -; and names that stand twice',
    source: 'https://github.com/home-assistant/core/issues/147760',
    date: '2025-06-29',
    check({ body }) {
      const seen = new Set<string>();
      return first(customTools(body), ({ at, tool }) => {
        const name = textOf(tool['name']);
        if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) return bad(`tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
        if (seen.has(name)) return bad('tools: Tool names must be unique.');
        seen.add(name);
        return null;
      });
    },
    refused: [{ body: ask({ tools: [{ name: 'get.weather', input_schema: weather }] }) }, { body: ask({ tools: [...tools, ...tools] }) }],
    accepted: [{ body: ask({ tools }) }],
  },
  {
    id: 'beta.schema-root',
    what: "A tool's schema whose root is a union, or no object",
    source: 'https://github.com/windoze95/cantinarr/issues/497',
    date: '2026-08-23',
    check: ({ body }) =>
      first(customTools(body), ({ at, tool }) => {
        const schema = objectOf(tool['input_schema']);
        const where = `tools.${at}.custom.input_schema`;
        if (/^(?:oneOf|allOf|anyOf)$/.test(rootUnion(schema) ?? ''))
          return bad(`${where}: input_schema does not support oneOf, allOf, or anyOf at the top level`);
        if (!isGiven(tool['input_schema'])) return bad(`${where}: Field required`);
        if (schema['type'] === undefined) return bad(`${where}.type: Field required`);
        return schema['type'] === 'object' ? null : bad(`${where}.type: Input should be 'object'`);
      }),
    refused: [
      { body: ask({ tools: [{ name: 'f', input_schema: { ...weather, anyOf: [{ required: ['city'] }] } }] }) },
      { body: ask({ tools: [{ name: 'f', input_schema: {} }] }) },
    ],
    accepted: [{ body: ask({ tools: [{ name: 'f', input_schema: { type: 'object', properties: { a: { anyOf: [{ type: 'string' }] } } } }] }) }],
  },
  {
    id: 'beta.image-type',
    what: 'Pictures of other types than JPEG, PNG, GIF and WebP; image/jpg is none of them',
    source: 'https://github.com/NousResearch/hermes-agent/issues/55432',
    date: '2026-06-30',
    check: ({ body }) =>
      first(everyBlock(body), ({ where, block }) => {
        const source = objectOf(block['source']);
        return block['type'] === 'image' && source['type'] === 'base64' && !imageTypes.test(textOf(source['media_type']))
          ? bad(`${where}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`)
          : null;
      }),
    refused: [{ body: ask({ messages: [{ role: 'user', content: [picture('image/jpg')] }] }) }],
    accepted: [{ body: ask({ messages: [{ role: 'user', content: [picture('image/png')] }] }) }],
  },
  {
    id: 'beta.image-bytes',
    what: 'Pictures whose bytes are of another type than the one that is named',
    source: 'https://github.com/vybestack/llxprt-code/issues/2130',
    date: '2026-06-23',
    check: ({ body }) =>
      first(everyBlock(body), ({ where, block }) => {
        const source = objectOf(block['source']);
        if (block['type'] !== 'image' || source['type'] !== 'base64') return null;
        const [named, found] = [textOf(source['media_type']), imageTypeOf(textOf(source['data']))];
        return found === null || found === named
          ? null
          : bad(`${where}.image.source.base64: The image was specified using the ${named} media type, but the image appears to be a ${found} image`);
      }),
    refused: [{ body: ask({ messages: [{ role: 'user', content: [picture('image/jpeg')] }] }) }],
    accepted: [{ body: ask({ messages: [{ role: 'user', content: [picture('image/png')] }] }) }],
  },
  {
    id: 'beta.user-id',
    what: 'E-mail addresses and telephone numbers as user ids',
    source: 'https://github.com/BerriAI/litellm/issues/10106',
    date: '2025-04-17',
    check({ body }) {
      const user = textOf(objectOf(body['metadata'])['user_id']);
      if (/[^\s@]+@[^\s@]+\.[^\s@]+/.test(user))
        return bad(
          'metadata.user_id: user_id appears to contain an email address. Please send a uuid or hash value instead, so that we can help detect abuse without receiving personal data.',
        );
      return /^\+?[\d\s().-]{10,}$/.test(user) && user.replace(/\D/g, '').length <= 15
        ? bad(
            'metadata.user_id: user_id appears to contain a phone number. Please send a uuid or hash value instead, so that we can help detect abuse without receiving personal data.',
          )
        : null;
    },
    refused: [{ body: ask({ metadata: { user_id: 'me@example.com' } }) }, { body: ask({ metadata: { user_id: '+1 415 555 0100' } }) }],
    accepted: [{ body: ask({ metadata: { user_id: '5f2b8c1e-0d53' } }) }],
  },
  {
    id: 'beta.prefill',
    models: withoutPrefill,
    what: 'A begun reply at the end, from 4.6 on',
    source: 'https://github.com/agenticloops-ai/agentic-ai-engineering/issues/43',
    date: '2026-03-31',
    check: ({ body }) =>
      turnsOf(body).at(-1)?.role === 'assistant'
        ? bad('This model does not support assistant message prefill. The conversation must end with a user message.')
        : null,
    refused: [{ modelId: 'claude-opus-4-6', body: ask({ messages: [...hello, { role: 'assistant', content: '{' }] }) }],
    accepted: [{ modelId: 'claude-sonnet-4-5', body: ask({ messages: [...hello, { role: 'assistant', content: '{' }] }) }],
  },
  {
    id: 'beta.signature',
    what: 'Signatures of thinking that it did not make, or made for another model',
    source: 'https://github.com/vybestack/llxprt-code/issues/2335',
    date: '2026-07-02',
    check: ({ body, account, modelId }, memory) =>
      first(everyBlock(body), ({ where, block }) => {
        if (block['type'] !== 'thinking') return null;
        const maker = memory.modelOfSignature(block['signature']);
        return memory.isOwnSignature(block['signature'], account) && (maker === null || maker === modelId)
          ? null
          : bad(`${where}: Invalid \`signature\` in \`thinking\` block`);
      }),
    refused: [{ body: ask({ messages: betaLoop([{ type: 'thinking', thinking: 'hm', signature: '' }]), tools }) }],
    accepted: [{ body: ask({ messages: betaLoop([{ type: 'thinking', thinking: 'hm', signature: 'EqQBCgIYAg==' }]), tools }) }],
  },
];
