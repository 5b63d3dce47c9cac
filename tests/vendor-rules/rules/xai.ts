/** xAI's chat completions. */
import { first, isGiven } from '../read.ts';
import type { VendorRule } from '../rule.ts';
import { bad, hello } from './kit.ts';

type Row = Omit<VendorRule, 'protocol' | 'vendors'>;
const reasoning = /^grok-(?:3-mini|4(?!.*non-reasoning)|code)/;
const inWords: Record<string, string> = { presence_penalty: 'presencePenalty', frequency_penalty: 'frequencyPenalty', stop: 'stop' };

const rows: Row[] = [
  {
    id: 'alpha.xai.penalties',
    models: reasoning,
    what: 'Penalties and stop, at models that think',
    source: 'https://docs.x.ai/docs/models (reasoning models)',
    date: '2025',
    wordsUnverified: true,
    check: ({ modelId, body }) =>
      first(Object.entries(inWords), ([key, word]) => (isGiven(body[key]) ? bad(`Model ${modelId} does not support parameter ${word}.`) : null)),
    refused: [
      { modelId: 'grok-4', body: { messages: hello, presence_penalty: 0.5 } },
      { modelId: 'grok-4', body: { messages: hello, stop: ['x'] } },
    ],
    accepted: [{ modelId: 'grok-4-1-fast-non-reasoning', body: { messages: hello, stop: ['x'] } }],
  },
  {
    id: 'alpha.xai.effort',
    models: /^grok-4(?!-?[.\d]*[2-9])/,
    what: 'reasoning_effort, at Grok 4',
    source: 'https://docs.x.ai/docs/models (reasoning models)',
    date: '2025',
    check: ({ modelId, body }) => (isGiven(body['reasoning_effort']) ? bad(`Model ${modelId} does not support parameter reasoningEffort.`) : null),
    refused: [{ modelId: 'grok-4', body: { messages: hello, reasoning_effort: 'low' } }],
    accepted: [{ modelId: 'grok-3-mini', body: { messages: hello, reasoning_effort: 'low' } }],
  },
];

export const xaiRules: VendorRule[] = rows.map((row) => ({ ...row, protocol: 'alpha', vendors: ['xai'] }));
