/** Rows → one frozen, indexed snapshot that shares with its predecessor what did not change. */
import { isDeepStrictEqual } from 'node:util';
import {
  type AccessKeyRecord,
  type BalancerPin,
  type CatalogRows,
  deepFreeze,
  type ResolvedName,
  type SearchConfig,
  type Snapshot,
} from '@model-gateway/contracts';

/** `previous` lends its records, and whole indexes where no record changed, so that twenty thousand keys are not held once per revision. */
export function buildSnapshot(rows: CatalogRows, previous?: Snapshot | null): Snapshot {
  const upstreams = index(rows.upstreams, (upstream) => upstream.name, previous?.upstreams);
  const models = index(rows.models, (model) => model.name, previous?.models);
  const loadBalancers = index(rows.load_balancers ?? [], (balancer) => balancer.name, previous?.loadBalancers);
  const pins = indexPins(rows.load_balancer_pins ?? []);
  const keyGroups = index(rows.key_groups, (group) => group.name, previous?.keyGroups);
  const pricing = index(rows.pricing ?? [], (record) => record.name, previous?.pricing);
  const mcpServers = index(rows.mcp_servers ?? [], (server) => server.name, previous?.mcpServers);
  const searchProviders = index(rows.search_providers ?? [], (provider) => provider.name, previous?.searchProviders);
  const searchConfig = shareConfig(rows.search_config?.[0], previous?.searchConfig);
  const accessKeys = index(rows.access_keys, (key) => key.hash, previous?.accessKeys, sameKey);
  const sameNames = previous && models === previous.models && loadBalancers === previous.loadBalancers;
  const names = sameNames ? previous.names : indexNames(models, loadBalancers);
  return Object.freeze({
    revision: rows.revision,
    committedAt: rows.committed_at,
    upstreams,
    models,
    loadBalancers,
    pins,
    names,
    keyGroups,
    pricing,
    mcpServers,
    searchProviders,
    searchConfig,
    accessKeys,
    previousKeys: indexPreviousKeys(accessKeys, previous),
  });
}

/** Few keys have an old value that still works: a walk over all is done only when a key changed. */
export function indexPreviousKeys(keys: Snapshot['accessKeys'], before: Snapshot | null | undefined): NonNullable<Snapshot['previousKeys']> {
  if (before?.previousKeys && before.accessKeys === keys) return before.previousKeys;
  const found = new Map<string, AccessKeyRecord>();
  for (const key of keys.values()) if (key.previous) found.set(key.previous.hash, key);
  return found;
}

const shareConfig = (row: SearchConfig | undefined, previous: SearchConfig | null | undefined): SearchConfig | null => {
  if (row === undefined) return null;
  return previous && isDeepStrictEqual(previous, row) ? previous : deepFreeze(row);
};

function index<T extends object>(
  rows: readonly T[],
  keyOf: (row: T) => string,
  previous: ReadonlyMap<string, T> | undefined,
  same: (a: T, b: T) => boolean = isDeepStrictEqual,
): ReadonlyMap<string, T> {
  const result = new Map<string, T>();
  let shared = 0;
  for (const row of rows) {
    const key = keyOf(row);
    const known = previous?.get(key);
    const keep = known !== undefined && same(known, row);
    if (keep) shared++;
    result.set(key, keep ? known : deepFreeze(row));
  }
  return previous && shared === previous.size && shared === result.size ? previous : result;
}

/** Keys are many and flat: compared by hand, an order of magnitude faster. */
const sameKey = (a: AccessKeyRecord, b: AccessKeyRecord): boolean =>
  a.hash === b.hash &&
  a.id === b.id &&
  a.name === b.name &&
  a.group === b.group &&
  a.enabled === b.enabled &&
  a.expires_at === b.expires_at &&
  a.previous?.hash === b.previous?.hash &&
  a.previous?.until === b.previous?.until &&
  sameLimits(a, b);

/** Most keys have none. */
const sameLimits = (a: AccessKeyRecord, b: AccessKeyRecord): boolean =>
  (a.rate_limit === b.rate_limit || isDeepStrictEqual(a.rate_limit, b.rate_limit)) && (a.budget === b.budget || isDeepStrictEqual(a.budget, b.budget));

/** Canonical names win over aliases; the database lets no two meet. */
export function indexNames(models: Snapshot['models'], loadBalancers: Snapshot['loadBalancers']): ReadonlyMap<string, ResolvedName> {
  const names = new Map<string, ResolvedName>();
  const add = (name: string, found: ResolvedName) => {
    if (!names.has(name)) names.set(name, Object.freeze(found));
  };
  for (const model of models.values()) add(model.name, { model, canonical: model.name, via: 'canonical' });
  for (const balancer of loadBalancers.values()) add(balancer.name, { balancer, canonical: balancer.name, via: 'canonical' });
  for (const model of models.values()) for (const alias of model.aliases) add(alias, { model, canonical: model.name, via: 'alias' });
  for (const balancer of loadBalancers.values()) for (const alias of balancer.aliases) add(alias, { balancer, canonical: balancer.name, via: 'alias' });
  return names;
}

function indexPins(pins: readonly BalancerPin[]): Snapshot['pins'] {
  const byBalancer = new Map<string, Map<string, string>>();
  for (const { load_balancer, access_key, entry } of pins) {
    const known = byBalancer.get(load_balancer);
    if (known) known.set(access_key, entry);
    else byBalancer.set(load_balancer, new Map([[access_key, entry]]));
  }
  return byBalancer;
}
