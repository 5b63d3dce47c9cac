/** When access keys were last used: one index look-up for each key, however many requests it made. */
import { type Kysely, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';

/** Key name → ms since the epoch; keys without a request (or whose requests were forgotten) are absent. */
export type LastUsed = (accessKeys: readonly string[]) => Promise<Map<string, number>>;

/** A clock may be a little ahead; anything further was written by one that is wrong. */
const aheadMs = 86_400_000;

export const createLastUsed =
  (db: Kysely<Database>, dialect: StorageDialect, now: () => number): LastUsed =>
  async (accessKeys) => {
    try {
      const found = await Promise.all(
        accessKeys.map((name) =>
          db
            .selectFrom('request_stats')
            .select(sql<number>`started_at`.as('at'))
            .where('access_key', '=', name)
            .where('started_at', '<=', now() + aheadMs)
            .orderBy('started_at', 'desc')
            .limit(1)
            .executeTakeFirst(),
        ),
      );
      return new Map(accessKeys.flatMap((name, index) => (found[index] ? [[name, Number(found[index].at)] as const] : [])));
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
