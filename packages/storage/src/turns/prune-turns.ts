/** Forgets turns and conversations: those that have expired, or all of one owner. In small pieces, so that nobody waits for long. */
import { type Kysely, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { OwnerBytes } from './owner-bytes.ts';

/** What is forgotten. */
export type Forgotten = { owner: string } | { before: number };

/** Each may be megabytes. */
const rowsAtOnce = 50;
const pauseMs = 5;

/** What it is forgotten in. */
export interface PruneContext {
  db: Kysely<Database>;
  dialect: StorageDialect;
}

/** Resolves with the number of turns. */
export async function pruneTurns(context: PruneContext, what: Forgotten, stopped: () => boolean = () => false): Promise<number> {
  const { db } = context;
  const turns = await repeat(() => pruneSome(context, what), stopped);
  await repeat(() => pruneConversations(context, what), stopped);
  if ('owner' in what && !stopped()) await db.deleteFrom('turn_bytes').where('owner', '=', what.owner).execute();
  return turns;
}

async function repeat(piece: () => Promise<number>, stopped: () => boolean): Promise<number> {
  let all = 0;
  while (!stopped()) {
    const gone = await piece();
    if (gone === 0) break;
    all += gone;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return all;
}

async function pruneSome({ db, dialect }: PruneContext, what: Forgotten): Promise<number> {
  let query = db.selectFrom('turns').select(['owner', 'id']);
  query = 'owner' in what ? query.where('owner', '=', what.owner) : query.where('expires_at', '<=', what.before);
  const rows = await query.limit(rowsAtOnce).execute();
  await db.transaction().execute(async (transaction) => {
    const bytes = await OwnerBytes.lock(transaction, dialect, ownersOf(rows));
    for (const { owner, id } of rows) {
      await transaction.deleteFrom('turn_items').where('owner', '=', owner).where('turn', '=', id).execute();
      const gone = await transaction.deleteFrom('turns').where('owner', '=', owner).where('id', '=', id).returning('bytes').executeTakeFirst();
      bytes.add(owner, -Number(gone?.bytes ?? 0));
    }
    await bytes.save();
  });
  return rows.length;
}

async function pruneConversations({ db, dialect }: PruneContext, what: Forgotten): Promise<number> {
  let query = db.selectFrom('conversations').select(['owner', 'id']);
  query = 'owner' in what ? query.where('owner', '=', what.owner) : query.where('expires_at', '<=', what.before);
  const rows = await query.limit(rowsAtOnce).execute();
  await db.transaction().execute(async (transaction) => {
    const bytes = await OwnerBytes.lock(transaction, dialect, ownersOf(rows));
    for (const { owner, id } of rows) bytes.add(owner, -(await dropConversation(transaction, owner, id)));
    await bytes.save();
  });
  return rows.length;
}

const ownersOf = (rows: readonly { owner: string }[]): string[] => rows.map(({ owner }) => owner);

/** The conversation and its items; resolves with the bytes that they held. */
export async function dropConversation(db: Kysely<Database>, owner: string, id: string): Promise<number> {
  const held = await db
    .selectFrom('conversation_items')
    .select(sql<number>`coalesce(sum(bytes), 0)`.as('bytes'))
    .where('owner', '=', owner)
    .where('conversation', '=', id)
    .executeTakeFirst();
  await db.deleteFrom('conversation_items').where('owner', '=', owner).where('conversation', '=', id).execute();
  await db.deleteFrom('conversations').where('owner', '=', owner).where('id', '=', id).execute();
  return Number(held?.bytes ?? 0);
}
