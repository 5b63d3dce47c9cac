/** Anthropic's messages. */
import { messages as fields, unknownKeys } from '../fields.ts';
import { first, isBlank, isGiven, type Json, list, objectOf, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { headerOf } from '../vendor.ts';
import { bad, hello, pixel, rootUnion, weather } from './kit.ts';

type Row = Omit<VendorRule, 'protocol'>;

export const turnsOf = (body: Json): { role: string; blocks: Json[]; content: unknown }[] =>
  list(body['messages']).map(({ role, content }) => ({
    role: textOf(role),
    content,
    blocks: typeof content === 'string' ? [{ type: 'text', text: content }] : list(content),
  }));
const idsOf = (blocks: readonly Json[], type: string, key: string): string[] =>
  blocks.filter((block) => block['type'] === type).map((block) => textOf(block[key]));
/** The vendor holds the turns before the first one. */
const goesOn = (body: Json): boolean => objectOf(body['thread'])['type'] === 'continue';
/** All blocks, with those inside results. */
const everyBlock = (body: Json): { where: string; block: Json; role: string }[] =>
  turnsOf(body).flatMap(({ role, blocks }, at) =>
    blocks.flatMap((block, index) => [
      { where: `messages.${at}.content.${index}`, block, role },
      ...(block['type'] === 'tool_result'
        ? list(block['content']).map((inner, n) => ({ where: `messages.${at}.content.${index}.tool_result.content.${n}`, block: inner, role }))
        : []),
    ]),
  );
const customTools = (body: Json): { at: number; tool: Json }[] =>
  list(body['tools']).flatMap((tool, at) => (isGiven(tool['type']) && tool['type'] !== 'custom' ? [] : [{ at, tool }]));
const thinking = (body: Json): string => textOf(objectOf(body['thinking'])['type']);
const imageTypes = /^image\/(?:jpeg|png|gif|webp)$/;

/** From 4.6 on a reply cannot be begun for it. */
const withoutPrefill = /^claude-(?:(?:opus|sonnet|haiku)-(?:4-(?:[6-9]|\d\d)(?!\d)|[5-9])|fable|mythos)/;
/** From Opus 4.7 on nothing about sampling may be said. */
const withoutSampling = /^claude-(?:opus-4-(?:[7-9]|\d\d)(?!\d)|(?:opus|sonnet|haiku)-[5-9]|fable|mythos)/;
const oneOfBoth = /^claude-(?:opus-4-[1-6]|sonnet-4-[56]|haiku-4-[56])(?!\d)/;

const version = { 'anthropic-version': '2023-06-01' };
const ask = (more: Json = {}): Json => ({ max_tokens: 100, messages: hello, ...more });
const use = (id = 'toolu_1', name = 'weather'): Json => ({ type: 'tool_use', id, name, input: { city: 'Paris' } });
const result = (id = 'toolu_1', content: unknown = 'sunny'): Json => ({ type: 'tool_result', tool_use_id: id, content });
const tools = [{ name: 'weather', input_schema: weather }];
export const betaLoop = (before: Json[] = [], id = 'toolu_1'): Json[] => [
  ...hello,
  { role: 'assistant', content: [...before, use(id)] },
  { role: 'user', content: [result(id)] },
];
const picture = (media_type: string): Json => ({ type: 'image', source: { type: 'base64', media_type, data: pixel } });

const rows: Row[] = [
  {
    id: 'beta.version-header',
    what: 'Requests without the header anthropic-version',
    source: 'https://platform.claude.com/docs/en/api/versioning',
    date: '2026-05',
    check: ({ headers }) => (headerOf(headers, 'anthropic-version') === '' ? bad('anthropic-version: header is required') : null),
    refused: [{ headers: {}, body: ask() }],
    accepted: [{ body: ask() }],
  },
  {
    id: 'beta.max-tokens',
    what: 'Requests without max_tokens; counting does not need it',
    source: 'https://platform.claude.com/docs/en/api/messages',
    date: '2026-05',
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
    check: ({ body, modelId }) =>
      first(turnsOf(body), ({ role }) => {
        if (role === 'user' || role === 'assistant') return null;
        if (role === 'system') return withoutSampling.test(modelId) ? null : bad("role 'system' is not supported on this model");
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
    accepted: [{ body: ask({ messages: [{ role: 'user', content: [picture('image/jpeg')] }] }) }],
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
        const maker = memory.modelOfProof(block['signature']);
        return memory.isOwnProof(block['signature'], account) && (maker === null || maker === modelId)
          ? null
          : bad(`${where}: Invalid \`signature\` in \`thinking\` block`);
      }),
    refused: [{ body: ask({ messages: betaLoop([{ type: 'thinking', thinking: 'hm', signature: '' }]), tools }) }],
    accepted: [{ body: ask({ messages: betaLoop([{ type: 'thinking', thinking: 'hm', signature: 'EqQBCgIYAg==' }]), tools }) }],
  },
  {
    id: 'beta.thinking-first',
    what: 'While it thinks, a loop of calls that does not begin with its thinking: the whole loop is one turn, and what follows need not have thought again',
    source: 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking#interleaved-thinking',
    date: '2026-05',
    check({ body }) {
      if (thinking(body) !== 'enabled') return null;
      const turns = turnsOf(body);
      const asked = turns.findLastIndex(({ role, blocks }) => role === 'user' && !blocks.some((block) => block['type'] === 'tool_result'));
      const at = turns.findIndex(({ role }, index) => index > asked && role === 'assistant');
      const turn = turns[at];
      if (!turn || !turns.slice(at).some(({ blocks }) => idsOf(blocks, 'tool_use', 'id').length > 0)) return null;
      const found = textOf(turn.blocks[0]?.['type']);
      return found === 'thinking' || found === 'redacted_thinking'
        ? null
        : bad(
            `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`,
          );
    },
    refused: [{ body: ask({ messages: betaLoop(), tools, max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 } }) }],
    accepted: [
      {
        body: ask({
          messages: betaLoop([{ type: 'thinking', thinking: 'hm', signature: 'EqQBCgIYAg==' }]),
          tools,
          max_tokens: 4000,
          thinking: { type: 'enabled', budget_tokens: 2000 },
        }),
      },
      {
        body: ask({
          messages: [
            ...betaLoop([{ type: 'thinking', thinking: 'hm', signature: 'EqQBCgIYAg==' }]),
            { role: 'assistant', content: [use('toolu_2')] },
            { role: 'user', content: [result('toolu_2')] },
          ],
          tools,
          max_tokens: 4000,
          thinking: { type: 'enabled', budget_tokens: 2000 },
        }),
      },
      { body: ask({ messages: betaLoop(), tools, thinking: { type: 'adaptive' } }) },
    ],
  },
  {
    id: 'beta.budget',
    what: 'Budgets of thinking under 1,024 tokens, or not under max_tokens',
    source: 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking',
    date: '2026-05',
    check({ body, headers }) {
      const budget = objectOf(body['thinking'])['budget_tokens'];
      if (thinking(body) !== 'enabled' || typeof budget !== 'number') return null;
      if (budget < 1024) return bad('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
      const interleaved = headerOf(headers, 'anthropic-beta').includes('interleaved-thinking');
      return typeof body['max_tokens'] === 'number' && body['max_tokens'] <= budget && !interleaved
        ? bad(
            '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size',
          )
        : null;
    },
    refused: [{ body: ask({ thinking: { type: 'enabled', budget_tokens: 100 } }) }, { body: ask({ thinking: { type: 'enabled', budget_tokens: 1024 } }) }],
    accepted: [{ body: ask({ max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1024 } }) }],
  },
  {
    id: 'beta.thinking-forced',
    what: 'A forced call of a tool while it thinks',
    source: 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking',
    date: '2026-05',
    check: ({ body }) =>
      /^(?:enabled|adaptive)$/.test(thinking(body)) && /^(?:any|tool)$/.test(textOf(objectOf(body['tool_choice'])['type']))
        ? bad('Thinking may not be enabled when tool_choice forces tool use.')
        : null,
    refused: [{ body: ask({ max_tokens: 2000, tools, tool_choice: { type: 'any' }, thinking: { type: 'enabled', budget_tokens: 1024 } }) }],
    accepted: [{ body: ask({ tools, tool_choice: { type: 'any' } }) }],
  },
  {
    id: 'beta.thinking-temperature',
    what: 'A temperature other than 1, or top_k, while it thinks',
    source: 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking',
    date: '2026-05',
    check({ body }) {
      if (!/^(?:enabled|adaptive)$/.test(thinking(body))) return null;
      if (isGiven(body['temperature']) && body['temperature'] !== 1)
        return bad('`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.');
      return isGiven(body['top_k']) ? bad('`top_k` must be unset when thinking is enabled or in adaptive mode.') : null;
    },
    refused: [{ body: ask({ max_tokens: 2000, temperature: 0.5, thinking: { type: 'enabled', budget_tokens: 1024 } }) }],
    accepted: [{ modelId: 'claude-sonnet-4-5', body: ask({ temperature: 0.5 }) }],
  },
  {
    id: 'beta.sampling',
    models: withoutSampling,
    what: 'temperature, top_p and top_k, from Opus 4.7 on',
    source: 'https://github.com/UKGovernmentBEIS/inspect_ai/issues/3721',
    date: '2026-04-20',
    check: ({ body }) => first(['temperature', 'top_p', 'top_k'], (key) => (isGiven(body[key]) ? bad(`\`${key}\` is deprecated for this model.`) : null)),
    refused: [{ modelId: 'claude-opus-4-7', body: ask({ temperature: 0.5 }) }],
    accepted: [{ modelId: 'claude-opus-4-6', body: ask({ temperature: 0.5 }) }],
  },
  {
    id: 'beta.temperature-and-top-p',
    models: oneOfBoth,
    what: 'temperature and top_p together, from Opus 4.1 on',
    source: 'https://github.com/skydiscover-ai/skydiscover/issues/15',
    date: '2026-03-10',
    check: ({ body }) =>
      isGiven(body['temperature']) && isGiven(body['top_p'])
        ? bad('`temperature` and `top_p` cannot both be specified for this model. Please use only one.')
        : null,
    refused: [{ modelId: 'claude-sonnet-4-5', body: ask({ temperature: 0.5, top_p: 0.9 }) }],
    accepted: [{ modelId: 'claude-sonnet-4-5', body: ask({ top_p: 0.9 }) }],
  },
  {
    id: 'beta.temperature-range',
    what: 'A temperature past 1',
    source: 'https://platform.claude.com/docs/en/api/messages',
    date: '2026-05',
    check: ({ body }) =>
      typeof body['temperature'] === 'number' && (body['temperature'] > 1 || body['temperature'] < 0) ? bad('temperature: range: 0..1') : null,
    refused: [{ body: ask({ temperature: 1.5 }) }],
    accepted: [{ body: ask({ temperature: 1 }) }],
  },
  {
    id: 'beta.effort',
    models: /^claude-(?:opus|sonnet)-4-6/,
    what: 'The effort xhigh, at the models of 4.6',
    source: 'recorded: beta/err-400',
    date: '2026',
    check: ({ body }) =>
      objectOf(body['output_config'])['effort'] === 'xhigh'
        ? bad("This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.")
        : null,
    refused: [{ modelId: 'claude-opus-4-6', body: ask({ output_config: { effort: 'xhigh' } }) }],
    accepted: [{ modelId: 'claude-opus-4-6', body: ask({ output_config: { effort: 'max' } }) }],
  },
  {
    id: 'beta.cache-marks',
    what: 'More than four cache marks',
    source: 'https://platform.claude.com/docs/en/build-with-claude/prompt-caching',
    date: '2026-05',
    check({ body }) {
      const marked = [...list(body['tools']), ...list(body['system']), ...everyBlock(body).map(({ block }) => block), body].filter((one) =>
        isGiven(one['cache_control']),
      ).length;
      return marked > 4 ? bad(`A maximum of 4 blocks with cache_control may be provided. Found ${marked}.`) : null;
    },
    refused: [
      {
        body: ask({
          messages: [{ role: 'user', content: [1, 2, 3, 4, 5].map((n) => ({ type: 'text', text: `${n}`, cache_control: { type: 'ephemeral' } })) }],
        }),
      },
    ],
    accepted: [
      { body: ask({ messages: [{ role: 'user', content: [1, 2, 3, 4].map((n) => ({ type: 'text', text: `${n}`, cache_control: { type: 'ephemeral' } })) }] }) },
    ],
  },
];

export const betaRules: VendorRule[] = rows.map((row) => ({
  ...row,
  protocol: 'beta',
  refused: row.refused.map((example) => ({ headers: version, ...example })),
  accepted: row.accepted.map((example) => ({ headers: version, ...example })),
}));
