/** The repository of finished requests: idempotent batches in, pages newest first out. */
import type { RequestRow, SpendOwner } from '@model-gateway/contracts';
import { type Expression, type ExpressionBuilder, type Kysely, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database, RequestColumns } from '../schema.ts';
import { addAttemptSums, noteTouched } from '../stats/attempts.ts';
import { CountLater } from '../stats/count-later.ts';
import { type Keep, prune } from '../stats/prune.ts';
import { type AttemptGroup, type AttemptQuery, readAttempts } from '../stats/read-attempts.ts';
import { readSessions, type SessionQuery, type SessionSums } from '../stats/read-sessions.ts';
import { readStats, type StatsGroup, type StatsQuery } from '../stats/read-stats.ts';
import { addRollups } from '../stats/rollups.ts';
import { SeriesBook } from '../stats/series-book.ts';
import { addSessions } from '../stats/sessions.ts';
import { type Change, Tally } from '../stats/tally.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { DayPartitions } from './day-partitions.ts';
import { dayMs, dayOf } from './days.ts';
import { decodeRow, encodeRow, type StoredRow } from './row-codec.ts';
import { addSpend, readSpent } from './spend.ts';
import { createRowWriter } from './write-rows.ts';

export interface RequestFilters {
  /** The minted id or the caller's own. */
  requestId?: string;
  accessKey?: string;
  keyGroup?: string;
  model?: string;
  /** The upstream that served it, or any that its attempts touched. */
  upstream?: string;
  status?: number;
  errorCode?: string;
  stream?: boolean;
  clientProtocol?: string;
  upstreamProtocol?: string;
  sessionId?: string;
  /** Those that went wrong, or those that did not. */
  failed?: boolean;
  /** At least so long, in ms. */
  minDurationMs?: number;
  /** Literal substring, ASCII case ignored, of one of `searchedColumns`. Reads every row of the range until the page is full. */
  search?: string;
  /** Milliseconds since the epoch: from inclusive, to exclusive. */
  from?: number;
  to?: number;
}

/** Where a free search looks. */
export const searchedColumns = [
  'id',
  'client_request_id',
  'access_key',
  'model',
  'requested_model',
  'upstream',
  'error_code',
  'session_id',
  'client_ip',
  'user_agent',
] as const satisfies readonly (keyof RequestRow)[];

/** One page of request rows, newest first. */
export interface RequestQuery {
  filters: RequestFilters;
  cursor?: string;
  limit: number;
}

/** The rows of one page, and the cursor of the next; null on the last page. */
export interface RequestPage {
  items: RequestRow[];
  nextCursor: string | null;
}

/** The repository of finished requests and of the sums over them. */
export interface RequestStats {
  /**
   * May be repeated: a row stays until one of higher authority arrives (`settle-rows.ts`). One transaction with the sums of statistics, sessions and
   * spending: each row is in them once. Resolves with the rows that were stored differently from how they were given, orphans among them; usually
   * none.
   */
  insertRows(rows: readonly RequestRow[]): Promise<RequestRow[]>;
  /** Prepares storage for rows of this time (PostgreSQL: the partition of its UTC day). Idempotent. */
  prepareDay(time: number): Promise<void>;
  /** One row by its minted id. `startedAt`, when known, spares a search of all days. */
  findRow(id: string, startedAt?: number): Promise<RequestRow | null>;
  listRows(query: RequestQuery): Promise<RequestPage>;
  /** Sums, costs and latencies. `from` and `to` lie at the begin of a grain. */
  readStats(query: StatsQuery): Promise<StatsGroup[]>;
  readSessions(query: SessionQuery): Promise<SessionSums[]>;
  /** Sums of every attempt at an upstream, including those before a failover. `from` and `to` are aligned to the grain. */
  readAttempts(query: AttemptQuery): Promise<AttemptGroup[]>;
  /** Deletes what is older than its retention. Resolves with what was deleted. */
  prune(keep: Keep, stopped?: () => boolean): Promise<{ rows: number; partitions: number }>;
  /** Millionths, one figure for each owner. */
  spent(owners: readonly SpendOwner[]): Promise<number[]>;
}

