/** Where, with what and for which models a key was used, by its latest requests. */
import { type Kysely, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';

/** Whose use to read; times in ms since the epoch, from inclusive, to exclusive. */
export interface KeyUseQuery {
  accessKey: string;
  from: number;
  to: number;
}

/** Requests that have one value in common. */
export interface KeyUsePart {
  /** null: the rows have none. */
  value: string | null;
  requests: number;
  errors: number;
  firstAt: number;
  lastAt: number;
  cost: { currency: string; cost_micros: number }[];
}

/** What a key was used for. */
export interface KeyUse {
  total: KeyUsePart | null;
  /** Only the latest requests were read, since there are more than `maxRowsOfUse`. */
  truncated: boolean;
  addresses: KeyUsePart[];
  agents: KeyUsePart[];
  models: KeyUsePart[];
}

/** As many of the latest requests are read: enough to see what somebody did with a key, few enough for a table of millions. */
export const maxRowsOfUse = 20_000;
/** Values that are told apart; those with most requests are shown. */
const maxParts = 100;

interface Group {
  value: string | null;
  currency: string | null;
  requests: number | string;
  errors: number | string;
  first_at: number | string;
  last_at: number | string;
  cost_micros: number | string | null;
}

export async function readKeyUse(db: Kysely<Database>, dialect: StorageDialect, { accessKey, from, to }: KeyUseQuery): Promise<KeyUse> {
  const by = async (column: 'client_ip' | 'user_agent' | 'model' | 'access_key'): Promise<KeyUsePart[]> => {
    const { rows } = await sql<Group>`select ${sql.ref(column)} as value, currency, count(*) as requests,
      sum(case when error_code is null then 0 else 1 end) as errors, min(started_at) as first_at, max(started_at) as last_at, sum(cost_micros) as cost_micros
      from (select client_ip, user_agent, model, access_key, currency, started_at, cost_micros, error_code from request_stats
        where access_key = ${accessKey} and started_at >= ${from} and started_at < ${to} order by started_at desc limit ${maxRowsOfUse}) latest
      group by ${sql.ref(column)}, currency`.execute(db);
    return merge(rows);
  };
  try {
    const [total = null] = await by('access_key');
    if (total === null) return { total, truncated: false, addresses: [], agents: [], models: [] };
    const [addresses, agents, models] = [await by('client_ip'), await by('user_agent'), await by('model')];
    return { total, truncated: total.requests >= maxRowsOfUse, addresses, agents, models };
  } catch (error) {
    throw dialect.translateError(error);
  }
}

/** One part for each value, whatever its currencies; those with most requests first. */
function merge(groups: readonly Group[]): KeyUsePart[] {
  const parts = new Map<string | null, KeyUsePart>();
  for (const { value, currency, requests, errors, first_at, last_at, cost_micros } of groups) {
    const known = parts.get(value) ?? { value, requests: 0, errors: 0, firstAt: Number(first_at), lastAt: Number(last_at), cost: [] };
    parts.set(value, known);
    known.requests += Number(requests);
    known.errors += Number(errors);
    known.firstAt = Math.min(known.firstAt, Number(first_at));
    known.lastAt = Math.max(known.lastAt, Number(last_at));
    if (currency !== null && cost_micros !== null) known.cost.push({ currency, cost_micros: Number(cost_micros) });
  }
  return [...parts.values()].sort((one, other) => other.requests - one.requests || other.lastAt - one.lastAt).slice(0, maxParts);
}
