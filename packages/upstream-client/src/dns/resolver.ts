/** Resolves names by an upstream's own DNS servers: cached as long as answers hold, asked once however many wait, servers tried in order. */

import { randomInt } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { DnsServer, DnsSettings } from '../egress/egress.ts';
import type { Resolve } from '../lookup.ts';
import type { AddressType, DnsReply, Question } from './message.ts';

/** Asks one server one question; rejects when it gave no reply to it in time. */
export type Exchange = (server: DnsServer, question: Question) => Promise<DnsReply>;

/** Longest life of "there is no such name": short, since a name that is being set up is asked for early. */
const negativeSecs = 30;
const maxNames = 1024;
const maxChainLength = 8;
/** How long IPv6 may take once IPv4 is known (RFC 8305 waits likewise). */
const secondFamilyMs = 250;

/** Labels of at most 63 characters, 253 in all: longer ones would be another name on the wire. */
const dnsName = /^(?=.{1,253}$)[^.]{1,63}(?:\.[^.]{1,63})*$/;

interface Known {
  addresses: LookupAddress[];
  /** Of the answer "there is none". */
  code: string | null;
  expires: number;
}

export class DnsError extends Error {
  override readonly name = 'DnsError';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface DnsResolver {
  resolve: Resolve;
  /** Addresses of a bare host name. Rejects with DnsError. */
  lookup(name: string): Promise<LookupAddress[]>;
}

/** `now` in ms, monotonic. */
export function createDnsResolver({ servers, ttlSecs }: DnsSettings, exchange: Exchange, now: () => number = () => performance.now()): DnsResolver {
  const known = new LRUCache<string, Known>({ max: maxNames });
  const asking = new Map<string, Promise<Known>>();

  /** The first server that knows. Servers that fail are passed over; "no such name" is an answer. */
  async function ask(name: string, type: AddressType): Promise<DnsReply> {
    let last: unknown;
    for (const server of servers) {
      try {
        const reply = await exchange(server, { id: server.scheme === 'https' ? 0 : randomInt(0x10000), name, type });
        if (reply.rcode === 'NOERROR' || reply.rcode === 'NXDOMAIN') return reply;
        last = new DnsError(reply.rcode, 'the server refused the question');
      } catch (error) {
        last = error;
      }
    }
    throw last instanceof DnsError ? last : new DnsError('EAI_AGAIN', `no server answered: ${last instanceof Error ? last.message : 'unreachable'}`);
  }

  /** Follows aliases that lead out of an answer. */
  async function askFamily(host: string, type: AddressType): Promise<Pick<DnsReply, 'addresses' | 'ttl' | 'rcode'>> {
    let ttl = Number.POSITIVE_INFINITY;
    let name = host;
    for (let step = 0; step < maxChainLength; step++) {
      const reply = await ask(name, type);
      ttl = Math.min(ttl, reply.ttl);
      if (reply.alias === null || reply.rcode === 'NXDOMAIN') return { addresses: reply.addresses, ttl, rcode: reply.rcode };
      name = reply.alias;
    }
    throw new DnsError('ELOOP', `more than ${maxChainLength} aliases`);
  }

  async function find(host: string): Promise<Known> {
    const four = askFamily(host, 'A');
    const six = askFamily(host, 'AAAA');
    const [first, second] = await Promise.all([settled(four), settled(Promise.race([six, after(four, secondFamilyMs)]))]);
    const found = [first, second].flatMap((one) => ('value' in one ? [one.value] : []));
    const addresses = found.flatMap((one) => one.addresses.map((address): LookupAddress => ({ address, family: isIP(address) })));
    if (addresses.length > 0) {
      const ttl = Math.min(...found.filter((one) => one.addresses.length > 0).map((one) => one.ttl), ttlSecs);
      return { addresses, code: null, expires: now() + ttl * 1000 };
    }
    if ('error' in first) throw first.error;
    if ('error' in second) throw second.error;
    const ttl = Math.min(...found.map((one) => one.ttl), ttlSecs, negativeSecs);
    return { addresses, code: first.value.rcode === 'NXDOMAIN' ? 'ENOTFOUND' : 'ENODATA', expires: now() + ttl * 1000 };
  }

  function remember(name: string, entry: Known): void {
    known.delete(name);
    if (entry.expires <= now()) return;
    known.set(name, entry);
  }

  async function lookup(name: string): Promise<LookupAddress[]> {
    if (!dnsName.test(name)) throw new DnsError('ENOTFOUND', 'this is not a valid DNS name');
    let entry = known.get(name);
    if (entry === undefined || entry.expires <= now()) {
      let question = asking.get(name);
      if (question === undefined) {
        question = find(name).finally(() => asking.delete(name));
        asking.set(name, question);
        question.then((found) => remember(name, found)).catch(() => {});
      }
      entry = await question;
    }
    if (entry.code !== null) throw new DnsError(entry.code, 'no address is known for this name');
    return entry.addresses;
  }

  return {
    lookup,
    resolve(host, options, callback) {
      const name = host.toLowerCase().replace(/\.$/, '');
      const wanted = options.family === 4 || options.family === 'IPv4' ? 4 : options.family === 6 || options.family === 'IPv6' ? 6 : 0;
      // Loopback by definition (RFC 6761): no server is asked for it.
      const addresses = name === 'localhost' || name.endsWith('.localhost') ? Promise.resolve([{ address: '127.0.0.1', family: 4 }]) : lookup(name);
      addresses.then(
        (all) => callback(null, wanted === 0 ? all : all.filter(({ family }) => family === wanted)),
        (error: unknown) => callback(error as NodeJS.ErrnoException, []),
      );
    },
  };
}

const settled = <T>(promise: Promise<T>): Promise<{ value: T } | { error: unknown }> =>
  promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

/** Rejects `ms` after `first` gave addresses; never settles before. */
function after(first: Promise<{ addresses: readonly string[] }>, ms: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    first.then(
      ({ addresses }) => {
        if (addresses.length > 0) setTimeout(() => reject(new DnsError('EAI_AGAIN', 'the other family came too late')), ms).unref();
      },
      () => {},
    );
  });
}
