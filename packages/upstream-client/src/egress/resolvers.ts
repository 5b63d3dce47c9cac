/** One resolver for each set of DNS settings in use, shared by the pools that have it and closed with the last of them. */
import type { AddressPolicy } from '../address.ts';
import { wayTls } from '../dialer.ts';
import { createExchanges } from '../dns/exchange.ts';
import { createDnsResolver } from '../dns/resolver.ts';
import type { Resolve } from '../lookup.ts';
import type { Egress } from './egress.ts';

export interface Resolvers {
  /** undefined: the ordinary way. Each call is paired with one `release`. */
  acquire(egress: Egress | undefined): Resolve | undefined;
  release(egress: Egress | undefined): Promise<void>;
}

interface Entry {
  resolve: Resolve;
  close(): Promise<void>;
  users: number;
}

export function createResolvers({ policy, resolve, ca }: { policy: AddressPolicy; resolve?: Resolve | undefined; ca?: string | undefined }): Resolvers {
  const entries = new Map<string, Entry>();
  return {
    acquire(egress) {
      if (!egress?.dns) return resolve;
      let entry = entries.get(egress.id);
      if (!entry) {
        const exchanges = createExchanges({ policy, tls: wayTls(egress, ca) });
        entry = { resolve: createDnsResolver(egress.dns, exchanges.exchange).resolve, close: exchanges.close, users: 0 };
        entries.set(egress.id, entry);
      }
      entry.users++;
      return entry.resolve;
    },
    async release(egress) {
      const entry = egress?.dns ? entries.get(egress.id) : undefined;
      if (!egress || !entry || --entry.users > 0) return;
      entries.delete(egress.id);
      await entry.close();
    },
  };
}
