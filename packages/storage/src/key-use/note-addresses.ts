/** Keeps from which addresses each access key was used, in the transaction that writes the rows. */
import { addressKey } from '@model-gateway/contracts/address-key';
import { type Kysely, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { cleanText } from '../requests/clean-text.ts';
import type { StoredRow } from '../requests/row-codec.ts';
import type { Database } from '../schema.ts';

/** An address is written again when it was last written so long ago: what is used all the time costs nothing. */
const renewMs = 10 * 60_000;
const maxRemembered = 50_000;
/** Addresses kept of one key. A key that is used from more is one that is shared: further addresses of it say nothing and are left out. */
export const maxAddressesPerKey = 256;

interface Use {
  key: string;
  address: string;
  first: number;
  last: number;
}

/** Between names, which hold no control characters, and addresses. */
const between = '\n';

export class AddressBook {
  /** Last time that was written, by key and address. */
  readonly #written = new LRUCache<string, number>({ max: maxRemembered });

  /** Inside the transaction of the rows; the returned function runs after the commit. */
  async note(db: Kysely<Database>, rows: readonly StoredRow[]): Promise<() => void> {
    const uses = this.#newUses(rows);
    for (const use of uses) await write(db, use);
    return () => {
      for (const { key, address, last } of uses) this.#written.set(key + between + address, last);
    };
  }

  /** In one order, so that writers that lock rows cannot block each other. */
  #newUses(rows: readonly StoredRow[]): Use[] {
    const uses = new Map<string, Use>();
    // Most rows of a batch come from few callers, whose texts are read once.
    const byText = new Map<string, Use>();
    for (const { access_key, client_ip, started_at: at, kind } of rows) {
      if (access_key === null || client_ip === null || kind === 'orphan') continue;
      const text = access_key + between + client_ip;
      let use = byText.get(text);
      if (!use) {
        const key = cleanText(access_key);
        const address = addressKey(cleanText(client_ip));
        const id = key + between + address;
        use = uses.get(id) ?? { key, address, first: at, last: at };
        uses.set(id, use);
        byText.set(text, use);
      }
      if (at < use.first) use.first = at;
      if (at > use.last) use.last = at;
    }
    return [...uses]
      .filter(([id, { last }]) => last - (this.#written.get(id) ?? Number.NEGATIVE_INFINITY) >= renewMs)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, use]) => use);
  }
}

async function write(db: Kysely<Database>, { key, address, first, last }: Use): Promise<void> {
  const updated = await sql`update key_addresses set first_at = case when first_at > ${first} then ${first} else first_at end,
    last_at = case when last_at < ${last} then ${last} else last_at end where access_key = ${key} and address = ${address}`.execute(db);
  if (Number(updated.numAffectedRows ?? 0) > 0) return;
  const counted = await sql<{ count: number | string }>`select count(*) as count from key_addresses where access_key = ${key}`.execute(db);
  if (Number(counted.rows[0]?.count ?? 0) >= maxAddressesPerKey) return;
  await sql`insert into key_addresses (access_key, address, first_at, last_at) values (${key}, ${address}, ${first}, ${last})
    on conflict (access_key, address) do update set last_at = case when key_addresses.last_at < ${last} then ${last} else key_addresses.last_at end`.execute(
    db,
  );
}
