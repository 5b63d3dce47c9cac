/** What may be wrong with a request that reached a vendor. */
import type { RequestRow } from '@model-gateway/contracts';
import { createMemory, findRefusals, type RefusedBy } from '../vendor-rules/index.ts';
import type { Ask } from './ask.ts';
import { factsOf, readable } from './facts.ts';
import type { Reached } from './judging-upstream.ts';
import type { MatrixTarget } from './targets.ts';

/** What a vendor who never issued anything refuses of it. */
export function refusalsOf(target: MatrixTarget, { url, headers, body }: Reached): RefusedBy[] {
  const { pathname, search } = new URL(url);
  const judged = { modelId: target.model, headers, body: JSON.parse(body) as Record<string, unknown>, path: `${pathname}${search}` };
  return findRefusals(target.protocol, judged, createMemory());
}

/** Facts of the ask that are neither in the body that arrived nor declared as lost. */
export function silentLosses(ask: Ask, body: string, row: RequestRow): string[] {
  const received = readable(body);
  const losses = (row.losses ?? []).map(({ field }) => field);
  return [...factsOf(ask.body), ...(ask.also ?? [])]
    .filter(({ isIn, lost }) => !isIn(received) && !losses.some((field) => lost?.test(field)))
    .map(({ name }) => `lost in silence: ${name} (losses: ${losses.join(', ') || 'none'})`);
}

const invented = [/No result was recorded/, /\[tool result/];
/** Results that nobody gave. */
export const inventions = (ask: Ask, body: string): string[] =>
  invented.filter((words) => !ask.incomplete && words.test(body)).map((words) => `invented: ${words.source}`);
