import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { createPools } from './pools.ts';
import { createSweeper } from './sweeper.ts';

describe('pools', () => {
  test('stay bounded: the longest unused idle one leaves, busy ones stay', async () => {
    const pools = createPools({ policy: { allowPrivate: true }, maxConnections: 10, http2: false });
    const busy = pools.get('http://busy.test', undefined);
    busy.active = 1;
    const idle = pools.get('http://idle.test', undefined);
    for (let i = 0; i < 400; i++) pools.get(`http://h${i}.test`, undefined);
    expect(pools.size).toBe(256);
    expect(pools.get('http://busy.test', undefined)).toBe(busy);
    expect(pools.get('http://idle.test', undefined)).not.toBe(idle);
    expect(idle.transport.closed).toBe(true);
    await pools.close();
    expect(pools.size).toBe(0);
  });
});

describe('sweeper', () => {
  afterEach(() => void jest.useRealTimers());

  test('keeps small limits finely, and rests without calls', () => {
    jest.useFakeTimers();
    const sweeper = createSweeper();
    let sweeps = 0;
    const call = { index: -1, sweep: () => void sweeps++ };
    sweeper.add(call, 200);
    jest.advanceTimersByTime(251);
    expect(sweeps).toBeGreaterThanOrEqual(8);
    sweeper.remove(call);
    jest.advanceTimersByTime(100);
    expect([sweeper.size, jest.getTimerCount()]).toEqual([0, 0]);
    sweeper.add(call, 300_000);
    sweeps = 0;
    jest.advanceTimersByTime(1001);
    expect(sweeps).toBe(4);
  });
});
