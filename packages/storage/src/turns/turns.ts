/** The repository of stored turns and conversations. Everything is asked by owner: what belongs to another does not exist. */
import type { TurnFacts, TurnStatus, TurnsWritten } from '@model-gateway/contracts';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database, TurnColumns } from '../schema.ts';
import { pruneTurns } from './prune-turns.ts';
import type { Content, ItemPage, StoredConversation, StoredItem, StoredTurn, TurnChange } from './stored-turn.ts';
import { applyChange } from './write-turns.ts';

/** One turn of a chain as the first look at it shows it. */
export interface ChainLink {
  id: string;
  bytes: number;
  status: TurnStatus;
}

export interface TurnsRepository {
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
  /** Turns that are not final, of all owners; those that an upstream keeps are none of them. */
  open(): Promise<StoredTurn[]>;
  /** The facts of the turn of a request, or of one with this id, and of its ancestors, of whichever owner: for operators. The oldest first. */
  chainOf(by: { requestId?: string; id?: string }, maxTurns: number): Promise<StoredTurn[]>;
  conversation(owner: string, id: string): Promise<StoredConversation | undefined>;
  /** undefined: `after` names no item of it. `hasMore`: others follow. */
  items(owner: string, id: string, page: ItemPage): Promise<{ items: StoredItem[]; hasMore: boolean } | undefined>;
  item(owner: string, id: string, item: string): Promise<StoredItem | undefined>;
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
          const written: TurnsWritten[] = [];
          for (const change of changes) written.push(await applyChange(change, { db: transaction, dialect, now: now() }));
          return written;
        }),
      ),
    find: (owner, id) =>
      translate(async () => {
        const columns = await db.selectFrom('turns').selectAll().where('owner', '=', owner).where('id', '=', id).executeTakeFirst();
        return columns && !columns.deleted ? decode(columns) : undefined;
      }),
    chain: (owner, id, maxTurns) => translate(() => readChain(db, owner, id, maxTurns)),
    load: (owner, ids) => translate(() => loadTurns(db, owner, ids)),
    turnsOfItems: (owner, items) =>
      translate(async () => {
        if (items.length === 0) return new Map();
        const rows = await db
          .selectFrom('turn_items')
          .select(['item', 'turn'])
          .where('owner', '=', owner)
          .where('item', 'in', [...items])
          .execute();
        return new Map(rows.map(({ item, turn }) => [item, turn]));
      }),
    replaceResponse: (owner, id, { sealed }) =>
      translate(async () => {
        await db.updateTable('turns').set({ response: sealed }).where('owner', '=', owner).where('id', '=', id).execute();
      }),
    open: () =>
      translate(async () => {
        const rows = await db
          .selectFrom('turns')
          .selectAll()
          .where('status', 'in', ['queued', 'in_progress'])
          .where('at_upstream', 'is', null)
          .limit(maxOpen)
          .execute();
        return rows.filter(({ deleted }) => !deleted).map(decode);
      }),
    chainOf: (by, maxTurns) => translate(() => readChainOf(db, by, maxTurns)),
    conversation: (owner, id) =>
      translate(async () => {
        const row = await db.selectFrom('conversations').select(['created_at', 'metadata']).where('owner', '=', owner).where('id', '=', id).executeTakeFirst();
        return row && { createdAt: Number(row.created_at), metadata: row.metadata };
      }),
    items: (owner, id, page) => translate(() => readItems(db, owner, id, page)),
    item: (owner, id, item) =>
      translate(async () => {
        const row = await db
          .selectFrom('conversation_items')
          .select(['item', 'content', 'bytes'])
          .where('owner', '=', owner)
          .where('conversation', '=', id)
          .where('item', '=', item)
          .executeTakeFirst();
        return row && { id: row.item, sealed: row.content, bytes: Number(row.bytes) };
      }),
    usage: (owner) =>
      translate(async () => {
        const counted = await db.selectFrom('turns').select(sql<number>`count(*)`.as('turns')).where('owner', '=', owner).executeTakeFirst();
        const held = await db.selectFrom('turn_bytes').select('bytes').where('owner', '=', owner).executeTakeFirst();
        return { turns: Number(counted?.turns ?? 0), bytes: Number(held?.bytes ?? 0) };
      }),
    forgetOwner: (owner, stopped) => translate(() => pruneTurns(db, dialect, { owner }, stopped)),
    owners: () =>
      translate(async () => {
        const rows = await db.selectFrom('turn_bytes').select('owner').execute();
        return rows.map(({ owner }) => owner);
      }),
    prune: (stopped) => translate(() => pruneTurns(db, dialect, { before: now() }, stopped)),
  };
}

