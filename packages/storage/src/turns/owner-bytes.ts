/** How many bytes of content the turns of one access key hold. */
import { type Kysely, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';

export async function fitsOwner(db: Kysely<Database>, owner: string, bytes: number, maxBytes: number): Promise<boolean> {
  if (!Number.isFinite(maxBytes)) return true;
  const held = await db.selectFrom('turn_bytes').select('bytes').where('owner', '=', owner).executeTakeFirst();
  return Number(held?.bytes ?? 0) + bytes <= maxBytes;
}

export async function addBytes(db: Kysely<Database>, { greatestOf }: StorageDialect, owner: string, bytes: number): Promise<void> {
  if (bytes === 0) return;
  await db
    .insertInto('turn_bytes')
    .values({ owner, bytes: Math.max(0, bytes) })
    .onConflict((conflict) => conflict.column('owner').doUpdateSet({ bytes: sql`${sql.raw(greatestOf)}(0, turn_bytes.bytes + ${bytes})` }))
    .execute();
}
