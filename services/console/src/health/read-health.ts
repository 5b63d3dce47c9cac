/** All upstreams with their keys: how each stands, and what it said last where it fails. */
import type { RequestRow } from '@model-gateway/contracts';
import { harmlessOutcomes, type Storage, type UpstreamDocument } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';
import { fingerprintOf } from '../resources/upstream-keys.ts';
import { showDetails } from '../statistics/show-row.ts';
import type { AttemptStates } from './health-book.ts';
import { isBroken, noState, type ResourceState, stateNames } from './state-of-attempts.ts';

export interface UpstreamHealth {
  name: string;
  protocol: string;
  state: ResourceState;
  keys: { id: string; label: string | null; fingerprint: string | null; state: ResourceState }[];
  /** Models that it serves, and those of them that fail. */
  models: number;
  failing_models: string[];
  /** What it said, and in which request. */
  last_failure: { request_id: string; at: number; message: string | null } | null;
}

/** What is wrong comes first. */
export async function readHealth(context: ConsoleContext): Promise<UpstreamHealth[]> {
  const { storage } = context;
  const [{ upstreams, models }, states] = await Promise.all([
    storage.catalog.read(async (reader) => ({ upstreams: await reader.upstreams.all(), models: await reader.models.all() })),
    context.health.attempts(),
  ]);
  const modelsOf = Map.groupBy(
    models.map(({ document }) => document),
    ({ upstream }) => upstream,
  );
  const found = upstreams.map(({ id, document }) => {
    const own = modelsOf.get(document.name) ?? [];
    return {
      name: document.name,
      protocol: document.protocol,
      state: document.enabled ? states.upstream(document.name) : noState('disabled'),
      keys: keysOf(id, document, states, context),
      models: own.length,
      failing_models: own.filter(({ enabled, name }) => enabled && document.enabled && isBroken(states.model(name).status)).map(({ name }) => name),
      last_failure: null as UpstreamHealth['last_failure'],
    };
  });
  await Promise.all(
    found
      .filter(({ state, failing_models }) => state.last_error !== null || failing_models.length > 0)
      .slice(0, maxExplained)
      .map(async (one) => {
        one.last_failure = await lastFailureOf(one.name, context);
      }),
  );
  return found.sort((one, other) => orderOf(one) - orderOf(other) || (one.name < other.name ? -1 : 1));
}

/** Each costs a query. */
const maxExplained = 50;
const lookBackMs = 6 * 3_600_000;

/** What is broken, then what is not well, then the rest by name; what is switched off last. */
const ranks: Partial<Record<ResourceState['status'], number>> = { refused: 0, failing: 0, limited: 1, degraded: 2, disabled: stateNames.length };
const orderOf = ({ state }: UpstreamHealth): number => ranks[state.status] ?? 3;

const keysOf = (id: string, { name, enabled, api_keys }: UpstreamDocument, states: AttemptStates, context: ConsoleContext): UpstreamHealth['keys'] =>
  api_keys.map((key) => ({
    id: key.id,
    label: key.label ?? null,
    fingerprint: fingerprintOf(id, key, context),
    state: enabled ? states.key(name, key.id) : noState('disabled'),
  }));

/** How an upstream failed a request; null: it did not. */
export function failureOf(row: RequestRow, upstream: string, keyring: ConsoleContext['keyring']): UpstreamHealth['last_failure'] {
  const attempt = showDetails(row, keyring).attempts.findLast(
    (one) => one.upstream === upstream && one.error_code !== null && !harmlessOutcomes.has(one.error_code),
  );
  return attempt ? { request_id: row.id, at: row.started_at, message: attempt.message ?? null } : null;
}

/** The newest request that it failed, made good by another upstream or not. */
export async function lastFailureOf(
  upstream: string,
  { storage, keyring, now }: Pick<ConsoleContext, 'keyring' | 'now'> & { storage: Pick<Storage, 'requests'> },
): Promise<UpstreamHealth['last_failure']> {
  const { items } = await storage.requests.listRows({ filters: { upstream, from: now() - lookBackMs }, limit: 50 });
  for (const row of items) {
    const failure = failureOf(row, upstream, keyring);
    if (failure) return failure;
  }
  return null;
}
