/** What is read of a process, on a system that tells. */
import { existsSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { processorMs, residentBytes } from './process-facts.ts';

describe('a process', () => {
  test('that does not exist gives null', () => {
    expect([residentBytes(undefined), processorMs(undefined), residentBytes(2 ** 31), processorMs(2 ** 31)]).toEqual([null, null, null, null]);
  });

  (existsSync('/proc/self/stat') ? test : test.skip)('tells its memory, and the time that its main thread had', () => {
    expect(residentBytes(process.pid)).toBeGreaterThan(10_000_000);
    const before = processorMs(process.pid) ?? Number.NaN;
    const began = process.cpuUsage();
    const used = (): number => process.cpuUsage(began).user / 1000;
    while (used() < 200);
    const grown = (processorMs(process.pid) ?? Number.NaN) - before;
    // Other threads of this process are in the one figure and not in the other.
    expect(grown).toBeGreaterThan(0);
    expect(grown).toBeLessThan(10_000);
  });
});
