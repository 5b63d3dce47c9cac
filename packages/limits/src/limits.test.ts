/** Whatever the order of calls, the promises of each limit hold, to the unit. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  capOf,
  chargeMoney,
  fillBucket,
  type GateLimits,
  givePermits,
  hitWindow,
  learnSpent,
  openBucket,
  openBudget,
  openGate,
  openWindow,
  periodEnd,
  periodStart,
  reserveMoney,
  settleTokens,
  shareOf,
  takePermits,
  takeTokens,
  toGateLimits,
  waitForTokens,
} from './index.ts';

const steps = (maxLength: number) => fc.array(fc.integer({ min: 0, max: maxLength }), { minLength: 1, maxLength: 60 });
const gate = (own: Partial<GateLimits>): GateLimits => ({ rpm: null, tpm: null, maxConcurrency: null, intervalMs: null, initialPercent: 100, ...own });
const ask = (holder: string, held: number, costs: number[] = [0]) => ({ holder, held, costs, waits: false, leaseMs: 1e9 });

describe('token bucket', () => {
  test('never gives more than it held at first and what has flowed since; the wait it names is exact', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 0, max: 100 }), steps(5000), (rate, percent, pauses) => {
        const bucket = openBucket(rate, percent, 0);
        let now = 0;
        let taken = 0;
        for (const pause of pauses) {
          now += pause;
          fillBucket(bucket, rate, now);
          const wait = waitForTokens(bucket, rate, 1);
          if (wait > 0) {
            const copy = { ...bucket };
            fillBucket(copy, rate, now + wait - 1);
            expect(waitForTokens(copy, rate, 1)).toBe(1);
            fillBucket(copy, rate, now + wait);
            expect(waitForTokens(copy, rate, 1)).toBe(0);
            continue;
          }
          takeTokens(bucket, rate, 1);
          taken++;
          expect(Number.isSafeInteger(bucket.level)).toBe(true);
        }
        expect(taken * 60_000).toBeLessThanOrEqual(rate * 600 * percent + now * rate);
      }),
    );
  });

  test('a call larger than the bucket takes all of it; a debt is at most a minute', () => {
    const bucket = openBucket(100, 100, 0);
    expect(waitForTokens(bucket, 100, 5000)).toBe(0);
    takeTokens(bucket, 100, 5000);
    expect(waitForTokens(bucket, 100, 1)).toBe(600);
    settleTokens(bucket, 100, 1_000_000);
    expect(waitForTokens(bucket, 100, 100)).toBe(120_000);
    fillBucket(bucket, 100, 1e12);
    expect(bucket.level).toBe(100 * 60_000);
    fillBucket(bucket, 100, 0);
    expect(bucket.at).toBe(1e12);
  });
});

describe('window', () => {
  test('a log lets exactly `limit` through in any window, and its wait is exact', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 500 }), steps(200), (limit, windowMs, pauses) => {
        const of = { limit, windowMs };
        const state = openWindow(of);
        const passed: number[] = [];
        let now = 0;
        for (const pause of pauses) {
          now += pause;
          const inWindow = passed.filter((at) => at > now - windowMs).length;
          const hit = hitWindow(state, of, now);
          expect(hit.allowed).toBe(inWindow < limit);
          if (hit.allowed) passed.push(now);
          else {
            expect(hitWindow(state, of, now + hit.retryMs - 1, false).allowed).toBe(false);
            expect(hit.retryMs).toBe(passed.at(-limit)! + windowMs - now);
          }
        }
      }),
    );
  });

  test('two counters never let more than `limit` through in one aligned window, and name a time that works', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1001, max: 1050 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 1, max: 700 })), { maxLength: 12 }),
        (limit, bursts) => {
          const of = { limit, windowMs: 1000 };
          const state = openWindow(of);
          const perWindow = new Map<number, number>();
          let now = 0;
          for (const [pause, count] of bursts) {
            now += pause;
            for (let one = 0; one < count; one++) {
              const hit = hitWindow(state, of, now);
              if (!hit.allowed) {
                expect(hitWindow(structuredClone(state), of, now + hit.retryMs, false).allowed).toBe(true);
                break;
              }
              const window = Math.floor(now / 1000);
              perWindow.set(window, (perWindow.get(window) ?? 0) + 1);
            }
          }
          for (const passed of perWindow.values()) expect(passed).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });

  test.each([10, 1200])('a window that was lengthened goes on with what it counted, and ends, with a limit of %s', (limit) => {
    const minute = { limit, windowMs: 60_000 };
    const hour = { limit, windowMs: 3_600_000 };
    const began = Date.UTC(2026, 10, 30, 12);
    const state = openWindow(minute);
    for (let at = 0; at < limit; at++) expect(hitWindow(state, minute, began + at).allowed).toBe(true);
    const refused = hitWindow(state, hour, began + 60_000);
    expect(refused).toMatchObject({ allowed: false, used: limit });
    expect(refused.retryMs).toBeLessThanOrEqual(2 * hour.windowMs);
    expect(hitWindow(state, hour, began + 60_000 + refused.retryMs).allowed).toBe(true);
    expect(hitWindow(state, hour, began + 3 * hour.windowMs)).toMatchObject({ allowed: true, used: 1 });
  });
});

describe('gate', () => {
  test('no order of takes, releases and deaths puts more than max_concurrency out, and deaths heal', () => {
    const act = fc.tuple(fc.integer({ min: 0, max: 2 }), fc.constantFrom('take', 'give', 'die'), fc.integer({ min: 0, max: 40 }));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(act, { maxLength: 80 }), (max, acts) => {
        const state = openGate();
        const limits = capOf(max);
        const held = [0, 0, 0];
        let now = 0;
        for (const [who, what, pause] of acts) {
          now += pause;
          const holder = `p${who}`;
          if (what === 'take') held[who]! += takePermits(state, limits, { ...ask(holder, held[who]!, [0, 0]), leaseMs: 100_000 }, now).granted;
          else if (what === 'give' && held[who]! > 0) givePermits(state, limits, { holder, held: --held[who]!, tokens: 0, leaseMs: 100_000 }, now);
          expect(held.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(max);
        }
        expect(takePermits(state, limits, ask('new', 0, Array(max).fill(0)), now + 200_000).granted).toBe(max);
      }),
    );
  });

  test('calls keep their interval, and tokens are settled by what was really used', () => {
    const state = openGate();
    const limits = gate({ intervalMs: 100, tpm: 1000 });
    expect(takePermits(state, limits, ask('a', 0, [10, 10]), 0)).toMatchObject({ granted: 1, retryMs: 100 });
    expect(takePermits(state, limits, ask('a', 1), 99)).toMatchObject({ granted: 0, retryMs: 1 });
    expect(takePermits(state, limits, ask('a', 1), 100).granted).toBe(1);
    givePermits(state, limits, { holder: 'a', held: 1, tokens: 990, leaseMs: 1 }, 100);
    expect(takePermits(state, limits, ask('a', 1, [500]), 200)).toMatchObject({ granted: 0 });
    givePermits(state, limits, { holder: 'a', held: 1, tokens: -600, leaseMs: 1 }, 200);
    expect(takePermits(state, limits, ask('a', 1, [500]), 200).granted).toBe(1);
  });

  test('a call that was never made is none of its minute, and gives no more than there was', () => {
    const state = openGate();
    const limits = gate({ rpm: 2 });
    expect(takePermits(state, limits, ask('a', 0, [1, 1, 1]), 0).granted).toBe(2);
    givePermits(state, limits, { holder: 'a', held: 0, tokens: 0, unmade: 1, leaseMs: 1 }, 0);
    expect(takePermits(state, limits, ask('a', 0, [1, 1]), 0)).toMatchObject({ granted: 1, retryMs: 30_000 });
    givePermits(state, limits, { holder: 'a', held: 0, tokens: 0, unmade: 9, leaseMs: 1 }, 0);
    expect(takePermits(state, limits, ask('a', 0, Array(9).fill(1)), 0).granted).toBe(2);
  });

  test('processes in line take turns', () => {
    const state = openGate();
    const limits = capOf(1);
    const wait = (holder: string, held: number, now: number) => takePermits(state, limits, { ...ask(holder, held, [0, 0]), waits: true }, now);
    expect(wait('a', 0, 0).granted).toBe(1);
    expect(wait('b', 0, 10)).toMatchObject({ granted: 0, retryMs: 50 });
    givePermits(state, limits, { holder: 'a', held: 0, tokens: 0, leaseMs: 1e9 }, 20);
    expect(wait('a', 0, 21).granted).toBe(1);
    givePermits(state, limits, { holder: 'a', held: 0, tokens: 0, leaseMs: 1e9 }, 22);
    expect(wait('a', 0, 23)).toMatchObject({ granted: 0, retryMs: 50 });
    expect(wait('b', 0, 40).granted).toBe(1);
    // One that no longer asks loses its place.
    givePermits(state, limits, { holder: 'b', held: 0, tokens: 0, leaseMs: 1e9 }, 50);
    expect(wait('c', 0, 5000).granted).toBe(1);
  });

  test('a share is an equal part, at least 1', () => {
    expect(shareOf(gate({ rpm: 10, maxConcurrency: 1, intervalMs: 5 }), 3)).toMatchObject({ rpm: 3, maxConcurrency: 1, intervalMs: 15, tpm: null });
    expect(toGateLimits({ rpm: null, tpm: null, max_concurrency: null, tps_min_interval_ms: null, wait_timeout_secs: 10, initial_tokens: 0 })).toBeNull();
  });
});

describe('budget', () => {
  test('spending never passes the limit by more than one reservation', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.nat(100), fc.boolean()), { maxLength: 100 }),
        (limit, acts) => {
          const state = openBudget();
          learnSpent(state, 0);
          const open: number[] = [];
          for (const [amount, percent, end] of acts) {
            const held = open.reduce((sum, one) => sum + one, 0);
            if (end && open.length > 0) {
              const reserved = open.pop()!;
              chargeMoney(state, { holder: 'a', held: held - reserved, cost: Math.floor((reserved * percent) / 100), leaseMs: 1e9 }, 0);
            } else if (reserveMoney(state, { holder: 'a', held, amounts: [amount], limit, leaseMs: 1e9 }, 0).granted === 1) open.push(amount);
          }
          expect(state.spent! + open.reduce((sum, one) => sum + one, 0)).toBeLessThan(limit + 50);
        },
      ),
    );
  });

  test('what the rows say counts when it is more; a dead process frees what it had reserved', () => {
    const state = openBudget();
    expect(reserveMoney(state, { holder: 'a', held: 0, amounts: [10, 1], limit: 10, leaseMs: 100 }, 0)).toEqual({
      granted: 1,
      spent: null,
      reserved: 10,
      tasks: 0,
    });
    expect(reserveMoney(state, { holder: 'b', held: 0, amounts: [1], limit: 10, leaseMs: 100 }, 50).granted).toBe(0);
    expect(reserveMoney(state, { holder: 'b', held: 0, amounts: [1], limit: 10, leaseMs: 100 }, 100).granted).toBe(1);
    learnSpent(state, 7);
    learnSpent(state, 5);
    expect(state.spent).toBe(7);
  });

  test('periods follow the UTC calendar', () => {
    const now = Date.UTC(2028, 1, 29, 23, 59, 59);
    expect(periodStart('day', now)).toBe(Date.UTC(2028, 1, 29));
    expect(periodStart('week', now)).toBe(Date.UTC(2028, 1, 28));
    expect(periodStart('week', Date.UTC(2028, 2, 5, 12))).toBe(Date.UTC(2028, 1, 28));
    expect(periodStart('month', now)).toBe(Date.UTC(2028, 1, 1));
    expect(periodEnd('month', now)).toBe(Date.UTC(2028, 2, 1));
    expect(periodEnd('month', Date.UTC(2028, 11, 31))).toBe(Date.UTC(2029, 0, 1));
    expect([periodStart('total', now), periodEnd('total', now)]).toEqual([0, null]);
  });
});