type Builder = ExpressionBuilder<Database, 'request_stats'>;

/** Filter → condition. */
const conditions: { [F in keyof RequestFilters]-?: (eb: Builder, value: NonNullable<RequestFilters[F]>, dialect: StorageDialect) => Expression<SqlBool> } = {
  requestId: (eb, value) => eb.or([eb('id', '=', value), eb('client_request_id', '=', value)]),
  accessKey: (eb, value) => eb('access_key', '=', value),
  keyGroup: (eb, value) => eb('key_group', '=', value),
  model: (eb, value) => eb('model', '=', value),
  upstream: (eb, value) => eb('upstream', '=', value),
  status: (eb, value) => eb('status', '=', value),
  errorCode: (eb, value) => eb('error_code', '=', value),
  stream: (eb, value, dialect) => eb('stream', '=', dialect.encodeBoolean(value)),
  clientProtocol: (eb, value) => eb('client_protocol', '=', value),
  upstreamProtocol: (eb, value) => eb('upstream_protocol', '=', value),
  sessionId: (eb, value) => eb('session_id', '=', value),
  // The same words as the partial index.
  failed: (eb, value) => eb('error_code', value ? 'is not' : 'is', null),
  minDurationMs: (eb, value) => eb('duration_ms', '>=', value),
  search: (eb, value, dialect) => eb.or(searchedColumns.map((column) => dialect.contains(eb.ref(column), value))),
  from: (eb, value) => eb('started_at', '>=', value),
  to: (eb, value) => eb('started_at', '<', value),
};

/** Days further away than this get no partition of their own: their rows come from wrong clocks. */
const lateDays = 8;

/** The repository, for those who have the rows in the database's own form. */
export interface RequestBook extends RequestStats {
  insertStored(rows: readonly StoredRow[]): Promise<RequestRow[]>;
}