/** More than all translators together run at once. */
const maxOpen = 10_000;

async function readChain(db: Kysely<Database>, owner: string, id: string, maxTurns: number): Promise<ChainLink[]> {
  // The depth bounds a chain that was made to lead back to itself.
  const { rows } = await sql<{ id: string; bytes: number; status: TurnStatus; kept_upstream: string | null }>`
    with recursive chain(id, parent, depth) as (
      select id, parent, 0 from turns where owner = ${owner} and id = ${id}
      union all
      select turns.id, turns.parent, chain.depth + 1 from turns join chain on turns.id = chain.parent where turns.owner = ${owner} and chain.depth < ${maxTurns}
    )
    select turns.id as id, turns.bytes as bytes, turns.status as status, turns.at_upstream as kept_upstream
    from chain join turns on turns.owner = ${owner} and turns.id = chain.id order by chain.depth desc`.execute(db);
  // What an upstream works on is waited for there.
  return rows.map(({ id: turn, bytes, status, kept_upstream }) => ({ id: turn, bytes: Number(bytes), status: kept_upstream === null ? status : 'completed' }));
}

/** Ids of one statement. */
const idsAtOnce = 500;

async function loadTurns(db: Kysely<Database>, owner: string, ids: readonly string[]): Promise<StoredTurn[]> {
  const found = new Map<string, StoredTurn>();
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const rows = await db
      .selectFrom('turns')
      .selectAll()
      .where('owner', '=', owner)
      .where('id', 'in', ids.slice(from, from + idsAtOnce))
      .execute();
    for (const row of rows) if (!row.deleted) found.set(row.id, decode(row));
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

async function readChainOf(db: Kysely<Database>, { requestId, id }: { requestId?: string; id?: string }, maxTurns: number): Promise<StoredTurn[]> {
  let query = db.selectFrom('turns').select(['owner', 'id']);
  if (requestId !== undefined) query = query.where('request_id', '=', requestId);
  if (id !== undefined) query = query.where('id', '=', id);
  const last = await query.limit(1).executeTakeFirst();
  if (!last) return [];
  const links = await readChain(db, last.owner, last.id, maxTurns);
  const rows = await db
    .selectFrom('turns')
    .selectAll()
    .where('owner', '=', last.owner)
    .where(
      'id',
      'in',
      links.map((link) => link.id),
    )
    .execute();
  const byId = new Map(rows.map((row) => [row.id, decode(row)]));
  return links.flatMap((link) => byId.get(link.id) ?? []).map((turn) => ({ ...turn, input: null, response: null }));
}

async function readItems(
  db: Kysely<Database>,
  owner: string,
  id: string,
  { after, limit, order }: ItemPage,
): Promise<{ items: StoredItem[]; hasMore: boolean } | undefined> {
  let query = db.selectFrom('conversation_items').select(['item', 'content', 'bytes']).where('owner', '=', owner).where('conversation', '=', id);
  if (after !== undefined) {
    const start = await db
      .selectFrom('conversation_items')
      .select('position')
      .where('owner', '=', owner)
      .where('conversation', '=', id)
      .where('item', '=', after)
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

function decode(columns: Selectable<TurnColumns>): StoredTurn {
  const { at_model, at_upstream, at_account, stream } = columns;
  const facts: TurnFacts = {
    id: columns.id,
    owner: columns.owner,
    parent: columns.parent,
    conversation: columns.conversation,
    model: columns.model,
    status: columns.status as TurnStatus,
    createdAt: Number(columns.created_at),
    background: Boolean(columns.background),
    holder: columns.holder,
    requestId: columns.request_id,
    ...(stream !== null && { stream }),
    ...(at_upstream !== null && { at: { model: at_model ?? '', upstream: at_upstream, account: at_account ?? '' } }),
  };
  return {
    ...facts,
    authority: Number(columns.authority),
    deleted: Boolean(columns.deleted),
    bytes: Number(columns.bytes),
    input: columns.input,
    response: columns.response,
    touchedAt: Number(columns.touched_at),
  };
}
