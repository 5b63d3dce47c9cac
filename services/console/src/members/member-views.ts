/** What a member sees of groups, keys, requests and costs: the own ones, and nothing that says how the gateway is made. */
import { type KeyGroup, printMaybeMoney, printMoney, type RequestRow } from '@model-gateway/contracts';
import { periodStart } from '@model-gateway/limits';
import { isGranted } from '@model-gateway/routing';
import { type AccessKeyDocument, type CatalogReader, grainMs, type KeyUsePart, type StatsGroup, type StoredResource, startOf } from '@model-gateway/storage';
import { isoTime } from '../api/answers/iso-time.ts';
import type { ConsoleContext } from '../context.ts';
import { figuresOf } from '../statistics/read-budgets.ts';
import { isMember, ownKeys, type Person } from './person.ts';
import { showMemberKeys } from './show-member-keys.ts';

type StoredKey = StoredResource<AccessKeyDocument>;

/** Names that callers write, of what is enabled. */
async function grantedNames(reader: CatalogReader, groups: readonly KeyGroup[]): Promise<Map<string, string[]>> {
  const [models, balancers] = await Promise.all([reader.models.all(), reader.loadBalancers.all()]);
  const named = [
    ...balancers.map(({ document }) => ({ ...document, hide_name: false })),
    ...models.map(({ document }) => ({ ...document, hide_name: document.hide_name ?? false })),
  ].filter(({ enabled }) => enabled);
  return new Map(
    groups.map((group) => [
      group.name,
      named.filter(({ name }) => isGranted(group, name)).flatMap(({ name, aliases, hide_name }) => [...(hide_name ? [] : [name]), ...aliases]),
    ]),
  );
}

/** Groups that this person is a member of, and those of the own keys. */
export function readGroups(person: Person, { storage }: ConsoleContext) {
  return storage.catalog.read(async (reader) => {
    const keys = await ownKeys(reader, person);
    const ofKeys = new Set(keys.map(({ document }) => document.group));
    const groups = (await reader.keyGroups.all()).map(({ document }) => document).filter((group) => isMember(group, person) || ofKeys.has(group.name));
    const names = await grantedNames(reader, groups);
    return groups.map((group) => ({
      name: group.name,
      description: group.description,
      enabled: group.enabled,
      is_member: isMember(group, person),
      models: names.get(group.name) ?? [],
      member_keys: isMember(group, person) ? showMemberKeys(group.member_keys) : null,
      keys: keys.filter(({ document }) => document.group === group.name).length,
    }));
  });
}

/** Own keys with what was spent of each in its budget's period. */
export async function showKeys(keys: readonly StoredKey[], { storage, now }: ConsoleContext) {
  const at = now();
  const [used, spent] = await Promise.all([
    storage.lastUsed(keys.map(({ document }) => document.name)),
    storage.requests.spent(
      keys.map(({ document: { name, budget } }) => ({
        kind: 'key' as const,
        name,
        currency: budget?.currency ?? 'USD',
        from: periodStart(budget?.period ?? 'total', at),
      })),
    ),
  ]);
  return keys.map((key, index) => {
    const { name, mask, group, enabled, expires_at, description, anonymous, previous } = key.document;
    const last = used.get(name);
    const { budget } = key.document;
    const figures = budget && figuresOf(budget, spent[index] ?? 0, at);
    return {
      name,
      key: mask,
      group,
      enabled,
      description,
      anonymous,
      expires_at,
      created_at: isoTime(key.createdAt),
      last_used_at: last === undefined || last < key.createdAt ? null : isoTime(last),
      previous_valid_until: previous?.until && Date.parse(previous.until) > at ? previous.until : null,
      budget: budget && figures && { limit: printMoney(figures.limit_micros), period: budget.period, currency: budget.currency },
      spent: figures && printMoney(figures.spent_micros),
    };
  });
}

