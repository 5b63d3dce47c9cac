import { describe, expect, test } from '@jest/globals';
import { createMinter } from './mint-id.ts';
import { createRequestIds, mintRequestId } from './request-id.ts';

describe('request ids', () => {
  test('are UUIDv7 text that carries the time', () => {
    const before = Date.now();
    const id = mintRequestId();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const time = Number.parseInt(id.replace(/-/g, '').slice(0, 12), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now() + 1);
  });

  test('ascend strictly, also within one millisecond and when the clock steps back', () => {
    let now = 1_800_000_000_000;
    const mint = createRequestIds(() => now);
    let last = mint();
    for (let i = 0; i < 20_000; i++) {
      if (i === 5000) now -= 7_200_000;
      if (i === 12_000) now += 7_300_000;
      const id = mint();
      expect(id > last).toBe(true);
      last = id;
    }
  });

  test('are unique and cheap', () => {
    const ids = new Set<string>();
    const started = process.cpuUsage();
    for (let i = 0; i < 100_000; i++) ids.add(mintRequestId());
    expect(ids.size).toBe(100_000);
    // Measured near 0.3 µs; the bound allows for a busy machine.
    expect(process.cpuUsage(started).user / 100_000).toBeLessThan(25);
  });
});

describe('minted ids', () => {
  test('have their prefix and 24 base62 characters, all of them used', () => {
    const mintId = createMinter();
    const seen = new Map<string, number>();
    const ids = new Set<string>();
    for (let i = 0; i < 5000; i++) {
      const id = mintId('toolu_');
      expect(id).toMatch(/^toolu_[0-9A-Za-z]{24}$/);
      ids.add(id);
      for (const character of id.slice(6)) seen.set(character, (seen.get(character) ?? 0) + 1);
    }
    expect(ids.size).toBe(5000);
    expect(seen.size).toBe(62);
    const expected = (5000 * 24) / 62;
    for (const count of seen.values()) expect(Math.abs(count - expected) / expected).toBeLessThan(0.2);
  });
});
