/** Models without a price that were used in the last day. */
import { matchesWildcard } from '@model-gateway/routing/wildcard';
import { grainMs, startOf } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';

const unpricedMs = 24 * grainMs.hour;

/** Those with the most requests first, without what has got a price since; `all`: requests of the day, with and without a price. */
export async function unpricedModels({
  storage,
  now,
}: Pick<ConsoleContext, 'storage' | 'now'>): Promise<{ found: { model: string; requests: number }[]; all: number }> {
  const range = { from: startOf(now() - unpricedMs, 'hour'), to: startOf(now(), 'hour') + grainMs.hour, grain: 'hour' as const };
  const by = { dimension: 'model' as const, order: 'requests' as const, limit: 1_000 };
  const groups = await storage.requests.readStats({ ...range, filters: {}, overTime: false, by });
  const used = groups
    .map(({ value, measures: { unpriced } }) => ({ model: value ?? '', requests: unpriced }))
    .filter(({ model, requests }) => requests > 0 && model !== '');
  // There may be thousands of prices, and mostly no model lacks one.
  const isPriced = used.length === 0 ? () => true : await readPriced(storage, used, now());
  const found = used.filter(({ model }) => !isPriced(model)).sort((one, other) => other.requests - one.requests);
  return { found, all: groups.reduce((sum, { measures }) => sum + measures.requests, 0) };
}

/** Whether a price record of ours holds now for one of these models, by its own name or by the id behind it. */
async function readPriced({ catalog }: ConsoleContext['storage'], used: readonly { model: string }[], at: number): Promise<(model: string) => boolean> {
  const { records, ids } = await catalog.read(async ({ pricing, models }) => ({
    records: await pricing.all(),
    ids: new Map((await models.named(used.map(({ model }) => model))).map(({ document }) => [document.name, document.upstream_model_id])),
  }));
  const patterns = records
    .filter(({ document: { enabled, valid_from } }) => enabled && (valid_from === null || Date.parse(valid_from) <= at))
    .map(({ document }) => document.model.toLowerCase());
  return (model) => [model, ids.get(model) ?? model].some((name) => patterns.some((pattern) => matchesWildcard(pattern, name.toLowerCase())));
}
