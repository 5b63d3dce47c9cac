/** Reads turns and chains of turns, each with a number of statements that does not depend on the chain's length. */
import type { TurnFacts, TurnStatus } from '@model-gateway/contracts';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { Database, TurnColumns } from '../schema.ts';
import { isStorableId, itemKey } from './ids.ts';
import type { StoredTurn } from './stored-turn.ts';

/** One turn of a chain as the first look at it shows it. */
export interface ChainLink {
  id: string;
  parent: string | null;
  bytes: number;
  status: TurnStatus;
  deleted: boolean;
}

/** Ids of one statement. */
const idsAtOnce = 2_000;
/** More than all translators together run at once. */
const maxOpen = 10_000;

/** The turn and its ancestors, the oldest first, one more than `maxTurns` at most. */
export async function readChain(db: Kysely<Database>, owner: string, id: string, maxTurns: number): Promise<ChainLink[]> {
  if (!isStorableId(id)) return [];
  // The depth bounds a chain that was made to lead back to itself.
  const { rows } = await sql<{ id: string; parent: string | null; bytes: number; status: TurnStatus; deleted: unknown; at_upstream: string | null }>`
    with recursive chain(id, parent, bytes, status, deleted, at_upstream, depth) as (
      select id, parent, bytes, status, deleted, at_upstream, 0 from turns where owner = ${owner} and id = ${id}
      union all
      select turns.id, turns.parent, turns.bytes, turns.status, turns.deleted, turns.at_upstream, chain.depth + 1
      from turns join chain on turns.id = chain.parent where turns.owner = ${owner} and chain.depth < ${maxTurns}
    )
    select id, parent, bytes, status, deleted, at_upstream from chain order by depth desc`.execute(db);
  // What an upstream works on is waited for there.
  return rows.map(({ id: turn, parent, bytes, status, deleted, at_upstream }) => ({
    id: turn,
    parent,
    bytes: Number(bytes),
    status: at_upstream === null ? status : 'completed',
    deleted: Boolean(deleted),
  }));
}

export async function loadTurns(db: Kysely<Database>, owner: string, ids: readonly string[]): Promise<StoredTurn[]> {
  const found = new Map<string, StoredTurn>();
  for (const some of pieces(ids.filter(isStorableId))) {
    const rows = await db.selectFrom('turns').selectAll().where('owner', '=', owner).where('id', 'in', some).execute();
    for (const row of rows) if (!row.deleted) found.set(row.id, decodeTurn(row));
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

function* pieces(ids: readonly string[]): Iterable<string[]> {
  for (let from = 0; from < ids.length; from += idsAtOnce) yield ids.slice(from, from + idsAtOnce);
}

export async function findTurnsOfItems(db: Kysely<Database>, owner: string, items: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const some of pieces([...new Set(items.map(itemKey))])) {
    const rows = await db.selectFrom('turn_items').select(['item', 'turn']).where('owner', '=', owner).where('item', 'in', some).execute();
    for (const { item, turn } of rows) found.set(item, turn);
  }
  return new Map(
    items.flatMap((item) => {
      const turn = found.get(itemKey(item));
      return turn === undefined ? [] : [[item, turn] as const];
    }),
  );
}

const factColumns = [
  ...(['owner', 'id', 'parent', 'conversation', 'model', 'status', 'authority', 'background', 'holder', 'request_id', 'stream'] as const),
  ...(['at_model', 'at_upstream', 'at_account', 'created_at', 'touched_at', 'deleted', 'bytes'] as const),
] as const;

/** Written out, not bound: an index over these rows alone is only used where the statement itself says that no other row can match. */
const notEnded = sql<boolean>`status in ('queued', 'in_progress')`;

const withoutContent = { input: null, response: null };

export async function readOpen(db: Kysely<Database>): Promise<StoredTurn[]> {
  const rows = await db.selectFrom('turns').select(factColumns).where(notEnded).where('at_upstream', 'is', null).limit(maxOpen).execute();
  return rows.map((row) => decodeTurn({ ...row, ...withoutContent }));
}

export async function readChainOf(db: Kysely<Database>, owner: string, id: string, maxTurns: number): Promise<StoredTurn[]> {
  const ids = (await readChain(db, owner, id, maxTurns)).map((link) => link.id);
  if (ids.length === 0) return [];
  const rows = await db.selectFrom('turns').select(factColumns).where('owner', '=', owner).where('id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.id, decodeTurn({ ...row, ...withoutContent })]));
  return ids.flatMap((one) => byId.get(one) ?? []);
}

export function decodeTurn(columns: Omit<Selectable<TurnColumns>, 'expires_at' | 'response_bytes'>): StoredTurn {
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

/** Whether a turn, other than `except`, works on the conversation. */
export async function hasRunningTurn(
  db: Kysely<Database>,
  { owner, conversation, except }: { owner: string; conversation: string; except?: string },
): Promise<boolean> {
  if (!isStorableId(conversation)) return false;
  let query = db.selectFrom('turns').select('id').where('owner', '=', owner).where('conversation', '=', conversation).where(notEnded);
  if (except !== undefined) query = query.where('id', '<>', except);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}
