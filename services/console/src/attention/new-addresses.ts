/** Access keys that were used from an address they had not been used from before. */
import { isoTime } from '../api/answers/iso-time.ts';
import type { ConsoleContext } from '../context.ts';

/** How long an address is new. */
export const newAddressMs = 24 * 3_600_000;
/** Read at most: a key with more than a few of them is one line all the same. */
const maxRead = 1_000;

/** A key with the addresses that are new, the newest first. */
export interface NewAddresses {
  access_key: string;
  addresses: string[];
  first_at: string;
}

export async function newAddresses({ storage, now }: Pick<ConsoleContext, 'storage' | 'now'>): Promise<NewAddresses[]> {
  const found = await storage.keyAddresses.newSince(now() - newAddressMs, maxRead);
  const keys = new Map<string, NewAddresses>();
  for (const { access_key, address, first_at } of found) {
    const known = keys.get(access_key);
    if (known) known.addresses.push(address);
    else keys.set(access_key, { access_key, addresses: [address], first_at: isoTime(first_at) });
  }
  return [...keys.values()];
}
