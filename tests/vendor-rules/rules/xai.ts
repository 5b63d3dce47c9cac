/** xAI's chat completions. */
import { first, isGiven } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { bad, hello } from './kit.ts';

type Row = Omit<VendorRule, 'protocol' | 'vendors'>;
const reasoning = /^grok-(?:3-mini|4(?!.*non-reasoning)|code)/;
const inWords: Record<string, string> = { presence_penalty: 'presencePenalty', frequency_penalty: 'frequencyPenalty' };

const rows: Row[] = [
  {
    id: 'alpha.xai.penalties',
    models: reasoning,
    what: 'Penalties, at models that think',
    source: 'https://docs.x.ai/docs/models (reasoning models)',
    date: '2025',
    wordsUnverified: true,
    check: ({ modelId, body }) =>
      first(Object.entries(inWords), ([key, word]) => (isGiven(body[key]) ? bad(`Model ${modelId} does not support parameter ${word}.`) : null)),
    refused: [{ modelId: 'grok-4', body: { messages: hello, presence_penalty: 0.5 } }],
    accepted: [{ modelId: 'grok-4-1-fast-non-reasoning', body: { messages: hello, stop: ['x'] } }],
  },
  {
    id: 'alpha.xai.stop',
    models: reasoning,
    what: 'stop, at models that think',
    source: 'https://github.com/huggingface/smolagents/pull/1766',
    date: '2025-09-11',
    check: ({ body }) => (isGiven(body['stop']) ? bad('Argument not supported on this model: stop') : null),
    refused: [{ modelId: 'grok-4', body: { messages: hello, stop: ['x'] } }],
    accepted: [{ modelId: 'grok-4-1-fast-non-reasoning', body: { messages: hello, stop: ['x'] } }],
  },
  {
    id: 'alpha.xai.effort',
    models: /^grok-(?:3(?!-mini)|4(?:$|-(?![3-9](?!\d)))|4\.(?:1|20)(?!.*multi-agent)|code|build)/,
    what: 'reasoning_effort, at all models but Grok 3 mini, 4.3 and later ones',
    source: 'https://github.com/NousResearch/hermes-agent/pull/23435',
    date: '2026-05-10',
    check: ({ modelId, body }) => (isGiven(body['reasoning_effort']) ? bad(`Model ${modelId} does not support parameter reasoningEffort.`) : null),
    refused: ['grok-4', 'grok-4-1-fast-reasoning', 'grok-4.20-0309-non-reasoning', 'grok-code-fast-1', 'grok-3'].map((modelId) => ({
      modelId,
      body: { messages: hello, reasoning_effort: 'low' },
    })),
    accepted: ['grok-3-mini', 'grok-4.3', 'grok-4.6', 'grok-4.20-multi-agent-0309'].map((modelId) => ({
      modelId,
      body: { messages: hello, reasoning_effort: 'low' },
    })),
  },
];

export const xaiRules: VendorRule[] = rows.map((row) => ({ ...row, protocol: 'alpha', vendors: ['xai'] }));
