/** What Anthropic's messages refuse about thinking, sampling, effort and caching. */
import { first, isGiven, list, objectOf, textOf } from '../read.ts';
import { headerOf } from '../vendor.ts';
import { ask, betaLoop, everyBlock, idsOf, oneOfBoth, type Row, result, thinking, tools, turnsOf, use, withoutSampling } from './beta-kit.ts';
import { bad, hello } from './kit.ts';

const newer = { 'anthropic-version': '2026-10-21' };
const note = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'short' } };

export const betaSettings: readonly Row[] = [
  {
    id: 'beta.thinking-first',
    what: 'While it thinks, a loop of calls that does not begin with its thinking: the whole loop is one turn, and what follows need not have thought again',
    source: 'https://github.com/Kilo-Org/kilocode/issues/5219',
    date: '2026-01-20',
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
    source: 'https://github.com/themaximalist/llm.js/issues/30',
    date: '2026-08-19',
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
    source: 'https://github.com/can1357/oh-my-pi/issues/341',
    date: '2026-03-09',
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
    source: 'https://github.com/quarkiverse/quarkus-langchain4j/issues/1812',
    date: '2025-09-25',
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
    id: 'beta.thinking-top-p',
    what: 'top_p under 0.95 while it thinks',
    source: 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking (feature compatibility)',
    date: '2026-05',
    wordsUnverified: true,
    check: ({ body }) =>
      /^(?:enabled|adaptive)$/.test(thinking(body)) && typeof body['top_p'] === 'number' && body['top_p'] < 0.95
        ? bad('`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled or in adaptive mode.')
        : null,
    refused: [{ body: ask({ max_tokens: 2000, top_p: 0.5, thinking: { type: 'enabled', budget_tokens: 1024 } }) }],
    accepted: [{ body: ask({ max_tokens: 2000, top_p: 0.97, thinking: { type: 'enabled', budget_tokens: 1024 } }) }],
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
    source: 'https://github.com/vercel/ai/pull/10308',
    date: '2025-11-17',
    wordsUnverified: true,
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
    source: 'https://github.com/griffinmartin/opencode-claude-auth/issues/121',
    date: '2026-04-03',
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
  {
    id: 'beta.thinking-enabled',
    models: withoutSampling,
    what: 'A budget of thinking (thinking.type enabled), from 4.7 on',
    source: 'https://github.com/earendil-works/pi/issues/3297',
    date: '2026-04-16',
    check: ({ body }) =>
      thinking(body) === 'enabled'
        ? bad('"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.')
        : null,
    refused: [{ modelId: 'claude-opus-4-7', body: ask({ max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1024 } }) }],
    accepted: [
      { modelId: 'claude-opus-4-7', body: ask({ thinking: { type: 'adaptive' } }) },
      { modelId: 'claude-opus-4-6', body: ask({ max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1024 } }) },
    ],
  },
  {
    id: 'beta.version-sampling',
    what: 'temperature, top_p and top_k at any value, under API version 2026-10-21',
    source: 'https://qiita.com/Synthorai/items/01a0067e88747257a4e6',
    date: '2026-10',
    check: ({ body, headers }) =>
      headerOf(headers, 'anthropic-version') >= '2026-10-21'
        ? first(['temperature', 'top_p', 'top_k'], (key) => (isGiven(body[key]) ? bad(`${key}: Extra inputs are not permitted`) : null))
        : null,
    refused: [{ headers: newer, modelId: 'claude-sonnet-4-6', body: ask({ temperature: 1 }) }],
    accepted: [
      { headers: newer, body: ask() },
      { modelId: 'claude-sonnet-4-6', body: ask({ temperature: 1 }) },
    ],
  },
  {
    id: 'beta.version-blocks',
    what: 'Documents in assistant turns and citations on texts of the user, under API version 2026-10-21',
    source: 'https://dev.to/hassann/claude-api-version-2026-10-21-what-changed-and-how-to-upgrade-safely-1pcj',
    date: '2026-10',
    wordsUnverified: true,
    check: ({ body, headers }) =>
      headerOf(headers, 'anthropic-version') < '2026-10-21'
        ? null
        : first(turnsOf(body), ({ role, blocks }, at) =>
            first(blocks, (block, index) => {
              const where = `messages.${at}.content.${index}`;
              if (role === 'assistant' && block['type'] === 'document') return bad(`${where}: document blocks are not permitted in assistant messages`);
              return role === 'user' && block['type'] === 'text' && list(block['citations']).length > 0
                ? bad(`${where}.text.citations: Extra inputs are not permitted`)
                : null;
            }),
          ),
    refused: [
      { headers: newer, body: ask({ messages: [...hello, { role: 'assistant', content: [note] }, ...hello] }) },
      { headers: newer, body: ask({ messages: [{ role: 'user', content: [{ type: 'text', text: 'hello', citations: [{}] }] }] }) },
    ],
    accepted: [{ headers: newer, body: ask({ messages: [{ role: 'user', content: [note, { type: 'text', text: 'sum up' }] }] }) }],
  },
];
