/** The repository of dead letters: a repeated one is counted, and the oldest are deleted when there are too many. */
import type { DeadLetter } from '@model-gateway/contracts';
import { type Kysely, type SqlBool, sql } from 'kysely';
import { deleteOlder } from '../delete-in-pieces.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import { cleanText } from '../requests/clean-text.ts';
import { readCursor, writeCursor } from '../requests/cursor.ts';
import type { Database } from '../schema.ts';

/** One page of dead letters. */
export interface DeadLetterQuery {
  subject?: string;
  cursor?: string;
  limit: number;
}

/** The repository of dead letters. */
export interface DeadLetters {
  /** An existing one is counted again. Beyond `maxLetters` the oldest are deleted. */
  add(letters: readonly DeadLetter[]): Promise<void>;
  /** The newest first. Throws `validation_failed` naming `cursor`. */
  list(query: DeadLetterQuery): Promise<{ items: DeadLetter[]; nextCursor: string | null }>;
  find(id: string): Promise<DeadLetter | null>;
  /** Whether there was one. */
  remove(id: string): Promise<boolean>;
  count(): Promise<number>;
  /** Deletes those last seen before this time (ms since the epoch). Resolves with the number deleted. */
  prune(before: number, stopped?: () => boolean): Promise<number>;
}

/** Flooding the bus must not fill the disk. */
export const maxDeadLetters = 5_000;
const lettersPerStatement = 200;

export function createDeadLetters(db: Kysely<Database>, dialect: StorageDialect, max = maxDeadLetters): DeadLetters {
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
  const countAll = async (): Promise<number> => {
    const found = await db
      .selectFrom('dead_letters')
      .select((eb) => eb.fn.countAll<number | string>().as('count'))
      .executeTakeFirst();
    return Number(found?.count ?? 0);
  };
  const forgetOldest = async (): Promise<void> => {
    const beyond = (await countAll()) - max;
    if (beyond > 0) await sql`delete from dead_letters where id in (select id from dead_letters order by last_at, id limit ${beyond})`.execute(db);
  };
  return {
    add: (letters) =>
      translate(async () => {
        const merged = merge(letters.map(clean));
        for (let start = 0; start < merged.length; start += lettersPerStatement) await upsert(db, merged.slice(start, start + lettersPerStatement));
        if (merged.length > 0) await forgetOldest();
      }),
    async list({ subject, cursor, limit }) {
      const position = cursor === undefined ? null : readCursor(cursor);
      let query = db.selectFrom('dead_letters').selectAll();
      if (subject !== undefined) query = query.where('subject', '=', subject);
      if (position) query = query.where(sql<SqlBool>`(last_at, id) < (${position.startedAt}, ${position.id})`);
      // One more than requested shows whether there is a next page.
      const rows = await translate(() =>
        query
          .orderBy('last_at', 'desc')
          .orderBy('id', 'desc')
          .limit(limit + 1)
          .execute(),
      );
      const items = rows.slice(0, limit);
      const last = items.at(-1);
      return { items, nextCursor: rows.length > limit && last ? writeCursor({ startedAt: last.last_at, id: last.id }) : null };
    },
    find: (id) => translate(async () => (await db.selectFrom('dead_letters').selectAll().where('id', '=', id).executeTakeFirst()) ?? null),
    remove: (id) => translate(async () => Number((await db.deleteFrom('dead_letters').where('id', '=', id).executeTakeFirst()).numDeletedRows) > 0),
    count: () => translate(countAll),
    prune: (before, stopped = () => false) => translate(() => deleteOlder(db, { table: 'dead_letters', time: 'last_at', before }, stopped)),
  };
}

/** Longest excerpt: a whole row of a request mostly fits. */
const maxExcerptLength = 8_192;
const maxWordLength = 500;

const clean = (letter: DeadLetter): DeadLetter => ({
  ...letter,
  item_id: cleanText(letter.item_id, maxWordLength),
  reason: cleanText(letter.reason, maxWordLength),
  excerpt: cleanText(letter.excerpt, maxExcerptLength),
});

/** One statement may not touch a row twice, and statements that lock rows in one order cannot block each other. */
function merge(letters: readonly DeadLetter[]): DeadLetter[] {
  const merged = new Map<string, DeadLetter>();
  for (const letter of letters) {
    const known = merged.get(letter.id);
    merged.set(
      letter.id,
      known
        ? { ...known, times: known.times + letter.times, first_at: Math.min(known.first_at, letter.first_at), last_at: Math.max(known.last_at, letter.last_at) }
        : letter,
    );
  }
  return [...merged.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

const upsert = (db: Kysely<Database>, letters: DeadLetter[]): Promise<unknown> =>
  db
    .insertInto('dead_letters')
    .values(letters)
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        times: sql`dead_letters.times + excluded.times`,
        last_at: eb.ref('excluded.last_at'),
      })),
    )
    .execute();
