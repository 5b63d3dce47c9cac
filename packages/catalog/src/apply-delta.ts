/** Applies the delta of one commit to a snapshot. Twenty thousand unchanged keys are shared by reference instead of being parsed again. */
import { type CatalogDelta, type CatalogState, deepFreeze, type SectionDelta, type Snapshot } from '@model-gateway/contracts';
import { indexNames, indexPreviousKeys } from './snapshot.ts';

/** `state`: which one the commit made. */
export function applyDelta(previous: Snapshot, { revision, committedAt }: CatalogState, delta: CatalogDelta): Snapshot {
  const upstreams = apply(previous.upstreams, delta.upstreams, nameOf, sorted);
  const models = apply(previous.models, delta.models, nameOf, sorted);
  const loadBalancers = apply(previous.loadBalancers, delta.load_balancers, nameOf, sorted);
  const pricing = apply(previous.pricing, delta.pricing, nameOf, sorted);
  const mcpServers = apply(previous.mcpServers, delta.mcp_servers, nameOf, sorted);
  const keyGroups = apply(previous.keyGroups, delta.key_groups, nameOf, sorted);
  const accessKeys = apply(previous.accessKeys, delta.access_keys, ({ hash }) => hash);
  const searchProviders = apply(previous.searchProviders, delta.search_providers, nameOf, sorted);
  const searchConfig = applyConfig(previous.searchConfig, delta.search_config);
  const pins = applyPins(previous.pins, delta.load_balancer_pins);
  const sameNames = models === previous.models && loadBalancers === previous.loadBalancers;
  const names = sameNames ? previous.names : indexNames(models, loadBalancers);
  const previousKeys = indexPreviousKeys(accessKeys, previous);
  const named = { upstreams, models, loadBalancers, pins, names, keyGroups, pricing, mcpServers, searchProviders, searchConfig };
  return Object.freeze({ revision, committedAt, ...named, accessKeys, previousKeys });
}

const applyConfig = (previous: Snapshot['searchConfig'], delta: CatalogDelta['search_config']): Snapshot['searchConfig'] => {
  if (!delta || delta.gone.length + delta.put.length === 0) return previous;
  return delta.put[0] ? deepFreeze(delta.put[0]) : null;
};

const nameOf = ({ name }: { name: string }): string => name;

function apply<T extends object>(
  previous: ReadonlyMap<string, T>,
  delta: SectionDelta<T> | undefined,
  keyOf: (row: T) => string,
  order: (rows: Map<string, T>) => Map<string, T> = (rows) => rows,
): ReadonlyMap<string, T> {
  if (!delta || delta.gone.length + delta.put.length === 0) return previous;
  const next = new Map(previous);
  for (const key of delta.gone) next.delete(key);
  const size = next.size;
  for (const row of delta.put) next.set(keyOf(row), deepFreeze(row));
  return next.size > size ? order(next) : next;
}

/** The same order as a full load gives, whichever way a row arrived: callers see these lists. */
const sorted = <T>(rows: Map<string, T>): Map<string, T> => new Map([...rows].sort(([a], [b]) => (a < b ? -1 : 1)));

function applyPins(previous: Snapshot['pins'], delta: CatalogDelta['load_balancer_pins']): Snapshot['pins'] {
  if (!delta || delta.gone.length + delta.put.length === 0) return previous;
  const next = new Map(previous);
  const own = (balancer: string): Map<string, string> => {
    const copy = new Map(next.get(balancer));
    next.set(balancer, copy);
    return copy;
  };
  for (const { load_balancer, access_key } of delta.gone) {
    const left = own(load_balancer);
    left.delete(access_key);
    if (left.size === 0) next.delete(load_balancer);
  }
  for (const { load_balancer, access_key, entry } of delta.put) own(load_balancer).set(access_key, entry);
  return next;
}
