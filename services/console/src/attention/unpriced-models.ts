/** Models without a price that were used in the last day. */
import { grainMs, startOf } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';

const unpricedMs = 24 * grainMs.hour;

/** Those with the most requests first; `all`: requests of the day, with and without a price. */
export async function unpricedModels({
  storage,
  now,
}: Pick<ConsoleContext, 'storage' | 'now'>): Promise<{ found: { model: string; requests: number }[]; all: number }> {
  const range = { from: startOf(now() - unpricedMs, 'hour'), to: startOf(now(), 'hour') + grainMs.hour, grain: 'hour' as const };
  const by = { dimension: 'model' as const, order: 'requests' as const, limit: 1_000 };
  const groups = await storage.requests.readStats({ ...range, filters: {}, overTime: false, by });
  const found = groups
    .map(({ value, measures: { unpriced } }) => ({ model: value ?? '', requests: unpriced }))
    .filter(({ model, requests }) => requests > 0 && model !== '')
    .sort((one, other) => other.requests - one.requests);
  return { found, all: groups.reduce((sum, { measures }) => sum + measures.requests, 0) };
}
