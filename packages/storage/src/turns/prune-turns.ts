/** Forgets turns and conversations: those that have expired, or all of one owner. In small pieces, so that nobody waits for long. */
import { type Kysely, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { addBytes } from './owner-bytes.ts';

/** What is forgotten. */
export type Forgotten = { owner: string } | { before: number };

/** Each may be megabytes. */
const rowsAtOnce = 50;
const pauseMs = 5;

export async function pruneTurns(db: Kysely<Database>, dialect: StorageDialect, what: Forgotten, stopped: () => boolean = () => false): Promise<number> {
  let all = 0;
  for (;;) {
    if (stopped()) return all;
    const gone = await db.transaction().execute((transaction) => pruneSome(transaction, dialect, what));
    all += gone;
    if (gone === 0) break;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  while (!stopped() && (await db.transaction().execute((transaction) => pruneConversations(transaction, dialect, what))) > 0)
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  if ('owner' in what && !stopped()) await db.deleteFrom('turn_bytes').where('owner', '=', what.owner).execute();
  return all;
}

async function pruneSome(db: Kysely<Database>, dialect: StorageDialect, what: Forgotten): Promise<number> {
  let query = db.selectFrom('turns').select(['owner', 'id', 'bytes']);
  query = 'owner' in what ? query.where('owner', '=', what.owner) : query.where('expires_at', '<=', what.before);
  const rows = await query.limit(rowsAtOnce).execute();
  for (const { owner, id, bytes } of rows) {
    await db.deleteFrom('turn_items').where('owner', '=', owner).where('turn', '=', id).execute();
    await db.deleteFrom('turns').where('owner', '=', owner).where('id', '=', id).execute();
    await addBytes(db, dialect, owner, -Number(bytes));
  }
  return rows.length;
}

async function pruneConversations(db: Kysely<Database>, dialect: StorageDialect, what: Forgotten): Promise<number> {
  let query = db.selectFrom('conversations').select(['owner', 'id']);
  query = 'owner' in what ? query.where('owner', '=', what.owner) : query.where('expires_at', '<=', what.before);
  const rows = await query.limit(rowsAtOnce).execute();
  for (const { owner, id } of rows) {
    const held = await db
      .selectFrom('conversation_items')
      .select(sql<number>`coalesce(sum(bytes), 0)`.as('bytes'))
      .where('owner', '=', owner)
      .where('conversation', '=', id)
      .executeTakeFirst();
    await db.deleteFrom('conversation_items').where('owner', '=', owner).where('conversation', '=', id).execute();
    await db.deleteFrom('conversations').where('owner', '=', owner).where('id', '=', id).execute();
    await addBytes(db, dialect, owner, -Number(held?.bytes ?? 0));
  }
  return rows.length;
}