export function createRequestStats(db: Kysely<Database>, dialect: StorageDialect, now: () => number): RequestBook {
  const writeRows = createRowWriter(dialect);
  const series = new SeriesBook();
  const days = dialect.partitionsByDay ? new DayPartitions(db) : null;

  /** Everything that rows add up to. */
  async function count(transaction: Kysely<Database>, tallies: readonly Tally[]): Promise<() => void> {
    const fresh = await addRollups(transaction, dialect, series, tallies);
    await addSessions(transaction, dialect, tallies);
    await addSpend(transaction, dialect, tallies);
    await addAttemptSums(transaction, dialect, tallies);
    return () => series.remember(fresh);
  }
  const later = dialect.countsLater ? new CountLater({ db, count }) : null;

  /** Days for which many rows may still arrive; others go to the default partition. */
  async function prepareDays(rows: readonly StoredRow[]): Promise<void> {
    if (!days) return;
    for (const day of new Set(rows.map((row) => dayOf(row.started_at)))) if (!days.has(day) && Math.abs(day - now()) < lateDays * dayMs) await days.make(day);
  }

  async function insertStored(rows: readonly StoredRow[]): Promise<RequestRow[]> {
    try {
      await prepareDays(rows);
      let changes: Change[] = [];
      const write = async (transaction: Kysely<Database>): Promise<Change[]> => {
        changes = await writeRows(transaction, rows);
        await noteTouched(
          transaction,
          changes.map(({ after }) => after),
        );
        return changes;
      };
      if (later) await later.write(write);
      else (await db.transaction().execute(async (transaction) => count(transaction, [Tally.of(await write(transaction))])))();
      const given = new Set(rows);
      return changes.flatMap(({ after }) => (given.has(after) ? [] : [decodeRow(after)]));
    } catch (error) {
      throw dialect.translateError(error);
    }
  }

  /** What was written is in the sums. */
  async function flush(): Promise<void> {
    try {
      await later?.flush();
    } catch (error) {
      throw dialect.translateError(error);
    }
  }

  return {
    insertStored,
    insertRows: (rows) => insertStored(rows.map((row) => encodeRow(row, dialect))),
    async prepareDay(time) {
      try {
        await days?.make(time);
      } catch (error) {
        throw dialect.translateError(error);
      }
    },
    async findRow(id, startedAt) {
      try {
        let query = db.selectFrom('request_stats').selectAll().where('id', '=', id);
        if (startedAt !== undefined) query = query.where('started_at', '=', startedAt);
        const columns = await query.executeTakeFirst();
        return columns ? decodeRow(columns) : null;
      } catch (error) {
        throw dialect.translateError(error);
      }
    },
    async readStats(query) {
      await flush();
      return readStats(db, dialect, query);
    },
    async readSessions(query) {
      await flush();
      return readSessions(db, dialect, query);
    },
    async readAttempts(query) {
      await flush();
      return readAttempts(db, dialect, query);
    },
    async prune(keep, stopped = () => false) {
      await flush();
      const gone = await prune(db, dialect, days, keep, stopped);
      await later?.forgotten();
      return gone;
    },
    async spent(owners) {
      try {
        await flush();
        return await readSpent(db, owners);
      } catch (error) {
        throw dialect.translateError(error);
      }
    },
    async listRows({ filters, cursor, limit }) {
      const position = cursor === undefined ? null : readCursor(cursor);
      const { upstream, ...others } = filters;
      const narrow = (query: RowQuery, by: RequestFilters): RowQuery => {
        let narrowed = query;
        for (const name of Object.keys(conditions) as (keyof RequestFilters)[]) {
          const value = by[name];
          if (value !== undefined)
            narrowed = narrowed.where((eb) =>
              (conditions[name] as (eb: Builder, value: unknown, dialect: StorageDialect) => Expression<SqlBool>)(eb, value, dialect),
            );
        }
        if (position) narrowed = narrowed.where(sql<SqlBool>`(started_at, id) < (${position.startedAt}, ${position.id})`);
        // One more than asked for tells whether there is a next page.
        return narrowed
          .orderBy('started_at', 'desc')
          .orderBy('id', 'desc')
          .limit(limit + 1);
      };
      const all = db.selectFrom('request_stats').selectAll();
      try {
        // Each question has an index of its own; one for both would read every row of the range.
        const served = await narrow(all, filters).execute();
        const touched =
          upstream === undefined
            ? []
            : await narrow(
                all.where(
                  sql<SqlBool>`(started_at, id) in (select t.started_at, t.id from touched_upstreams t where ${sql.join(touchedIn(upstream, others, position), sql` and `)})`,
                ),
                others,
              ).execute();
        const rows = touched.length === 0 ? served : mergeNewest(served, touched);
        const items = rows.slice(0, limit).map(decodeRow);
        const last = items.at(-1);
        return { items, nextCursor: rows.length > limit && last ? writeCursor({ startedAt: last.started_at, id: last.id }) : null };
      } catch (error) {
        throw dialect.translateError(error);
      }
    },
  };
}

type RowQuery = SelectQueryBuilder<Database, 'request_stats', RequestColumns>;

/** Which entries of the side table may lead to rows of this page. */
function touchedIn(upstream: string, { from, to }: RequestFilters, position: { startedAt: number } | null): RawBuilder<unknown>[] {
  const end = position === null ? to : Math.min(to ?? Number.MAX_SAFE_INTEGER, position.startedAt + 1);
  return [
    sql`t.upstream = ${upstream}`,
    ...(from === undefined ? [] : [sql`t.started_at >= ${from}`]),
    ...(end === undefined ? [] : [sql`t.started_at < ${end}`]),
  ];
}

/** A row may be in both: it was replaced after its attempts were recorded. */
function mergeNewest(one: readonly RequestColumns[], other: readonly RequestColumns[]): RequestColumns[] {
  const rows = new Map([...one, ...other].map((row) => [`${row.started_at}:${row.id}`, row]));
  return [...rows.values()].sort((a, b) => Number(b.started_at) - Number(a.started_at) || (a.id < b.id ? 1 : -1));
}
