/** How many bytes of content the turns of each access key hold. */
import { type Kysely, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';

type Statements = Pick<StorageDialect, 'runEach' | 'readEach'>;

const lockOwner = 'insert into turn_bytes (owner, bytes) values (?, 0) on conflict (owner) do update set bytes = turn_bytes.bytes returning owner, bytes';
const saveOwner = 'insert into turn_bytes (owner, bytes) values (?, ?) on conflict (owner) do update set bytes = excluded.bytes';

/** The bytes of some owners inside one transaction, which no other transaction changes meanwhile. */
export class OwnerBytes {
  private readonly changed = new Set<string>();
  private readonly db: Kysely<Database>;
  private readonly runEach: Statements['runEach'];
  private readonly held: Map<string, number>;

  private constructor(db: Kysely<Database>, { runEach }: Statements, held: Map<string, number>) {
    this.db = db;
    this.runEach = runEach;
    this.held = held;
  }

  /**
   * The first statement of a transaction that changes turns. It writes, so that SQLite has its lock before anything is read, and it takes the owners in
   * one order: on PostgreSQL what several processes write for one owner follows one another, and no two transactions wait for each other.
   */
  static async lock(db: Kysely<Database>, dialect: Statements, owners: Iterable<string>): Promise<OwnerBytes> {
    const sorted = [...new Set(owners)].sort();
    const held = new Map<string, number>();
    if (sorted.length === 0) return new OwnerBytes(db, dialect, held);
    const rows =
      dialect.readEach?.(
        lockOwner,
        sorted.map((owner) => [owner]),
      ) ?? (await lockTogether(db, sorted));
    for (const { owner, bytes } of rows) held.set(String(owner), Number(bytes));
    return new OwnerBytes(db, dialect, held);
  }

  fits(owner: string, bytes: number, maxBytes: number): boolean {
    return (this.held.get(owner) ?? 0) + bytes <= maxBytes;
  }

  /** Less than nothing: content went. */
  add(owner: string, bytes: number): void {
    if (bytes === 0) return;
    this.held.set(owner, Math.max(0, (this.held.get(owner) ?? 0) + bytes));
    this.changed.add(owner);
  }

  /** The last statement of the transaction. */
  async save(): Promise<void> {
    if (this.changed.size === 0) return;
    if (this.runEach)
      return void this.runEach(
        saveOwner,
        [...this.changed].map((owner) => [owner, this.held.get(owner) ?? 0]),
      );
    await this.db
      .insertInto('turn_bytes')
      .values([...this.changed].map((owner) => ({ owner, bytes: this.held.get(owner) ?? 0 })))
      .onConflict((conflict) => conflict.column('owner').doUpdateSet({ bytes: sql`excluded.bytes` }))
      .execute();
  }
}

const lockTogether = (db: Kysely<Database>, owners: readonly string[]): Promise<{ owner: string; bytes: unknown }[]> =>
  db
    .insertInto('turn_bytes')
    .values(owners.map((owner) => ({ owner, bytes: 0 })))
    .onConflict((conflict) => conflict.column('owner').doUpdateSet({ bytes: sql`turn_bytes.bytes` }))
    .returning(['owner', 'bytes'])
    .execute();
