/** What an operator should look at now: upstreams that fail, budgets near their end, models without a price, keys used from a new address, messages set aside. */
import { grainMs, startOf } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';
import { readHealth } from '../health/read-health.ts';
import { isBroken } from '../health/state-of-attempts.ts';
import { readBudgets } from '../statistics/read-budgets.ts';
import { newAddresses } from './new-addresses.ts';

/** The first of each kind are listed, and counted are all. */
const maxListed = 10;
const unpricedMs = 24 * grainMs.hour;

export async function readAttention(context: ConsoleContext) {
  const [upstreams, budgets, unpriced, deadLetters, addresses] = await Promise.all([
    failingUpstreams(context),
    fullBudgets(context),
    unpricedModels(context),
    context.storage.deadLetters.count(),
    usedFromElsewhere(context),
  ]);
  return { upstreams, budgets, unpriced, dead_letters: deadLetters, new_addresses: addresses };
}

async function usedFromElsewhere(context: ConsoleContext) {
  const found = await newAddresses(context);
  return { total: found.length, items: found.slice(0, maxListed).map((one) => ({ ...one, addresses: one.addresses.slice(0, maxListed) })) };
}

async function failingUpstreams(context: ConsoleContext) {
  const failing = (await readHealth(context)).filter(({ state }) => isBroken(state.status));
  return { total: failing.length, items: failing.slice(0, maxListed).map(({ name, state, last_failure }) => ({ name, state, last_failure })) };
}

async function fullBudgets(context: ConsoleContext) {
  const full = (await readBudgets(context)).filter(({ state }) => state !== 'ok');
  return { total: full.length, items: full.slice(0, maxListed) };
}

/** Of the last day, those with the most requests first. */
async function unpricedModels({ storage, now }: ConsoleContext) {
  const range = { from: startOf(now() - unpricedMs, 'hour'), to: startOf(now(), 'hour') + grainMs.hour, grain: 'hour' as const };
  const by = { dimension: 'model' as const, order: 'requests' as const, limit: 1_000 };
  const groups = await storage.requests.readStats({ ...range, filters: {}, overTime: false, by });
  const found = groups
    .map(({ value, measures: { unpriced } }) => ({ model: value ?? '', requests: unpriced }))
    .filter(({ model, requests }) => requests > 0 && model !== '')
    .sort((one, other) => other.requests - one.requests);
  const all = groups.reduce((sum, { measures }) => sum + measures.requests, 0);
  const requests = found.reduce((sum, one) => sum + one.requests, 0);
  return { total: found.length, requests, share: all === 0 ? 0 : requests / all, items: found.slice(0, maxListed) };
}
