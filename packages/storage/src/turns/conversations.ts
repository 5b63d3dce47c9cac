/** Conversations: lists of items that requests add to, each with the position it was added at. */
import type { TurnsWritten } from '@model-gateway/contracts';
import { sql } from 'kysely';
import { addBytes, fitsOwner } from './owner-bytes.ts';
import type { StoredItem, TurnChange } from './stored-turn.ts';
import type { WriteContext } from './write-context.ts';

type Changed<K extends TurnChange['kind']> = Extract<TurnChange, { kind: K }>;

const missing: TurnsWritten = { stored: false, reason: 'missing' };
const rowsAtOnce = 100;

export async function createConversation(change: Changed<'create-conversation'>, context: WriteContext): Promise<TurnsWritten> {
  const { owner, id, createdAt, expiresAt, metadata, items, maxBytes } = change;
  const { db, dialect } = context;
  const bytes = sizeOf(items);
  if (!(await fitsOwner(db, owner, bytes, maxBytes))) return { stored: false, reason: 'full' };
  await db
    .insertInto('conversations')
    .values({ owner, id, created_at: createdAt, expires_at: expiresAt, metadata, next_position: items.length })
    .onConflict((conflict) => conflict.columns(['owner', 'id']).doNothing())
    .execute();
  await insertItems(context, { owner, id, from: 0, items });
  await addBytes(db, dialect, owner, bytes);
  return { stored: true, createdAt };
}

export async function updateConversation({ owner, id, metadata, expiresAt }: Changed<'update-conversation'>, { db }: WriteContext): Promise<TurnsWritten> {
  const found = await db.selectFrom('conversations').select('created_at').where('owner', '=', owner).where('id', '=', id).executeTakeFirst();
  if (!found) return missing;
  await db.updateTable('conversations').set({ metadata, expires_at: expiresAt }).where('owner', '=', owner).where('id', '=', id).execute();
  return { stored: true, createdAt: Number(found.created_at) };
}

/** Turns that were made in it stay. */
export async function deleteConversation({ owner, id }: Changed<'delete-conversation'>, { db, dialect }: WriteContext): Promise<TurnsWritten> {
  const found = await db.selectFrom('conversations').select('created_at').where('owner', '=', owner).where('id', '=', id).executeTakeFirst();
  if (!found) return missing;
  const held = await db
    .selectFrom('conversation_items')
    .select(sql<number>`coalesce(sum(bytes), 0)`.as('bytes'))
    .where('owner', '=', owner)
    .where('conversation', '=', id)
    .executeTakeFirst();
  await db.deleteFrom('conversation_items').where('owner', '=', owner).where('conversation', '=', id).execute();
  await db.deleteFrom('conversations').where('owner', '=', owner).where('id', '=', id).execute();
  await addBytes(db, dialect, owner, -Number(held?.bytes ?? 0));
  return { stored: true, createdAt: Number(found.created_at) };
}

export async function appendItems({ owner, id, items, expiresAt, maxBytes }: Changed<'add-conversation-items'>, context: WriteContext): Promise<TurnsWritten> {
  const { db, dialect } = context;
  const bytes = sizeOf(items);
  if (!(await fitsOwner(db, owner, bytes, maxBytes))) return { stored: false, reason: 'full' };
  // The row is updated first, so that two writers take different positions.
  const found = await db
    .updateTable('conversations')
    .set({ next_position: sql`next_position + ${items.length}`, expires_at: sql`${sql.raw(dialect.greatestOf)}(expires_at, ${expiresAt})` })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .returning(['next_position', 'created_at'])
    .executeTakeFirst();
  if (!found) return missing;
  await insertItems(context, { owner, id, from: Number(found.next_position) - items.length, items });
  await addBytes(db, dialect, owner, bytes);
  return { stored: true, createdAt: Number(found.created_at) };
}

export async function deleteConversationItem({ owner, id, item }: Changed<'delete-conversation-item'>, { db, dialect }: WriteContext): Promise<TurnsWritten> {
  const found = await db.selectFrom('conversations').select('created_at').where('owner', '=', owner).where('id', '=', id).executeTakeFirst();
  const gone = await db
    .deleteFrom('conversation_items')
    .where('owner', '=', owner)
    .where('conversation', '=', id)
    .where('item', '=', item)
    .returning('bytes')
    .executeTakeFirst();
  if (!found || !gone) return missing;
  await addBytes(db, dialect, owner, -Number(gone.bytes));
  return { stored: true, createdAt: Number(found.created_at) };
}

const sizeOf = (items: readonly StoredItem[]): number => items.reduce((sum, { bytes }) => sum + bytes, 0);

/** Where new items go. */
interface Insertion {
  owner: string;
  id: string;
  from: number;
  items: readonly StoredItem[];
}

async function insertItems({ db }: WriteContext, { owner, id, from, items }: Insertion): Promise<void> {
  const rows = items.map(({ id: item, sealed, bytes }, at) => ({ owner, conversation: id, position: from + at, item, bytes, content: sealed }));
  for (let at = 0; at < rows.length; at += rowsAtOnce)
    await db
      .insertInto('conversation_items')
      .values(rows.slice(at, at + rowsAtOnce))
      // The same item twice is one item of the conversation.
      .onConflict((conflict) => conflict.columns(['owner', 'conversation', 'item']).doNothing())
      .execute();
}
