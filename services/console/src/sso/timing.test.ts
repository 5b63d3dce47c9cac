/** When tokens are renewed and given up, for every life and every draw of the jitter. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isUsable, refreshDue } from './timing.ts';

const now = 1_800_000_000_000;

describe('a renewal is due', () => {
  test('120 to 150 seconds before the end of a long life, spread over all of that time', () => {
    const early = Array.from({ length: 101 }, (_, draw) => now + 3_600_000 - refreshDue(now + 3_600_000, now, draw / 100)!);
    expect([Math.min(...early), Math.max(...early)]).toEqual([120_000, 150_000]);
    expect(new Set(early).size).toBe(101);
  });

  test('never before half of any life, never after its end, and never for what does not end', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (life, draw) => {
        const due = refreshDue(now + life, now, draw)!;
        expect(due).toBeGreaterThanOrEqual(now + Math.floor(life / 2));
        expect(due).toBeLessThanOrEqual(now + life);
      }),
    );
    expect(refreshDue(null, now, 0.5)).toBeNull();
  });
});

test('a token is not used in its last minute, which is what clocks may differ by; a short one in all but its last quarter', () => {
  const life = { expiresAt: now + 3_600_000, refreshedAt: now };
  const usable = (at: number, of: Parameters<typeof isUsable>[0] = life) => isUsable(of, at);
  expect([usable(life.expiresAt - 60_001), usable(life.expiresAt - 60_000), usable(life.expiresAt)]).toEqual([true, false, false]);
  // A vendor whose clock is a minute ahead of ours has not refused one that we still give out.
  for (const skew of [0, 30_000, 59_999]) expect(usable(life.expiresAt - 60_001) && life.expiresAt - 60_001 + skew < life.expiresAt).toBe(true);
  const short = { expiresAt: now + 40_000, refreshedAt: now };
  expect([usable(now + 29_999, short), usable(now + 30_000, short)]).toEqual([true, false]);
  expect(usable(now + 1e12, { expiresAt: null, refreshedAt: now })).toBe(true);
});
