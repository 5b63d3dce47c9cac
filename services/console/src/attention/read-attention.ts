/** What an operator should look at now: upstreams that fail, budgets near their end, models without a price, keys used from a new address, messages set aside. */
import { budgetLevels } from '@model-gateway/limits';
import type { ConsoleContext } from '../context.ts';
import { readHealth } from '../health/read-health.ts';
import { isBroken } from '../health/state-of-attempts.ts';
import { readBudgets } from '../statistics/read-budgets.ts';
import { newAddresses } from './new-addresses.ts';
import { unpricedModels } from './unpriced-models.ts';

/** The first of each kind are listed, and counted are all. */
const maxListed = 10;

export async function readAttention(context: ConsoleContext) {
  const [upstreams, budgets, prices, deadLetters, addresses] = await Promise.all([
    failingUpstreams(context),
    fullBudgets(context),
    unpriced(context),
    context.storage.deadLetters.count(),
    usedFromElsewhere(context),
  ]);
  return { upstreams, budgets, unpriced: prices, dead_letters: deadLetters, new_addresses: addresses };
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
  return readBudgets(context, { atLeast: Math.min(...budgetLevels) / 100, limit: maxListed });
}

async function unpriced(context: ConsoleContext) {
  const { found, all } = await unpricedModels(context);
  const requests = found.reduce((sum, one) => sum + one.requests, 0);
  return { total: found.length, requests, share: all === 0 ? 0 : requests / all, items: found.slice(0, maxListed) };
}
