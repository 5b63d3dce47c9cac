/** The repository of finished requests: idempotent batches in, pages newest first out. */
import type { RequestRow, SpendOwner } from '@model-gateway/contracts';
import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { CountLater } from '../stats/count-later.ts';
import { type Keep, prune } from '../stats/prune.ts';
import { readSessions, type SessionQuery, type SessionSums } from '../stats/read-sessions.ts';
import { readStats, type StatsGroup, type StatsQuery } from '../stats/read-stats.ts';
import { addRollups } from '../stats/rollups.ts';
import { SeriesBook } from '../stats/series-book.ts';
import { addSessions } from '../stats/sessions.ts';
import { Tally } from '../stats/tally.ts';
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

export interface RequestQuery {
  filters: RequestFilters;
  cursor?: string;
  limit: number;
}

export interface RequestPage {
  items: RequestRow[];
  nextCursor: string | null;
}

export interface RequestStats {
  /**
   * Safe to repeat: a row stands until one of higher authority comes. One transaction with the sums of statistics, sessions and money: each row is
   * in them once.
   */
  insertRows(rows: readonly RequestRow[]): Promise<void>;
  /** Makes room for rows of this time (PostgreSQL: the partition of its UTC day). Idempotent. */
  prepareDay(time: number): Promise<void>;
  /** One row by its minted id. `startedAt`, when known, spares a search of all days. */
  findRow(id: string, startedAt?: number): Promise<RequestRow | null>;
  listRows(query: RequestQuery): Promise<RequestPage>;
  /** Sums, costs and latencies. `from` and `to` lie at the begin of a grain. */
  readStats(query: StatsQuery): Promise<StatsGroup[]>;
  readSessions(query: SessionQuery): Promise<SessionSums[]>;
  /** Forgets what is too old. Resolves with what is gone. */
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

/** Rows of days further away than this are no news: they get no day of their own. */
const lateDays = 8;

/** The repository, for those who have the rows in the database's own form. */
export interface RequestBook extends RequestStats {
  insertStored(rows: readonly StoredRow[]): Promise<void>;
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
    return () => series.remember(fresh);
  }
  const later = dialect.countsLater ? new CountLater({ db, count }) : null;

  /** The days of the rows that may still come in numbers; others go to the rest. */
  async function prepareDays(rows: readonly StoredRow[]): Promise<void> {
    if (!days) return;
    for (const day of new Set(rows.map((row) => dayOf(row.started_at)))) if (!days.has(day) && Math.abs(day - now()) < lateDays * dayMs) await days.make(day);
  }

  async function insertStored(rows: readonly StoredRow[]): Promise<void> {
    try {
      await prepareDays(rows);
      if (later) return await later.write((transaction) => writeRows(transaction, rows));
      const counted = await db.transaction().execute(async (transaction) => count(transaction, [Tally.of(await writeRows(transaction, rows))]));
      counted();
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
      let query = db.selectFrom('request_stats').selectAll();
      for (const name of Object.keys(conditions) as (keyof RequestFilters)[]) {
        const value = filters[name];
        if (value !== undefined)
          query = query.where((eb) => (conditions[name] as (eb: Builder, value: unknown, dialect: StorageDialect) => Expression<SqlBool>)(eb, value, dialect));
      }
      if (position) query = query.where(sql<SqlBool>`(started_at, id) < (${position.startedAt}, ${position.id})`);
      try {
        // One more than asked for tells whether there is a next page.
        const rows = await query
          .orderBy('started_at', 'desc')
          .orderBy('id', 'desc')
          .limit(limit + 1)
          .execute();
        const items = rows.slice(0, limit).map(decodeRow);
        const last = items.at(-1);
        return { items, nextCursor: rows.length > limit && last ? writeCursor({ startedAt: last.started_at, id: last.id }) : null };
      } catch (error) {
        throw dialect.translateError(error);
      }
    },
  };
}
