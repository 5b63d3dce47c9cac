/** Against guessing: an address with too many failures is banned for a while, a user name with many is answered more slowly. A success forgives the failures of its own name alone. */
import { createHash } from 'node:crypto';
import { addressKey } from '@model-gateway/contracts';
import type { Attempts } from '@model-gateway/distributed-state';
import { Problem } from '../problem.ts';

/** Limits failed sign-ins by address. */
export interface AttemptGuard {
  /**
   * Runs one attempt; `look` gives null when it fails. Throws 429 with the seconds that are left when the address is banned, or when too many wait.
   * Attempts of one address follow one another, so that those sent at once do not all slip through under the limit.
   */
  attempt<T>(ipAddress: string, username: string, look: () => Promise<T | null>): Promise<T | null>;
  /** Throws as `attempt` does, counts nothing. */
  refuseBanned(ipAddress: string): Promise<void>;
  /** A token that is no session's: so many a minute per address, then 429. */
  countUnknownToken(ipAddress: string): Promise<void>;
}

/** Limits on failed sign-ins from one address. */
export interface GuardOptions {
  attempts: Attempts;
  maxFailures: number;
  banMs: number;
  /** Called once for each ban. */
  onBan?: (ipAddress: string) => void;
  /** Waits so many ms. */
  sleep?: (ms: number) => Promise<void>;
}

/** Failures of an address are counted whatever their distance; a day without any bounds the memory. */
const keepFailuresMs = 24 * 3_600_000;
const keepNameMs = 15 * 60_000;
/** Failures of one name that cost nothing. */
const freeFailures = 3;
const firstDelayMs = 250;
const maxDelayMs = 5_000;
/** Attempts held back at once: a flood of names must not become a heap of waiting requests. */
const maxHeld = 200;
/** Attempts of one address that wait for one another. */
const maxLaneLength = 32;
const unknownTokens = 120;
const minuteMs = 60_000;

/** Names are the caller's: of any length and kind, and not to be kept as they are. */
const nameKey = (username: string): string => createHash('sha256').update(username, 'utf8').digest('base64url').slice(0, 22);

export const delayOf = (failures: number): number =>
  failures < freeFailures ? 0 : Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(10, failures - freeFailures));

export function createAttemptGuard({ attempts, maxFailures, banMs, onBan, sleep = wait }: GuardOptions): AttemptGuard {
  const lanes = createLanes();
  let held = 0;
  const refuseBanned = async (address: string) => {
    const left = await attempts.bannedMs(`ban:${address}`);
    if (left > 0) throw banned(left);
  };
  const holdBack = async (delay: number) => {
    if (delay === 0) return;
    if (held >= maxHeld) throw slowed(Math.ceil(delay / 1000));
    held++;
    await sleep(delay).finally(() => held--);
  };
  return {
    refuseBanned: (ipAddress) => refuseBanned(addressKey(ipAddress)),
    attempt(ipAddress, username, look) {
      const address = addressKey(ipAddress);
      const name = `name:${nameKey(username)}`;
      const [all, own] = [`address:${address}`, `address:${address} ${name}`];
      return lanes(address, async () => {
        await refuseBanned(address);
        await holdBack(delayOf(await attempts.count(name)));
        const found = await look();
        if (found !== null) {
          // Who knows one password may still be guessing others: those failures count on.
          await Promise.all([attempts.forgive(all, own), attempts.clear(name)]);
          return found;
        }
        const [failures] = await Promise.all([attempts.add(all, keepFailuresMs), attempts.add(own, keepFailuresMs), attempts.add(name, keepNameMs)]);
        if (failures >= maxFailures) {
          await attempts.ban(`ban:${address}`, banMs);
          onBan?.(address);
          await Promise.all([attempts.clear(all), attempts.clear(own)]);
        }
        return null;
      });
    },
    async countUnknownToken(ipAddress) {
      if ((await attempts.add(`token:${addressKey(ipAddress)}`, minuteMs)) > unknownTokens) throw slowed(Math.ceil(minuteMs / 1000));
    },
  };
}

/** Work under one key runs in order; who would wait behind too many is refused. */
function createLanes(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lanes = new Map<string, { last: Promise<unknown>; length: number }>();
  return async (key, work) => {
    const lane = lanes.get(key) ?? { last: Promise.resolve(), length: 0 };
    if (lane.length >= maxLaneLength) throw slowed(1);
    lanes.set(key, lane);
    lane.length++;
    const mine = lane.last.then(work);
    lane.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      if (--lane.length === 0) lanes.delete(key);
    }
  };
}

const slowed = (seconds: number): Problem => new Problem('login_slowed', undefined, { retryAfter: seconds });

function banned(leftMs: number): Problem {
  const seconds = Math.ceil(leftMs / 1000);
  return new Problem('login_banned', `Too many failed sign-ins from this address: try again in ${seconds} s.`, { retryAfter: seconds });
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
