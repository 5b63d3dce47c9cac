/** Moonshot's chat completions (Kimi). */
import { findInSchema, first, isGiven, isObject, objectOf, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { bad, callsOf, chatCall, chatLoop, chatResult, chatTool, functionsOf, hello, messagesOf, partsOf, picture } from './kit.ts';

type Row = Omit<VendorRule, 'protocol' | 'vendors'>;
/** K2.5 and later: they think unless they are told not to, and K2.7 and K3 always. */
const newer = /^(?:kimi-k2\.[5-9]|kimi-k3|kimi-for-coding|k3$)/;
const always = /^(?:kimi-k2\.7|kimi-k3|k3$)/;
const isThinking = (modelId: string, body: Record<string, unknown>): boolean => always.test(modelId) || objectOf(body['thinking'])['type'] !== 'disabled';
const withoutReasoning = (message: Record<string, unknown>): boolean =>
  message['role'] === 'assistant' && callsOf(message).length > 0 && !isGiven(message['reasoning_content']);
const named = { type: 'function', function: { name: 'weather' } };
const untyped = { type: 'object', properties: { city: { type: 'string', anyOf: [{ enum: ['Paris'] }, { pattern: '^R' }] } } };
const typed = {
  type: 'object',
  properties: {
    city: {
      anyOf: [
        { type: 'string', enum: ['Paris'] },
        { type: 'string', pattern: '^R' },
      ],
    },
  },
};

const rows: Row[] = [
  {
    id: 'alpha.moonshot.temperature',
    models: newer,
    ownAddress: true,
    what: 'Another temperature than 1, or than 0.6 where it does not think, from K2.5 on',
    source: 'https://github.com/nashsu/llm_wiki/issues/173',
    date: '2026-05-13',
    check({ modelId, body }) {
      const only = isThinking(modelId, body) ? 1 : 0.6;
      return !isGiven(body['temperature']) || body['temperature'] === only ? null : bad(`invalid temperature: only ${only} is allowed for this model`);
    },
    refused: [
      { body: { messages: hello, temperature: 0.2 } },
      { body: { messages: hello, temperature: 1, thinking: { type: 'disabled' } } },
      { modelId: 'kimi-k3', body: { messages: hello, temperature: 0 } },
    ],
    accepted: [{ body: { messages: hello, temperature: 1 } }, { modelId: 'kimi-k2-0905-preview', body: { messages: hello, temperature: 0.2 } }],
  },
  {
    id: 'alpha.moonshot.sampling',
    models: newer,
    ownAddress: true,
    what: 'top_p other than 0.95 and penalties other than 0, from K2.5 on',
    source: 'https://www.npmjs.com/package/@ai-sdk/moonshotai',
    date: '2026-11',
    wordsUnverified: true,
    check: ({ body }) =>
      first(Object.entries({ top_p: 0.95, presence_penalty: 0, frequency_penalty: 0 }), ([key, only]) =>
        !isGiven(body[key]) || body[key] === only ? null : bad(`invalid ${key}: only ${only} is allowed for this model`),
      ),
    refused: [{ body: { messages: hello, top_p: 1 } }, { body: { messages: hello, presence_penalty: 0.5 } }],
    accepted: [{ body: { messages: hello, top_p: 0.95 } }],
  },
  {
    id: 'alpha.moonshot.thinking-forced',
    models: newer,
    what: 'A forced call of a tool while it thinks; K3 takes required, and no name',
    source: 'https://github.com/UKGovernmentBEIS/inspect_ai/pull/5152',
    date: '2026-08-31',
    check({ modelId, body }) {
      if (!isThinking(modelId, body)) return null;
      if (isObject(body['tool_choice'])) return bad("tool_choice 'specified' is incompatible with thinking enabled");
      return body['tool_choice'] === 'required' && !/k3/.test(modelId) ? bad("tool_choice 'required' is incompatible with thinking enabled") : null;
    },
    refused: [
      { body: { messages: hello, tools: [chatTool()], tool_choice: 'required' } },
      { modelId: 'kimi-k3', body: { messages: hello, tools: [chatTool()], tool_choice: named } },
    ],
    accepted: [
      { body: { messages: hello, tools: [chatTool()], tool_choice: named, thinking: { type: 'disabled' } } },
      { modelId: 'kimi-k3', body: { messages: hello, tools: [chatTool()], tool_choice: 'required' } },
    ],
  },
  {
    id: 'alpha.moonshot.always-thinks',
    models: always,
    what: 'Thinking switched off, at K2.7 and K3',
    source: 'https://www.npmjs.com/package/@ai-sdk/moonshotai',
    date: '2026-11',
    wordsUnverified: true,
    check: ({ body }) => (objectOf(body['thinking'])['type'] === 'disabled' ? bad('thinking cannot be disabled for this model') : null),
    refused: [{ modelId: 'kimi-k2.7-code', body: { messages: hello, thinking: { type: 'disabled' } } }],
    accepted: [{ modelId: 'kimi-k2.7-code', body: { messages: hello } }],
  },
  {
    id: 'alpha.moonshot.effort',
    models: /^(?:kimi-k3|k3$)/,
    what: 'Efforts other than low, high and max, at K3',
    source: 'https://github.com/anomalyco/models.dev/pull/4721',
    date: '2026-08-14',
    wordsUnverified: true,
    check: ({ body }) =>
      !isGiven(body['reasoning_effort']) || ['low', 'high', 'max'].includes(textOf(body['reasoning_effort']))
        ? null
        : bad(`invalid reasoning_effort: ${body['reasoning_effort']}`),
    refused: [{ modelId: 'kimi-k3', body: { messages: hello, reasoning_effort: 'medium' } }],
    accepted: [{ modelId: 'kimi-k3', body: { messages: hello, reasoning_effort: 'max' } }],
  },
  {
    id: 'alpha.moonshot.reasoning-back',
    models: newer,
    what: 'A turn that called a tool while thinking, without the reasoning that led there',
    source: 'https://github.com/1jehuang/jcode/issues/322',
    date: '2026-06-04',
    check({ modelId, body }) {
      const at = isThinking(modelId, body) ? messagesOf(body).findIndex(withoutReasoning) : -1;
      return at < 0 ? null : bad(`thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`);
    },
    refused: [{ body: { messages: chatLoop() } }],
    accepted: [
      { body: { messages: [...hello, { role: 'assistant', content: '', reasoning_content: 'I need it.', tool_calls: [chatCall()] }, chatResult()] } },
      { body: { messages: chatLoop(), thinking: { type: 'disabled' } } },
    ],
  },
  {
    id: 'alpha.moonshot.union-type',
    what: 'A type beside anyOf in the schema of a tool',
    source: 'https://github.com/MoonshotAI/kimi-code/issues/2661',
    date: '2026-08-05',
    check: ({ body }) =>
      first(functionsOf(body), ({ spec }) => {
        const path = findInSchema(spec['parameters'], (one, at) => (one['anyOf'] !== undefined && one['type'] !== undefined ? at : null));
        return path === null
          ? null
          : bad(
              `tools.function.parameters is not a valid moonshot flavored json schema, details: <At path '${path.join('.') || 'root'}': when using anyOf, type should be defined in anyOf items instead of the parent schema>`,
            );
      }),
    refused: [{ body: { messages: hello, tools: [chatTool(untyped)] } }],
    accepted: [{ body: { messages: hello, tools: [chatTool(typed)] } }],
  },
  {
    id: 'alpha.moonshot.image-address',
    ownAddress: true,
    what: 'Images by their address: it opens data URLs and its own files',
    source: 'https://github.com/OpenHands/software-agent-sdk/pull/3219',
    date: '2026-05-12',
    check: ({ body }) =>
      first(messagesOf(body), (message) =>
        first(partsOf(message), ({ type, image_url }) => {
          const url = textOf(objectOf(image_url)['url']);
          return type === 'image_url' && /^https?:/.test(url) ? bad(`Invalid request: unsupported image url: ${url}`) : null;
        }),
      ),
    refused: [{ body: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] }] } }],
    accepted: [{ body: { messages: [{ role: 'user', content: [{ type: 'text', text: 'what is it?' }, picture()] }] } }],
  },
];

export const moonshotRules: VendorRule[] = rows.map((row) => ({
  ...row,
  protocol: 'alpha',
  vendors: ['moonshot'],
  refused: row.refused.map((example) => ({ modelId: 'kimi-k2.6', ...example })),
  accepted: row.accepted.map((example) => ({ modelId: 'kimi-k2.6', ...example })),
}));
