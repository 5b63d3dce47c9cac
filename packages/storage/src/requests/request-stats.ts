/** The repository of finished requests: idempotent batches in, pages newest first out. */
import type { RequestRow, SpendOwner } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import { AddressBook } from '../key-use/note-addresses.ts';
import { type KeyUse, type KeyUseQuery, readKeyUse } from '../key-use/read-key-use.ts';
import type { Database } from '../schema.ts';
import { addAttemptSums, noteTouched } from '../stats/attempts.ts';
import { CountLater } from '../stats/count-later.ts';
import { type Keep, prune } from '../stats/prune.ts';
import { type AttemptGroup, type AttemptQuery, readAttempts } from '../stats/read-attempts.ts';
import { readSessions, type SessionQuery, type SessionSums } from '../stats/read-sessions.ts';
import { readStats, type StatsGroup, type StatsQuery } from '../stats/read-stats.ts';
import { type RecentAnswer, type RecentQuery, readRecentAttempts } from '../stats/recent-attempts.ts';
import { addRollups } from '../stats/rollups.ts';
import { addSessions } from '../stats/sessions.ts';
import { type Change, Tally } from '../stats/tally.ts';
import { DayPartitions } from './day-partitions.ts';
import { dayMs, dayOf } from './days.ts';
import { findRow, findRows } from './find-rows.ts';
import { listRows, type RequestPage, type RequestQuery } from './list-rows.ts';
import { decodeRow, encodeRow, type StoredRow } from './row-codec.ts';
import { addSpend, readSpent } from './spend.ts';
import { createRowWriter } from './write-rows.ts';

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
  /** Those of these minted ids that are there, in any order. */
  findRows(ids: readonly string[]): Promise<RequestRow[]>;
  listRows(query: RequestQuery): Promise<RequestPage>;
  /** Sums, costs and latencies. `from` and `to` lie at the begin of a grain. */
  readStats(query: StatsQuery): Promise<StatsGroup[]>;
  readSessions(query: SessionQuery): Promise<SessionSums[]>;
  /** Sums of every attempt at an upstream, including those before a failover. `from` and `to` are aligned to the grain. */
  readAttempts(query: AttemptQuery): Promise<AttemptGroup[]>;
  /** What became of the latest attempts, by key entry, model and outcome. */
  readRecentAttempts(query: RecentQuery): Promise<RecentAnswer>;
  /** Where, with what and for which models a key was used, by its latest requests. */
  readKeyUse(query: KeyUseQuery): Promise<KeyUse>;
  /** Deletes what is older than its retention. Resolves with what was deleted. */
  prune(keep: Keep, stopped?: () => boolean): Promise<{ rows: number; partitions: number }>;
  /** Millionths, one figure for each owner. */
  spent(owners: readonly SpendOwner[]): Promise<number[]>;
}

/** Days further away than this get no partition of their own: their rows come from wrong clocks. */
const lateDays = 8;

/** The repository, for those who have the rows in the database's own form. */
export interface RequestBook extends RequestStats {
  insertStored(rows: readonly StoredRow[]): Promise<RequestRow[]>;
}

export function createRequestStats(db: Kysely<Database>, dialect: StorageDialect, now: () => number): RequestBook {
  const writeRows = createRowWriter(dialect);
  const addresses = new AddressBook();
  const days = dialect.partitionsByDay ? new DayPartitions(db) : null;

  /** Everything that rows add up to. */
  async function count(transaction: Kysely<Database>, tallies: readonly Tally[]): Promise<void> {
    await addRollups(transaction, dialect, tallies);
    await addSessions(transaction, dialect, tallies);
    await addSpend(transaction, dialect, tallies);
    await addAttemptSums(transaction, dialect, tallies);
  }
  const later = dialect.countsLater ? new CountLater({ db, count }) : null;

  /** Days for which many rows may still arrive; others go to the default partition. */
  async function prepareDays(rows: readonly StoredRow[]): Promise<void> {
    if (!days) return;
    for (const day of new Set(rows.map((row) => dayOf(row.started_at))))
      if (!days.has(day) && Math.abs(day - now()) < lateDays * dayMs) await days.makeFor(day);
  }

  async function insertStored(rows: readonly StoredRow[]): Promise<RequestRow[]> {
    try {
      await prepareDays(rows);
      let changes: Change[] = [];
      let remember = () => {};
      const write = async (transaction: Kysely<Database>): Promise<Change[]> => {
        changes = await writeRows(transaction, rows);
        const written = changes.map(({ after }) => after);
        await noteTouched(transaction, written);
        remember = await addresses.note(transaction, written);
        return changes;
      };
      if (later) await later.write(write);
      else await db.transaction().execute(async (transaction) => count(transaction, [Tally.of(await write(transaction))]));
      remember();
      const given = new Set(rows);
      return changes.flatMap(({ after }) => (given.has(after) ? [] : [decodeRow(after)]));
    } catch (error) {
      throw dialect.translateError(error);
    }
  }

  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };

  /** What was written is in the sums. */
  async function flush(): Promise<void> {
    await translate(async () => later?.flush());
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
    findRow: (id, startedAt) => translate(() => findRow(db, id, startedAt)),
    findRows: (ids) => translate(() => findRows(db, ids)),
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
    async readRecentAttempts(query) {
      await flush();
      return readRecentAttempts(db, dialect, query);
    },
    async prune(keep, stopped = () => false) {
      await flush();
      const gone = await prune({ db, dialect, days }, keep, stopped);
      await later?.forgotten();
      return gone;
    },
    spent: (owners) => flush().then(() => translate(() => readSpent(db, owners, now()))),
    listRows: (query) => listRows(db, dialect, query),
    readKeyUse: (query) => readKeyUse(db, dialect, query),
  };
}
