/** How many bytes of content the turns of each access key hold. */
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

/** The bytes of some owners inside one transaction, which no other transaction changes meanwhile. */
export class OwnerBytes {
  private readonly changed = new Set<string>();
  private readonly db: Kysely<Database>;
  private readonly held: Map<string, number>;

  private constructor(db: Kysely<Database>, held: Map<string, number>) {
    this.db = db;
    this.held = held;
  }

  /**
   * The first statement of a transaction that changes turns. It writes, so that SQLite has its lock before anything is read, and it takes the owners in
   * one order: on PostgreSQL what several processes write for one owner follows one another, and no two transactions wait for each other.
   */
  static async lock(db: Kysely<Database>, owners: Iterable<string>): Promise<OwnerBytes> {
    const sorted = [...new Set(owners)].sort();
    if (sorted.length === 0) return new OwnerBytes(db, new Map());
    const rows = await db
      .insertInto('turn_bytes')
      .values(sorted.map((owner) => ({ owner, bytes: 0 })))
      .onConflict((conflict) => conflict.column('owner').doUpdateSet({ bytes: sql`turn_bytes.bytes` }))
      .returning(['owner', 'bytes'])
      .execute();
    return new OwnerBytes(db, new Map(rows.map(({ owner, bytes }) => [owner, Number(bytes)])));
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
    await this.db
      .insertInto('turn_bytes')
      .values([...this.changed].map((owner) => ({ owner, bytes: this.held.get(owner) ?? 0 })))
      .onConflict((conflict) => conflict.column('owner').doUpdateSet({ bytes: sql`excluded.bytes` }))
      .execute();
  }
}
