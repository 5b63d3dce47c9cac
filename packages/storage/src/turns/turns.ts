/** The repository of stored turns and conversations. Everything is asked by owner: what belongs to another does not exist. */
import type { TurnsWritten } from '@model-gateway/contracts';
import { type Kysely, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { isStorableId, itemKey } from './ids.ts';
import { OwnerBytes } from './owner-bytes.ts';
import { pruneTurns } from './prune-turns.ts';
import { type ChainLink, decodeTurn, findTurnsOfItems, hasRunningTurn, loadTurns, readChain, readChainOf, readOpen } from './read-turns.ts';
import type { Content, ItemPage, StoredConversation, StoredItem, StoredTurn, TurnChange } from './stored-turn.ts';
import { applyChanges, ownerOfChange } from './write-turns.ts';

export interface ConversationReader {
  conversation(owner: string, id: string): Promise<StoredConversation | undefined>;
  /** Whether a turn works on the conversation, whose items are added at its end. */
  isBusy(owner: string, conversation: string): Promise<boolean>;
  /** undefined: `after` names no item of it. `hasMore`: others follow. */
  items(owner: string, id: string, page: ItemPage): Promise<{ items: StoredItem[]; hasMore: boolean } | undefined>;
  item(owner: string, id: string, item: string): Promise<StoredItem | undefined>;
}

export interface TurnsRepository extends ConversationReader {
  /** All in one transaction, in order; what became of each. */
  write(changes: readonly TurnChange[]): Promise<TurnsWritten[]>;
  /** undefined: it is not there, or was deleted. */
  find(owner: string, id: string): Promise<StoredTurn | undefined>;
  /** The turn and its ancestors, the oldest first, deleted ones included; at most `maxTurns` + 1 of them. [] where the turn itself is not there. */
  chain(owner: string, id: string, maxTurns: number): Promise<ChainLink[]>;
  /** These turns with their content, in the order of `ids`; deleted ones are left out. */
  load(owner: string, ids: readonly string[]): Promise<StoredTurn[]>;
  /** Which turns hold these items. */
  turnsOfItems(owner: string, items: readonly string[]): Promise<Map<string, string>>;
  /** Another text for the same ending. */
  replaceResponse(owner: string, id: string, response: Content): Promise<void>;
  /** Turns that are not final, of all owners, without their content; those that an upstream keeps are none of them. */
  open(): Promise<StoredTurn[]>;
  /** The same as `chain`, with all that is known of each turn but its content: for operators. */
  chainOf(owner: string, id: string, maxTurns: number): Promise<StoredTurn[]>;
  /** How many turns and conversations an owner has, and their bytes. */
  usage(owner: string): Promise<{ turns: number; bytes: number }>;
  /** Forgets everything of this owner, in small pieces. Resolves with the number of turns. */
  forgetOwner(owner: string, stopped?: () => boolean): Promise<number>;
  /** All owners of anything, for comparing them with the access keys that exist. */
  owners(): Promise<string[]>;
  /** Forgets what has expired, in small pieces. Resolves with the number of turns. */
  prune(stopped?: () => boolean): Promise<number>;
}

export function createTurns(db: Kysely<Database>, dialect: StorageDialect, now: () => number): TurnsRepository {
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
  return {
    write: (changes) =>
      translate(() =>
        db.transaction().execute(async (transaction) => {
          const bytes = await OwnerBytes.lock(transaction, dialect, changes.map(ownerOfChange));
          const written = await applyChanges(changes, { db: transaction, dialect, now: now(), bytes });
          await bytes.save();
          return written;
        }),
      ),
    find: (owner, id) =>
      translate(async () => {
        if (!isStorableId(id)) return undefined;
        const columns = await db.selectFrom('turns').selectAll().where('owner', '=', owner).where('id', '=', id).executeTakeFirst();
        return columns && !columns.deleted ? decodeTurn(columns) : undefined;
      }),
    chain: (owner, id, maxTurns) => translate(() => readChain(db, owner, id, maxTurns)),
    load: (owner, ids) => translate(() => loadTurns(db, owner, ids)),
    turnsOfItems: (owner, items) => translate(() => findTurnsOfItems(db, owner, items)),
    replaceResponse: (owner, id, { sealed }) =>
      translate(async () => {
        await db.updateTable('turns').set({ response: sealed }).where('owner', '=', owner).where('id', '=', id).execute();
      }),
    open: () => translate(() => readOpen(db)),
    chainOf: (owner, id, maxTurns) => translate(() => readChainOf(db, owner, id, maxTurns)),
    conversation: (owner, id) =>
      translate(async () => {
        if (!isStorableId(id)) return undefined;
        const row = await db.selectFrom('conversations').select(['created_at', 'metadata']).where('owner', '=', owner).where('id', '=', id).executeTakeFirst();
        return row && { createdAt: Number(row.created_at), metadata: row.metadata };
      }),
    isBusy: (owner, conversation) => translate(() => hasRunningTurn(db, { owner, conversation })),
    items: (owner, id, page) => translate(() => readItems(db, owner, id, page)),
    item: (owner, id, item) =>
      translate(async () => {
        if (!isStorableId(id)) return undefined;
        const row = await db
          .selectFrom('conversation_items')
          .select(['item', 'content', 'bytes'])
          .where('owner', '=', owner)
          .where('conversation', '=', id)
          .where('item', '=', itemKey(item))
          .executeTakeFirst();
        return row && { id: row.item, sealed: row.content, bytes: Number(row.bytes) };
      }),
    usage: (owner) =>
      translate(async () => {
        const counted = await db.selectFrom('turns').select(sql<number>`count(*)`.as('turns')).where('owner', '=', owner).executeTakeFirst();
        const held = await db.selectFrom('turn_bytes').select('bytes').where('owner', '=', owner).executeTakeFirst();
        return { turns: Number(counted?.turns ?? 0), bytes: Number(held?.bytes ?? 0) };
      }),
    forgetOwner: (owner, stopped) => translate(() => pruneTurns({ db, dialect }, { owner }, stopped)),
    owners: () =>
      translate(async () => {
        const rows = await db.selectFrom('turn_bytes').select('owner').execute();
        return rows.map(({ owner }) => owner);
      }),
    prune: (stopped) => translate(() => pruneTurns({ db, dialect }, { before: now() }, stopped)),
  };
}

async function readItems(
  db: Kysely<Database>,
  owner: string,
  id: string,
  { after, limit, order }: ItemPage,
): Promise<{ items: StoredItem[]; hasMore: boolean } | undefined> {
  if (!isStorableId(id)) return after === undefined ? { items: [], hasMore: false } : undefined;
  let query = db.selectFrom('conversation_items').select(['item', 'content', 'bytes']).where('owner', '=', owner).where('conversation', '=', id);
  if (after !== undefined) {
    const start = await db
      .selectFrom('conversation_items')
      .select('position')
      .where('owner', '=', owner)
      .where('conversation', '=', id)
      .where('item', '=', itemKey(after))
      .executeTakeFirst();
    if (!start) return undefined;
    query = query.where('position', order === 'asc' ? '>' : '<', start.position);
  }
  const rows = await query
    .orderBy('position', order)
    .limit(limit + 1)
    .execute();
  return { items: rows.slice(0, limit).map(({ item, content, bytes }) => ({ id: item, sealed: content, bytes: Number(bytes) })), hasMore: rows.length > limit };
}
