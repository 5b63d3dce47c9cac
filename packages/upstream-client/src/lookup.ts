/** Names become addresses here, and no address that is not allowed leaves. */
import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { type AddressPolicy, isAddressAllowed } from './address.ts';
import { DialError } from './fault.ts';

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;
export type Resolve = (host: string, options: LookupOptions, callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void) => void;
export type Lookup = (host: string, options: LookupOptions, callback: LookupCallback) => void;

const systemResolve: Resolve = (host, options, callback) => dnsLookup(host, { ...options, all: true }, callback);

/** A `lookup` for sockets that hands on allowed addresses alone. */
export function guardedLookup(policy: AddressPolicy, resolve: Resolve = systemResolve): Lookup {
  return (host, options, callback) => {
    resolve(host, options, (error, addresses) => {
      if (error) return callback(new DialError('connect', 'dns', `name not resolved: ${error.code}`, error), []);
      if (addresses.length === 0) return callback(new DialError('connect', 'dns', 'the name has no address of the family that is needed'), []);
      const allowed = addresses.filter((one) => isAddressAllowed(one.address, policy));
      const first = allowed[0];
      if (first === undefined) return callback(new DialError('refused-address', 'dns', `all ${addresses.length} addresses of ${host} are refused`), []);
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
