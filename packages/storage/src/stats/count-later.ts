/**
 * Adds rows to the sums in larger batches than they are written: the rows of one second are much alike, and cost a tenth when added together. The
 * last row that is in the sums is stored in the transaction that adds them, so that a process that is killed still counts each row once.
 */
import { type Kysely, sql } from 'kysely';
import type { StoredRow } from '../requests/row-codec.ts';
import type { Database } from '../schema.ts';
import { type Change, Tally } from './tally.ts';

/** Maximum number of pending combinations: bounds the memory, and how long adding them takes. */
const maxWaiting = 2_000;
const maxWaitMs = 1_000;
/** Rows left by an earlier process that are read at once. */
const readAtOnce = 1_000;

/** The database, and the function that adds tallies to the sums. */
export interface CountLaterDeps {
  db: Kysely<Database>;
  /** Adds to the sums, inside the transaction, and leaves the tallies unchanged. */
  count(db: Kysely<Database>, tallies: readonly Tally[]): Promise<void>;
}

export class CountLater {
  readonly #deps: CountLaterDeps;
  #waiting = new Tally();
  #timer: NodeJS.Timeout | undefined;
  #recovered = false;
  /** One at a time: no counting may happen between a commit and the update of what is remembered about it. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: CountLaterDeps) {
    this.#deps = deps;
  }

  /** Writes rows, and counts them now or soon. */
  write(writeRows: (db: Kysely<Database>) => Promise<Change[]>): Promise<void> {
    return this.#inTurn(async () => {
      await this.#recover();
      let counted = false;
      const changes = await this.#deps.db.transaction().execute(async (transaction) => {
        const found = await writeRows(transaction);
        // Corrections of rows already counted must not be lost with the process: only new rows are found again by their number.
        const now = found.some(({ before }) => before !== null) || this.#waiting.size >= maxWaiting;
        if (now) await this.#count(transaction, [this.#waiting, Tally.of(found)]);
        counted = now;
        return found;
      });
      if (counted) return this.#counted();
      for (const change of changes) this.#waiting.add(change);
      if (this.#waiting.size > 0) this.#timer ??= this.#arm();
    });
  }

  /** Resolves when all written rows are in the sums. */
  async flush(): Promise<void> {
    if (this.#waiting.size === 0 && this.#recovered) return;
    await this.#inTurn(async () => {
      await this.#recover();
      await this.#countWaiting();
    });
  }

  /**
   * Rows were deleted: their numbers may be reused. Pending rows are counted in the same transaction, or a process that is killed would not find them
   * again.
   */
  forgotten(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#recover();
      if (this.#waiting.size === 0) return remember(this.#deps.db);
      await this.#countWaiting();
    });
  }

  async #countWaiting(): Promise<void> {
    if (this.#waiting.size === 0) return;
    await this.#deps.db.transaction().execute((transaction) => this.#count(transaction, [this.#waiting]));
    this.#counted();
  }

  /** `upTo`: the last row in the tallies; without it, all written rows. */
  async #count(db: Kysely<Database>, tallies: readonly Tally[], upTo?: number): Promise<void> {
    // Writes first, so that SQLite has its lock before the ids of series are read.
    await remember(db, upTo);
    await this.#deps.count(db, tallies);
  }

  #counted(): void {
    this.#waiting = new Tally();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timer = undefined;
      // The next write or query meets the same error, and reports it.
      this.flush().catch(() => undefined);
    }, maxWaitMs);
    return timer.unref();
  }

  /** Rows that an earlier process wrote and did not count: most are counted right away, the rest waits with new rows. */
  async #recover(): Promise<void> {
    if (this.#recovered) return;
    let waiting = new Tally();
    for (let last = -1, more = true; more; ) {
      const { rows } = await sql<StoredRow & { row_number: number }>`select rowid as row_number, * from request_stats
        where rowid > (select row_number from stat_counted where id = 1) and rowid > ${last} order by rowid limit ${readAtOnce}`.execute(this.#deps.db);
      for (const row of rows) waiting.add({ before: null, after: row });
      last = rows.at(-1)?.row_number ?? last;
      more = rows.length === readAtOnce;
      if (waiting.size < maxWaiting) continue;
      const full = waiting;
      await this.#deps.db.transaction().execute((transaction) => this.#count(transaction, [full], last));
      waiting = new Tally();
    }
    this.#waiting = waiting;
    this.#recovered = true;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}

async function remember(db: Kysely<Database>, upTo?: number): Promise<void> {
  await sql`update stat_counted set row_number = ${upTo === undefined ? sql`(select coalesce(max(rowid), 0) from request_stats)` : upTo} where id = 1`.execute(
    db,
  );
}
