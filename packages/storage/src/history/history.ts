/** The history of the configuration: written inside each commit, read in pages, and folded into the difference between two revisions. */
import { GatewayError } from '@model-gateway/contracts/errors';
import { type Kysely, sql } from 'kysely';
import type { CatalogSection, RowChange, RowImage } from '../catalog/row-change.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import { cleanText } from '../requests/clean-text.ts';
import type { Database, HistoryColumns, HistoryRowColumns } from '../schema.ts';

/** The actor of a commit, and its reason. */
export interface CommitAuthor {
  actor: string;
  action: string;
  entity_type: string;
  entity_id: string;
  ip_address: string | null;
  request_id: string | null;
}

/** One commit of the configuration, as lists show it. */
export interface Commit extends CommitAuthor {
  revision: number;
  /** Milliseconds since the epoch. */
  occurred_at: number;
  /** How many rows it changed. */
  changes: number;
}

/** One page of commits, and the cursor of the next; null on the last page. */
export interface CommitPage {
  items: Commit[];
  nextCursor: string | null;
}

/** Reads earlier states of the configuration. */
export interface CatalogHistory {
  /** Newest first. Throws `validation_failed` naming `cursor`. */
  list(query: { limit: number; cursor?: string }): Promise<CommitPage>;
  find(revision: number): Promise<Commit | null>;
  /** Rows that differ between the states of two revisions (`from` < `to`), as they were at each. null: the history does not reach that far. */
  between(from: number, to: number): Promise<RowChange[] | null>;
}

const rowsPerStatement = 500;
const none: CommitAuthor = { actor: 'system', action: 'update', entity_type: 'config', entity_id: 'configuration', ip_address: null, request_id: null };

/** A commit to write: its author, and the rows it changed. */
export interface NewCommit {
  revision: number;
  at: number;
  author?: CommitAuthor | undefined;
  changes: readonly RowChange[];
  /** Only this many of the newest commits are kept. */
  keep: number;
}

/** When this revision was committed, in ms since the epoch. */
export async function commitTime(db: Kysely<Database>, revision: number): Promise<number | undefined> {
  const found = await db.selectFrom('catalog_history').select('occurred_at').where('revision', '=', revision).executeTakeFirst();
  return found?.occurred_at;
}

/** Inside the transaction of the commit. */
export async function writeCommit(db: Kysely<Database>, { revision, at, author = none, changes, keep }: NewCommit): Promise<void> {
  const { actor, entity_id, ...rest } = author;
  // A database restored to an older state reuses revision numbers: entries under these numbers are no longer true.
  await db.deleteFrom('catalog_history').where('revision', '>=', revision).execute();
  await db
    .insertInto('catalog_history')
    .values({ ...rest, revision, occurred_at: at, actor: cleanText(actor), entity_id: cleanText(entity_id), changes: changes.length })
    .execute();
  for (let start = 0; start < changes.length; start += rowsPerStatement) {
    const rows = changes.slice(start, start + rowsPerStatement).map(
      ({ section, name, before, after }, index): HistoryRowColumns => ({
        revision,
        position: start + index,
        section,
        name,
        row_before: before && JSON.stringify(before),
        row_after: after && JSON.stringify(after),
      }),
    );
    await db.insertInto('catalog_history_rows').values(rows).execute();
  }
  await db
    .deleteFrom('catalog_history')
    .where('revision', '<=', revision - keep)
    .execute();
}

export function createHistory(db: Kysely<Database>, dialect: StorageDialect): CatalogHistory {
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
  return {
    async list({ limit, cursor }) {
      const before = cursor === undefined ? null : readCursor(cursor);
      let query = db.selectFrom('catalog_history').selectAll().orderBy('revision', 'desc');
      if (before !== null) query = query.where('revision', '<', before);
      const rows = await translate(() => query.limit(limit + 1).execute());
      const items = rows.slice(0, limit).map(toCommit);
      const last = items.at(-1);
      return { items, nextCursor: rows.length > limit && last ? String(last.revision) : null };
    },
    find: (revision) =>
      translate(async () => {
        const row = await db.selectFrom('catalog_history').selectAll().where('revision', '=', revision).executeTakeFirst();
        return row ? toCommit(row) : null;
      }),
    between: (from, to) => translate(() => changesBetween(db, from, to)),
  };
}

/** Also inside a transaction. */
export async function changesBetween(db: Kysely<Database>, from: number, to: number): Promise<RowChange[] | null> {
  const { known } = await db
    .selectFrom('catalog_history')
    .select(sql<number>`count(*)`.as('known'))
    .where('revision', '>', from)
    .where('revision', '<=', to)
    .executeTakeFirstOrThrow();
  if (Number(known) !== to - from) return null;
  const rows = await db
    .selectFrom('catalog_history_rows')
    .selectAll()
    .where('revision', '>', from)
    .where('revision', '<=', to)
    .orderBy('revision')
    .orderBy('position')
    .execute();
  const folded = new Map<string, { first: HistoryRowColumns; last: HistoryRowColumns }>();
  for (const row of rows) {
    const key = `${row.section}\n${row.name}`;
    const known = folded.get(key);
    if (known) known.last = row;
    else folded.set(key, { first: row, last: row });
  }
  return [...folded.values()]
    .filter(({ first, last }) => first.row_before !== last.row_after)
    .map(({ first, last }) => ({
      section: first.section as CatalogSection,
      name: first.name,
      before: toImage(first.row_before),
      after: toImage(last.row_after),
    }));
}

const toImage = (text: string | null): RowImage | null => (text === null ? null : (JSON.parse(text) as RowImage));

const toCommit = ({ revision, occurred_at, actor, action, entity_type, entity_id, ip_address, request_id, changes }: HistoryColumns): Commit => ({
  revision,
  occurred_at,
  actor,
  action,
  entity_type,
  entity_id,
  ip_address,
  request_id,
  changes,
});

function readCursor(cursor: string): number {
  if (!/^\d{1,15}$/.test(cursor))
    throw new GatewayError('validation_failed', { message: 'This cursor is not valid: send the next_cursor of an earlier reply.', param: 'cursor' });
  return Number(cursor);
}
