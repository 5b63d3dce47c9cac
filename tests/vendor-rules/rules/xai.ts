/** xAI's chat completions. */
import { first, isGiven, textOf } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { bad, hello } from './kit.ts';

type Row = Omit<VendorRule, 'protocol' | 'vendors'>;
const reasoning = /^grok-(?:3-mini|4(?!.*non-reasoning)|code)/;
/** By the beginning of the model's id. */
const efforts: Readonly<Record<string, readonly string[]>> = {
  'grok-3-mini': ['low', 'high'],
  'grok-4.3': ['none', 'low', 'medium', 'high'],
  'grok-4.5': ['low', 'medium', 'high'],
  'grok-4.6': ['low', 'medium', 'high', 'xhigh'],
  'grok-4.7': ['low', 'medium', 'high', 'xhigh'],
};
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
  {
    id: 'alpha.xai.effort-word',
    models: /^grok-(?:3-mini|4\.[3567])/,
    what: 'Efforts that the model does not have: 3 mini takes low and high, 4.3 none to high, 4.5 low to high, 4.6 and 4.7 xhigh too',
    source: 'https://github.com/mnfst/modelparams.dev/pull/330',
    date: '2026-08-31',
    wordsUnverified: true,
    check({ modelId, body }) {
      const taken = Object.entries(efforts).find(([prefix]) => modelId.startsWith(prefix))?.[1] ?? [];
      const effort = body['reasoning_effort'];
      return !isGiven(effort) || taken.includes(textOf(effort)) ? null : bad(`Invalid reasoning effort: ${effort}. Supported values are: ${taken.join(', ')}.`);
    },
    refused: [
      { modelId: 'grok-3-mini', body: { messages: hello, reasoning_effort: 'medium' } },
      { modelId: 'grok-4.3', body: { messages: hello, reasoning_effort: 'minimal' } },
      { modelId: 'grok-4.5', body: { messages: hello, reasoning_effort: 'none' } },
    ],
    accepted: [
      { modelId: 'grok-4.3', body: { messages: hello, reasoning_effort: 'none' } },
      { modelId: 'grok-4.6', body: { messages: hello, reasoning_effort: 'xhigh' } },
    ],
  },
];

export const xaiRules: VendorRule[] = rows.map((row) => ({ ...row, protocol: 'alpha', vendors: ['xai'] }));
