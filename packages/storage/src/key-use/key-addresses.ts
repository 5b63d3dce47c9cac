/** From which addresses access keys were used: read, accepted and forgotten here; `note-addresses.ts` writes them with the rows. */
import { type Kysely, sql } from 'kysely';
import { pauseOfDeletion } from '../delete-in-pieces.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database, KeyAddressColumns } from '../schema.ts';

/** One address of one key; IPv6 by its /64. Times in ms since the epoch. */
export type KeyAddress = KeyAddressColumns;

/** The repository of addresses of access keys. */
export interface KeyAddresses {
  /** Of one key, the latest first. */
  list(accessKey: string): Promise<KeyAddress[]>;
  /** First seen since then, by keys that had been used from another address before, and accepted by nobody; the newest first. */
  newSince(since: number, limit: number): Promise<KeyAddress[]>;
  /** All addresses that the key has been used from by now are the owner's. Resolves with how many were not accepted before. */
  accept(accessKey: string, now: number): Promise<number>;
  /** Forgets what was last seen before this time (ms since the epoch), and what belongs to a key that is gone. `stopped` ends it early. */
  prune(before: number, stopped?: () => boolean): Promise<void>;
}

const toAddress = ({ accepted_at, first_at, last_at, ...rest }: KeyAddressColumns): KeyAddress => ({
  ...rest,
  first_at: Number(first_at),
  last_at: Number(last_at),
  accepted_at: accepted_at === null ? null : Number(accepted_at),
});

export function createKeyAddresses(db: Kysely<Database>, dialect: StorageDialect): KeyAddresses {
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
  return {
    list: (accessKey) =>
      translate(async () =>
        (await db.selectFrom('key_addresses').selectAll().where('access_key', '=', accessKey).orderBy('last_at', 'desc').orderBy('address').execute()).map(
          toAddress,
        ),
      ),
    newSince: (since, limit) =>
      translate(async () => {
        // A row of a key that was deleted, or is older than a key that was made anew under its name, says nothing of the present one.
        const { rows } = await sql<KeyAddressColumns>`select fresh.access_key, fresh.address, fresh.first_at, fresh.last_at, fresh.accepted_at
          from key_addresses fresh join access_keys on access_keys.name = fresh.access_key
          where fresh.first_at >= ${since} and fresh.accepted_at is null and exists (select 1 from key_addresses earlier
            where earlier.access_key = fresh.access_key and earlier.first_at < fresh.first_at and earlier.last_at >= access_keys.created_at)
          order by fresh.first_at desc, fresh.access_key limit ${limit}`.execute(db);
        return rows.map(toAddress);
      }),
    accept: (accessKey, now) =>
      translate(async () => {
        const { numUpdatedRows } = await db
          .updateTable('key_addresses')
          .set({ accepted_at: now })
          .where('access_key', '=', accessKey)
          .where('accepted_at', 'is', null)
          .executeTakeFirst();
        return Number(numUpdatedRows);
      }),
    prune: (before, stopped = () => false) => translate(() => forget(db, before, stopped)),
  };
}

/** Rows that one statement looks at. */
const rowsAtOnce = 500;

/** By runs of the primary key: which rows go is in no index, so that pieces found by that would each read the whole table. */
async function forget(db: Kysely<Database>, before: number, stopped: () => boolean): Promise<void> {
  let after = { access_key: '', address: '' };
  while (!stopped()) {
    const from = sql`(access_key, address) > (${after.access_key}, ${after.address})`;
    const { rows } = await sql<typeof after>`select access_key, address from key_addresses where ${from}
      order by access_key, address limit 1 offset ${rowsAtOnce - 1}`.execute(db);
    const last = rows[0];
    const run = last ? sql`${from} and (access_key, address) <= (${last.access_key}, ${last.address})` : from;
    await sql`delete from key_addresses where ${run} and
      (last_at < ${before} or not exists (select 1 from access_keys where access_keys.name = key_addresses.access_key))`.execute(db);
    if (!last) return;
    after = last;
    await pauseOfDeletion();
  }
}
