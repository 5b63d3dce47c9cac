/** Changes of stored turns, inside a transaction that the caller holds. Each takes a fixed number of statements, whatever its chain's length. */
import type { TurnFacts, TurnStatus, TurnsWritten } from '@model-gateway/contracts';
import { sql } from 'kysely';
import { appendItems, createConversation, deleteConversation, deleteConversationItem, updateConversation } from './conversations.ts';
import { isStorableId, itemKey } from './ids.ts';
import { type PutTurn, putTurns, standsAlone } from './put-turns.ts';
import { hasRunningTurn } from './read-turns.ts';
import type { Content, TurnChange } from './stored-turn.ts';
import { turnRow } from './turn-row.ts';
import type { WriteContext } from './write-context.ts';

type Changed<K extends TurnChange['kind']> = Extract<TurnChange, { kind: K }>;

const missing: TurnsWritten = { stored: false, reason: 'missing' };
/** Ids of one statement: a parameter each for owner, item and turn. */
const itemsAtOnce = 200;

/** Whose content a change is about. */
export const ownerOfChange = (change: TurnChange): string => ('turn' in change ? change.turn.owner : change.owner);

/** In their order; what became of each. */
export async function applyChanges(changes: readonly TurnChange[], context: WriteContext): Promise<TurnsWritten[]> {
  const written: TurnsWritten[] = [];
  while (written.length < changes.length) {
    const rest = changes.slice(written.length);
    const others = rest.findIndex((change) => !standsAlone(change));
    const alone = (others < 0 ? rest : rest.slice(0, others)) as PutTurn[];
    if (alone.length > 0) written.push(...(await putAll(alone, context)));
    const next = changes[written.length];
    if (next) written.push(await applyChange(next, context));
  }
  return written;
}

/** They stand alone. */
async function putAll(changes: readonly PutTurn[], context: WriteContext): Promise<TurnsWritten[]> {
  const { written, added } = await putTurns(changes, context);
  await nameItems(
    context,
    added.map(({ turn, input, response }) => ({ turn, items: [...input.items, ...response.items] })),
  );
  const all: TurnsWritten[] = [];
  for (const [at, change] of changes.entries()) all.push(written[at] ?? (await finish(endOf(change), context)));
  return all;
}

/** The end alone, for a turn that is there already. */
const endOf = ({ turn: { owner, id, status }, authority, response, append }: PutTurn): Changed<'finish'> => ({
  ...{ kind: 'finish', owner, id, status, authority, response, append },
});

/** It takes its place in its conversation first. */
async function put(change: PutTurn, context: WriteContext): Promise<TurnsWritten> {
  const { turn, input, expiresAt, maxBytes } = change;
  const begun = await begin({ kind: 'begin', turn: { ...turn, status: 'in_progress' }, input, response: null, expiresAt, maxBytes }, context);
  return begun.stored ? finish(endOf(change), context) : begun;
}

async function applyChange(change: TurnChange, context: WriteContext): Promise<TurnsWritten> {
  switch (change.kind) {
    case 'begin':
      return begin(change, context);
    case 'put':
      return put(change, context);
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
    if (await hasRunningTurn(db, { owner, conversation, except: turn.id })) return { stored: false, reason: 'locked' };
  }
  const bytes = input.bytes + (response?.bytes ?? 0);
  if (!context.bytes.fits(owner, bytes, maxBytes)) return { stored: false, reason: 'full' };
  const made = await db
    .insertInto('turns')
    .values(turnRow(turn, { input, response, expiresAt, authority: -1, now }, dialect))
    .onConflict((conflict) => conflict.columns(['owner', 'id']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!made) return turn.status === 'in_progress' && response ? moveOn(turn, response, context) : asItIs(turn, context);
  await nameItems(context, [{ turn, items: [...input.items, ...(response?.items ?? [])] }]);
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

/** A turn, and the items that are found by their ids in it. */
interface ItemsOfTurn {
  turn: Pick<TurnFacts, 'owner' | 'id'>;
  items: readonly string[];
}

const nameItem = 'insert into turn_items (owner, item, turn) values (?, ?, ?) on conflict (owner, item) do nothing';

/** An item that a later turn repeats is the same item. */
async function nameItems({ db, dialect }: WriteContext, named: readonly ItemsOfTurn[]): Promise<void> {
  const rows = named.flatMap(({ turn: { owner, id }, items }) => [...new Set(items.map(itemKey))].map((item) => ({ owner, item, turn: id })));
  if (dialect.runEach)
    return void dialect.runEach(
      nameItem,
      rows.map(({ owner, item, turn }) => [owner, item, turn]),
    );
  for (let from = 0; from < rows.length; from += itemsAtOnce)
    await db
      .insertInto('turn_items')
      .values(rows.slice(from, from + itemsAtOnce))
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
  await nameItems(context, [{ turn: { owner, id }, items: response.items }]);
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
