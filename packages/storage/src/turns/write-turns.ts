/** Changes of stored turns, inside a transaction that the caller holds. Each takes a fixed number of statements, whatever its chain's length. */
import type { TurnFacts, TurnStatus, TurnsWritten } from '@model-gateway/contracts';
import { sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import { cleanText } from '../requests/clean-text.ts';
import { appendItems, createConversation, deleteConversation, deleteConversationItem, updateConversation } from './conversations.ts';
import { isStorableId, itemKey } from './ids.ts';
import type { Content, TurnChange } from './stored-turn.ts';
import type { WriteContext } from './write-context.ts';

type Changed<K extends TurnChange['kind']> = Extract<TurnChange, { kind: K }>;

const missing: TurnsWritten = { stored: false, reason: 'missing' };
/** Ids of one statement: a parameter each for owner, item and turn. */
const itemsAtOnce = 200;

/** Whose content a change is about. */
export const ownerOfChange = (change: TurnChange): string => (change.kind === 'begin' ? change.turn.owner : change.owner);

export async function applyChange(change: TurnChange, context: WriteContext): Promise<TurnsWritten> {
  switch (change.kind) {
    case 'begin':
      return begin(change, context);
    case 'finish':
      return finish(change, context);
    case 'delete':
      return remove(change, context);
    case 'cancel':
      return cancel(change, context);
    case 'create-conversation':
      return createConversation(change, context);
    case 'update-conversation':
      return updateConversation(change, context);
    case 'delete-conversation':
      return deleteConversation(change, context);
    case 'add-conversation-items':
      return appendItems(change, context);
    case 'delete-conversation-item':
      return deleteConversationItem(change, context);
  }
}

/** A run without a caller was queued, and begins now. Whatever else became of it stays. */
async function moveOn({ owner, id, status }: TurnFacts, response: Content, context: WriteContext): Promise<TurnsWritten> {
  const { db, now } = context;
  const moved = await db
    .updateTable('turns')
    .set({ status, touched_at: now, response: response.sealed })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .returning('id')
    .executeTakeFirst();
  return moved ? { stored: true, status } : asItIs({ owner, id }, context);
}

async function begin({ turn, input, response, expiresAt, maxBytes }: Changed<'begin'>, context: WriteContext): Promise<TurnsWritten> {
  const { db, dialect, now } = context;
  const { owner, conversation } = turn;
  if (!isStorableId(turn.id)) return missing;
  if (conversation !== null) {
    if (!isStorableId(conversation)) return missing;
    const found = await db.selectFrom('conversations').select('id').where('owner', '=', owner).where('id', '=', conversation).executeTakeFirst();
    if (!found) return missing;
    if (await isLocked(turn, context)) return { stored: false, reason: 'locked' };
  }
  const bytes = input.bytes + (response?.bytes ?? 0);
  if (!context.bytes.fits(owner, bytes, maxBytes)) return { stored: false, reason: 'full' };
  const made = await db
    .insertInto('turns')
    .values({
      ...columnsOf(turn, dialect),
      authority: -1,
      touched_at: now,
      expires_at: expiresAt,
      deleted: dialect.encodeBoolean(false),
      bytes,
      response_bytes: response?.bytes ?? 0,
      input: input.sealed,
      response: response?.sealed ?? null,
    })
    .onConflict((conflict) => conflict.columns(['owner', 'id']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!made) return turn.status === 'in_progress' && response ? moveOn(turn, response, context) : asItIs(turn, context);
  await nameItems(context, turn, [...input.items, ...(response?.items ?? [])]);
  context.bytes.add(owner, bytes);
  return { stored: true, status: turn.status };
}

/** A turn that was begun before stays as it is. */
async function asItIs({ owner, id }: Pick<TurnFacts, 'owner' | 'id'>, { db }: WriteContext): Promise<TurnsWritten> {
  const found = await db.selectFrom('turns').select(['status', 'deleted']).where('owner', '=', owner).where('id', '=', id).executeTakeFirst();
  if (!found || found.deleted) return missing;
  const status = found.status as TurnStatus;
  return isFinal(status) ? { stored: false, reason: 'ended', status } : { stored: true, status };
}

/** Whether another turn works on the conversation. */
async function isLocked({ owner, id, conversation }: TurnFacts, { db }: WriteContext): Promise<boolean> {
  const running = await db
    .selectFrom('turns')
    .select('id')
    .where('owner', '=', owner)
    .where('conversation', '=', conversation)
    .where('status', 'in', ['queued', 'in_progress'])
    .where('id', '<>', id)
    .limit(1)
    .executeTakeFirst();
  return running !== undefined;
}

const columnsOf = (
  { owner, id, parent, conversation, model, status, background, holder, requestId, stream, at, createdAt }: TurnFacts,
  dialect: StorageDialect,
) => ({
  ...{ owner, id, conversation, status },
  parent: parent !== null && isStorableId(parent) ? parent : null,
  model: cleanText(model),
  holder: cleanText(holder),
  background: dialect.encodeBoolean(background),
  request_id: cleanText(requestId),
  stream: stream === undefined ? null : cleanText(stream),
  at_model: at?.model ?? null,
  at_upstream: at?.upstream ?? null,
  at_account: at?.account ?? null,
  created_at: createdAt,
});

async function nameItems({ db }: WriteContext, { owner, id }: Pick<TurnFacts, 'owner' | 'id'>, items: readonly string[]): Promise<void> {
  const distinct = [...new Set(items.map(itemKey))];
  for (let from = 0; from < distinct.length; from += itemsAtOnce)
    await db
      .insertInto('turn_items')
      .values(distinct.slice(from, from + itemsAtOnce).map((item) => ({ owner, item, turn: id })))
      // An item that a later turn repeats is the same item.
      .onConflict((conflict) => conflict.columns(['owner', 'item']).doNothing())
      .execute();
}

const isFinal = (status: TurnStatus): boolean => status !== 'queued' && status !== 'in_progress';

async function finish({ owner, id, status, authority, response, append }: Changed<'finish'>, context: WriteContext): Promise<TurnsWritten> {
  const { db } = context;
  if (!isStorableId(id)) return missing;
  const found = await db
    .selectFrom('turns')
    .select(['status', 'authority', 'response_bytes', 'deleted', 'conversation'])
    .where('owner', '=', owner)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!found || found.deleted) return missing;
  const was = found.status as TurnStatus;
  // What its caller cancelled stays so, and gets what was made of it until then; of two other endings the one of the higher authority stands.
  if (isFinal(was) && (found.authority >= authority || (was === 'cancelled' && status !== 'cancelled'))) return { stored: false, reason: 'ended', status: was };
  const grown = response.bytes - Number(found.response_bytes);
  await db
    .updateTable('turns')
    .set({ status, authority, touched_at: context.now, response: response.sealed, bytes: sql`bytes + ${grown}`, response_bytes: response.bytes })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .execute();
  await nameItems(context, { owner, id }, response.items);
  context.bytes.add(owner, grown);
  // A better ending of the same turn adds nothing to its conversation a second time.
  if (found.conversation !== null && append.length > 0 && !isFinal(was))
    await appendItems(
      { kind: 'add-conversation-items', owner, id: found.conversation, items: append, expiresAt: 0, maxBytes: Number.POSITIVE_INFINITY },
      context,
    );
  return { stored: true, status };
}

async function remove({ owner, id }: Changed<'delete'>, { db, dialect, bytes }: WriteContext): Promise<TurnsWritten> {
  if (!isStorableId(id)) return missing;
  const found = await db.selectFrom('turns').select(['bytes', 'deleted', 'status']).where('owner', '=', owner).where('id', '=', id).executeTakeFirst();
  if (!found || found.deleted) return missing;
  // One in progress is in nobody's way afterwards: neither its conversation nor who goes on from it waits for it.
  const status = isFinal(found.status as TurnStatus) ? found.status : 'cancelled';
  await db
    .updateTable('turns')
    .set({ deleted: dialect.encodeBoolean(true), status, input: null, response: null, bytes: 0, response_bytes: 0 })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .execute();
  await db.deleteFrom('turn_items').where('owner', '=', owner).where('turn', '=', id).execute();
  bytes.add(owner, -Number(found.bytes));
  return { stored: true };
}

async function cancel({ owner, id }: Changed<'cancel'>, { db, now }: WriteContext): Promise<TurnsWritten> {
  if (!isStorableId(id)) return missing;
  const found = await db.selectFrom('turns').select(['status', 'background', 'deleted']).where('owner', '=', owner).where('id', '=', id).executeTakeFirst();
  if (!found || found.deleted) return missing;
  const status = found.status as TurnStatus;
  if (!found.background || isFinal(status)) return { stored: false, reason: 'ended', status };
  await db.updateTable('turns').set({ status: 'cancelled', touched_at: now }).where('owner', '=', owner).where('id', '=', id).execute();
  return { stored: true, status: 'cancelled' };
}
