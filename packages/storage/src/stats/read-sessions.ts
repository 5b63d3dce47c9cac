/** Lists sessions of coding agents with what they used. */
import { type Kysely, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import { type Database, type Measures, measureNames } from '../schema.ts';
import { noMeasures } from './dimensions.ts';

/** Which sessions to list, and in which order. */
export interface SessionQuery {
  /** Whose last request lies in this range: from inclusive, to exclusive, in ms. */
  from: number;
  to: number;
  accessKey?: string;
  sessionId?: string;
  order: 'last_at' | 'cost_micros' | 'requests';
  limit: number;
}

/** One session of a coding agent with its totals; times in ms since the epoch. */
export interface SessionSums {
  sessionId: string;
  accessKey: string;
  firstAt: number;
  lastAt: number;
  measures: Omit<Measures, 'cost_micros'>;
  cost: { currency: string; cost_micros: number }[];
}

const orders = { last_at: sql`max(last_at)`, cost_micros: sql`sum(cost_micros)`, requests: sql`sum(requests)` } as const;

/** In the order that was asked for. */
export async function readSessions(db: Kysely<Database>, dialect: StorageDialect, query: SessionQuery): Promise<SessionSums[]> {
  try {
    const conditions = [sql`last_at >= ${query.from}`, sql`last_at < ${query.to}`];
    if (query.accessKey !== undefined) conditions.push(sql`access_key = ${query.accessKey}`);
    if (query.sessionId !== undefined) conditions.push(sql`session_id = ${query.sessionId}`);
    const { rows: first } = await sql<{ session_id: string; access_key: string }>`select session_id, access_key from stat_sessions
      where ${sql.join(conditions, sql` and `)} group by session_id, access_key having sum(requests) > 0
      order by ${orders[query.order]} desc, session_id limit ${query.limit}`.execute(db);
    if (first.length === 0) return [];
    const rows = await db
      .selectFrom('stat_sessions')
      .selectAll()
      .where(
        'session_id',
        'in',
        first.map((one) => one.session_id),
      )
      .execute();
    return first.map((one) => merge(rows.filter((row) => row.session_id === one.session_id && row.access_key === one.access_key)));
  } catch (error) {
    throw dialect.translateError(error);
  }
}

/** A session has a row for each currency, and one for what had no price. */
function merge(rows: readonly Database['stat_sessions'][]): SessionSums {
  const sums = noMeasures();
  for (const row of rows) for (const name of measureNames) sums[name] += Number(row[name]);
  const { cost_micros: _mixed, ...measures } = sums;
  return {
    sessionId: rows[0]?.session_id ?? '',
    accessKey: rows[0]?.access_key ?? '',
    firstAt: Math.min(...rows.map(({ first_at }) => Number(first_at))),
    lastAt: Math.max(...rows.map(({ last_at }) => Number(last_at))),
    measures,
    cost: rows.filter(({ currency }) => currency !== '').map(({ currency, cost_micros }) => ({ currency, cost_micros: Number(cost_micros) })),
  };
}
