/** Partitions of a day each: made ahead of their rows, dropped whole when they are too old. */
import { type Kysely, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Database } from '../schema.ts';
import { dayMs, dayOf, dayOfPartition, otherPartition, partitionOf } from './days.ts';

/** Any number that no other lock of this database has. */
const lockId = 7_239_104_551;
/**
 * The lock time-out of a change of partitions, in ms. Rows and lists that come after it wait for the same lock, and a backup keeps its own for hours.
 */
const lockMs = 1_000;
/** After it could not be made: rows of the day lie in the default partition meanwhile. */
const againMs = 60_000;

/** Somebody else's lock, or many rows to be moved: later it may succeed. */
export const isHeldUp = (error: unknown): boolean => ['55P03', '57014'].includes(String((error as { code?: unknown } | undefined)?.code));

/** Waits for locks of this transaction only as long as others may be kept waiting behind it. */
export const waitBriefly = (transaction: Kysely<Database>): Promise<unknown> => sql`set local lock_timeout = ${sql.lit(lockMs)}`.execute(transaction);

export class DayPartitions {
  readonly #db: Kysely<Database>;
  /** Days whose partition is known to exist. */
  readonly #known = new LRUCache<number, true>({ max: 1_000 });
  /** By the clock that is never set. */
  #notBefore = 0;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  has(day: number): boolean {
    return this.#known.has(day);
  }

  /** Idempotent. Rows of the day that came before it are moved into it. Several processes may do so at once. */
  async make(time: number): Promise<void> {
    const day = dayOf(time);
    if (day < 0 || this.#known.has(day)) return;
    const name = sql.table(partitionOf(day));
    const other = sql.table(otherPartition);
    const [from, to] = [sql.lit(day), sql.lit(day + dayMs)];
    await this.#db.transaction().execute(async (transaction) => {
      await waitBriefly(transaction);
      await sql`select pg_advisory_xact_lock(${sql.lit(lockId)})`.execute(transaction);
      const { rows } = await sql<{ found: boolean }>`select to_regclass(${partitionOf(day)}) is not null as found`.execute(transaction);
      if (rows[0]?.found) return;
      await sql`create table ${name} (like request_stats including defaults)`.execute(transaction);
      // Blocks inserts into the default partition; attaching would wait for the same lock.
      await sql`lock table ${other} in access exclusive mode`.execute(transaction);
      await sql`with moved as (delete from ${other} where started_at >= ${from} and started_at < ${to} returning *) insert into ${name} select * from moved`.execute(
        transaction,
      );
      await sql`alter table request_stats attach partition ${name} for values from (${from}) to (${to})`.execute(transaction);
    });
    this.#known.set(day, true);
  }

  /** The same for rows that are to be stored now: where it cannot be made they go to the default partition, and it is tried again after a while. */
  async makeFor(time: number): Promise<void> {
    if (performance.now() < this.#notBefore) return;
    try {
      await this.make(time);
    } catch (error) {
      if (!isHeldUp(error)) throw error;
      this.#notBefore = performance.now() + againMs;
    }
  }

  /** Drops the days that ended by `before`. Resolves with their number. Rejects where somebody reads the rows for longer than that may wait. */
  async dropBefore(before: number): Promise<number> {
    const { rows } = await sql<{ name: string }>`select relid::regclass::text as name from pg_partition_tree('request_stats') where level = 1`.execute(
      this.#db,
    );
    let dropped = 0;
    for (const { name } of rows) {
      const day = dayOfPartition(name);
      if (day === null || day + dayMs > before) continue;
      await this.#db.transaction().execute(async (transaction) => {
        await waitBriefly(transaction);
        await sql`drop table if exists ${sql.table(name)}`.execute(transaction);
      });
      this.#known.delete(day);
      dropped++;
    }
    return dropped;
  }
}
