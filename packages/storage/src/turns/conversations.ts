/** Conversations: lists of items that requests add to, each with the position it was added at. */
import type { TurnsWritten } from '@model-gateway/contracts';
import { sql } from 'kysely';
import { isStorableId, itemKey } from './ids.ts';
import { dropConversation } from './prune-turns.ts';
import type { StoredItem, TurnChange } from './stored-turn.ts';
import type { WriteContext } from './write-context.ts';

type Changed<K extends TurnChange['kind']> = Extract<TurnChange, { kind: K }>;

const missing: TurnsWritten = { stored: false, reason: 'missing' };
const full: TurnsWritten = { stored: false, reason: 'full' };
const rowsAtOnce = 100;

/** One that is there already stays as it is. */
export async function createConversation(change: Changed<'create-conversation'>, context: WriteContext): Promise<TurnsWritten> {
  const { owner, id, createdAt, expiresAt, metadata, items, maxBytes } = change;
  if (!isStorableId(id)) return missing;
  if (!context.bytes.fits(owner, sizeOf(items), maxBytes)) return full;
  const made = await context.db
    .insertInto('conversations')
    .values({ owner, id, created_at: createdAt, expires_at: expiresAt, metadata, next_position: items.length })
    .onConflict((conflict) => conflict.columns(['owner', 'id']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!made) return { stored: true, createdAt: (await madeAt(context, owner, id)) ?? createdAt };
  await insertItems(context, { owner, id, from: 0, items });
  return { stored: true, createdAt };
}

async function madeAt({ db }: WriteContext, owner: string, id: string): Promise<number | undefined> {
  if (!isStorableId(id)) return undefined;
  const found = await db.selectFrom('conversations').select('created_at').where('owner', '=', owner).where('id', '=', id).executeTakeFirst();
  return found && Number(found.created_at);
}

export async function updateConversation({ owner, id, metadata, expiresAt }: Changed<'update-conversation'>, context: WriteContext): Promise<TurnsWritten> {
  const createdAt = await madeAt(context, owner, id);
  if (createdAt === undefined) return missing;
  await context.db.updateTable('conversations').set({ metadata, expires_at: expiresAt }).where('owner', '=', owner).where('id', '=', id).execute();
  return { stored: true, createdAt };
}

/** Turns that were made in it stay. */
export async function deleteConversation({ owner, id }: Changed<'delete-conversation'>, context: WriteContext): Promise<TurnsWritten> {
  const createdAt = await madeAt(context, owner, id);
  if (createdAt === undefined) return missing;
  context.bytes.add(owner, -(await dropConversation(context.db, owner, id)));
  return { stored: true, createdAt };
}

export async function appendItems({ owner, id, items, expiresAt, maxBytes }: Changed<'add-conversation-items'>, context: WriteContext): Promise<TurnsWritten> {
  if (!isStorableId(id)) return missing;
  if (!context.bytes.fits(owner, sizeOf(items), maxBytes)) return full;
  const found = await context.db
    .updateTable('conversations')
    .set({ next_position: sql`next_position + ${items.length}`, expires_at: sql`${sql.raw(context.dialect.greatestOf)}(expires_at, ${expiresAt})` })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .returning(['next_position', 'created_at'])
    .executeTakeFirst();
  if (!found) return missing;
  await insertItems(context, { owner, id, from: Number(found.next_position) - items.length, items });
  return { stored: true, createdAt: Number(found.created_at) };
}

export async function deleteConversationItem({ owner, id, item }: Changed<'delete-conversation-item'>, context: WriteContext): Promise<TurnsWritten> {
  const createdAt = await madeAt(context, owner, id);
  if (createdAt === undefined) return missing;
  const gone = await context.db
    .deleteFrom('conversation_items')
    .where('owner', '=', owner)
    .where('conversation', '=', id)
    .where('item', '=', itemKey(item))
    .returning('bytes')
    .executeTakeFirst();
  if (!gone) return missing;
  context.bytes.add(owner, -Number(gone.bytes));
  return { stored: true, createdAt };
}

const sizeOf = (items: readonly StoredItem[]): number => items.reduce((sum, { bytes }) => sum + bytes, 0);

/** Where new items go. */
interface Insertion {
  owner: string;
  id: string;
  from: number;
  items: readonly StoredItem[];
}

async function insertItems({ db, bytes: held }: WriteContext, { owner, id, from, items }: Insertion): Promise<void> {
  const rows = items.map(({ id: item, sealed, bytes }, at) => ({ owner, conversation: id, position: from + at, item: itemKey(item), bytes, content: sealed }));
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const added = await db
      .insertInto('conversation_items')
      .values(rows.slice(at, at + rowsAtOnce))
      // The same item twice is one item of the conversation.
      .onConflict((conflict) => conflict.columns(['owner', 'conversation', 'item']).doNothing())
      .returning('bytes')
      .execute();
    for (const { bytes } of added) held.add(owner, Number(bytes));
  }
}