/** Money of the key's budget that is spent in its present period, in micro-units; 0 without a budget. */
export async function spentOf({ document: { name, budget } }: StoredKey, { storage, now }: ConsoleContext): Promise<number> {
  if (!budget) return 0;
  const [spent = 0] = await storage.requests.spent([{ kind: 'key', name, currency: budget.currency, from: periodStart(budget.period, now()) }]);
  return spent;
}

/** A request of the member's own, without the upstreams behind it. */
export const showOwnRow = (row: RequestRow) => ({
  id: row.id,
  started_at: row.started_at,
  access_key: row.access_key,
  model: row.model,
  requested_model: row.requested_model,
  stream: row.stream,
  status: row.status,
  error_code: row.error_code,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  cost: printMaybeMoney(row.cost_micros),
  currency: row.currency,
  duration_ms: row.duration_ms,
  client_ip: row.client_ip,
  user_agent: row.user_agent,
  session_id: row.session_id,
});

/** Of each key those that cost most. */
const maxModels = 100;

interface Sum {
  requests: number;
  errors: number;
  cost: Map<string, number>;
}

type Figures = Pick<KeyUsePart, 'requests' | 'errors' | 'cost'>;

const add = (to: Sum, { requests, errors, cost }: Figures): void => {
  to.requests += requests;
  to.errors += errors;
  for (const { currency, cost_micros } of cost) to.cost.set(currency, (to.cost.get(currency) ?? 0) + cost_micros);
};
const showSum = ({ cost, ...sum }: Sum) => ({
  ...sum,
  cost: [...cost].map(([currency, cost_micros]) => ({ currency, cost: printMoney(cost_micros), cost_micros })),
});

/** Of one key in all, and by model, since the key was made: what a key of this name did before may be somebody else's. Sums are kept by the hour, so the first is read from its rows. */
async function costsOf({ document: { name }, createdAt }: StoredKey, { from, to }: { from: number; to: number }, { storage }: ConsoleContext) {
  const firstWhole = startOf(createdAt, 'hour') + grainMs.hour;
  const begins = startOf(from, 'hour');
  const first =
    begins < firstWhole && createdAt < to ? await storage.requests.readKeyUse({ accessKey: name, from: Math.max(createdAt, begins), to: firstWhole }) : null;
  const query = {
    ...{ from: Math.max(begins, firstWhole), to: startOf(to, 'hour') + grainMs.hour, grain: 'hour' as const },
    ...{ filters: { access_key: name }, overTime: false },
  };
  const [all, byModel] = await Promise.all([
    storage.requests.readStats(query),
    storage.requests.readStats({ ...query, by: { dimension: 'model', order: 'cost_micros', limit: maxModels } }),
  ]);
  return {
    all: [...(first?.total ? [first.total] : []), ...all.map(partOf)],
    models: [...(first?.models ?? []).map((part) => ({ ...part, value: part.value ?? '' })), ...byModel.map(partOf)],
  };
}

const partOf = ({ value, measures: { requests, errors }, cost }: StatsGroup) => ({ value: value ?? '', requests, errors, cost });

/** Sums of own keys, by key and by model. */
export async function readOwnCosts(keys: readonly StoredKey[], range: { from: number; to: number }, context: ConsoleContext) {
  const sums = { key: new Map<string, Sum>(), model: new Map<string, Sum>() };
  const sumOf = (map: Map<string, Sum>, value: string): Sum => {
    const known = map.get(value) ?? { requests: 0, errors: 0, cost: new Map() };
    map.set(value, known);
    return known;
  };
  for (const key of keys) {
    const { all, models } = await costsOf(key, range, context);
    for (const part of all) add(sumOf(sums.key, key.document.name), part);
    for (const part of models) add(sumOf(sums.model, part.value), part);
  }
  const list = (map: Map<string, Sum>) => [...map].map(([value, sum]) => ({ value, ...showSum(sum) })).sort((one, other) => other.requests - one.requests);
  return { keys: list(sums.key), models: list(sums.model) };
}
