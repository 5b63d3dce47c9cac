import { describe, expect, jest, test } from '@jest/globals';
import { createLogger, createMetrics } from '@model-gateway/telemetry';
import { Ladder, lookMs, watchPressure } from './pressure.ts';

describe('the ladder', () => {
  test.each([
    [0.5, 0],
    [0.85, 0],
    [0.86, 1],
    [0.93, 2],
    [0.96, 3],
    [1.4, 3],
  ])('memory at %d of what there is: level %d, and none as soon as it is given back', (memory, level) => {
    const ladder = new Ladder(100);
    expect(ladder.take({ memory, lagMs: 0 })).toBe(level);
    expect(ladder.take({ memory: 0.4, lagMs: 0 })).toBe(0);
  });

  test('lag counts when it lasts, and never refuses anybody', () => {
    const ladder = new Ladder(100);
    const take = (lagMs: number) => ladder.take({ memory: 0.1, lagMs });
    expect([150, 20, 150, 20, 20].map(take)).toEqual([0, 0, 0, 0, 0]);
    expect([150, 150, 5000, 20, 150].map(take)).toEqual([0, 0, 1, 1, 1]);
    expect([20, 20].map(take)).toEqual([0, 0]);
    expect(ladder.take({ memory: 0.96, lagMs: 150 })).toBe(3);
  });

  test('without a bound for the lag it is not looked at', () => {
    const ladder = new Ladder(0);
    expect([5000, 5000, 5000, 5000].map((lagMs) => ladder.take({ memory: 0.1, lagMs }))).toEqual([0, 0, 0, 0]);
  });
});

test('pressure above a bound is logged once and shown, and the process reads its own memory', async () => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', name: 'test', destination: { write: (line: string) => void lines.push(line) } } as never);
  const metrics = createMetrics({ service: 'test' });
  const pressed = watchPressure({ memoryBytes: 1024, lagMs: 0, logger, metrics });
  const free = watchPressure({ memoryBytes: 0, lagMs: 0, logger, metrics: createMetrics({ service: 'other' }) });
  while (pressed.level === 0) await new Promise((resolve) => setTimeout(resolve, lookMs));
  expect(pressed.level).toBe(3);
  expect(free.level).toBeLessThan(3);
  expect(await metrics.text()).toMatch(/^gateway_pressure(\{[^}]*\})? 3/m);
  pressed.stop();
  free.stop();
});

test('file descriptors that are used up are reported, once in a while', async () => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', name: 'test', destination: { write: (line: string) => void lines.push(line) } } as never);
  const refused = Object.assign(new Error('EMFILE: too many open files, uv_resident_set_memory'), { code: 'EMFILE' });
  const reading = jest.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw refused;
  });
  const watched = watchPressure({ memoryBytes: 0, lagMs: 0, logger, metrics: createMetrics({ service: 'test' }) });
  while (reading.mock.calls.length < 3) await new Promise((resolve) => setTimeout(resolve, lookMs));
  watched.stop();
  reading.mockRestore();
  expect(lines).toEqual([expect.stringContaining('file descriptors are used up')]);
});
