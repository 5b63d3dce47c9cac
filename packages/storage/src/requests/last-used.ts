/** When access keys were last used: one index look-up for each key, however many requests it made, all in one statement. */
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
    if (accessKeys.length === 0) return new Map();
    try {
      // Planned once: with a partition for each day, planning takes longer than looking.
      const rows = await db
        .selectFrom('access_keys')
        .select((eb) => [
          'name',
          eb
            .selectFrom('request_stats')
            .select(sql<number>`started_at`.as('at'))
            .whereRef('request_stats.access_key', '=', 'access_keys.name')
            .where('started_at', '<=', now() + aheadMs)
            .orderBy('started_at', 'desc')
            .limit(1)
            .as('at'),
        ])
        .where('name', 'in', accessKeys)
        .execute();
      return new Map(rows.flatMap(({ name, at }) => (at === null ? [] : [[name, Number(at)] as const])));
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
