/** Every live process answers; those that do not are named. */
import { afterEach, expect, jest, test } from '@jest/globals';
import type { EdgeLimits } from '@model-gateway/contracts';
import { createGatherer, createMemoryBus, serveGather } from '../src/index.ts';
import { until } from './support.ts';

const part = (used: number): EdgeLimits => ({
  state: { backend: 'memory', degraded: false, degraded_since: null },
  requests: { used, limit: 10 },
  streams: { used: 0, limit: 10 },
  keys: [],
  ips: [],
  budgets: [],
});

/** Fake time passes, and what was published before arrives. */
const later = async (ms: number): Promise<void> => {
  await Promise.resolve();
  jest.advanceTimersByTime(ms);
  await Promise.resolve();
};

afterEach(() => void jest.useRealTimers());

test('answers of all processes, names of the silent, and no wait for who said goodbye', async () => {
  const bus = createMemoryBus({ strict: true });
  let time = 0;
  const gatherer = createGatherer(bus, () => time);
  const one = serveGather(bus, 'one', { 'edge-limits': () => part(1) });
  const two = serveGather(bus, 'two', { 'edge-limits': () => part(2) });
  bus.publish('gather.here', { process: 'frozen', topics: ['edge-limits'] });
  await until(() => gatherer.living('edge-limits') === 3, 'all three are known');
  const first = await gatherer.gather('edge-limits', {}, 500);
  expect(first.missing).toEqual(['frozen']);
  expect(first.answers).toEqual([
    { process: 'one', answer: part(1) },
    { process: 'two', answer: part(2) },
  ]);
  await two.dispose();
  time = 5_000;
  bus.publish('gather.here', { process: 'one', topics: ['edge-limits'] });
  time = 8_000;
  await until(() => gatherer.living('edge-limits') === 1, 'who spoke last is left');
  const began = performance.now();
  expect(await gatherer.gather('edge-limits', {}, 10_000)).toEqual({ answers: [{ process: 'one', answer: part(1) }], missing: [] });
  // Who is not there any more is not waited for.
  expect(performance.now() - began).toBeLessThan(5_000);
  await Promise.all([one.dispose(), gatherer.dispose()]);
});

test('two services of one process are each known by their own topic, and one that spoke of the other hides nothing', async () => {
  const bus = createMemoryBus({ strict: true });
  const gatherer = createGatherer(bus);
  const edge = serveGather(bus, 'data-plane', { 'edge-limits': () => part(1) });
  await until(() => gatherer.living('edge-limits') === 1, 'the edge is known');
  bus.publish('gather.here', { process: 'data-plane', topics: ['translator-limits'] });
  await until(() => gatherer.living('translator-limits') === 1, 'the translator is known');
  expect(gatherer.living('edge-limits')).toBe(1);
  expect((await gatherer.gather('edge-limits', {}, 5000)).missing).toEqual([]);
  await Promise.all([edge.dispose(), gatherer.dispose()]);
});

test('silence while the bus is away takes nobody out of the count; silence while it is there does', async () => {
  jest.useFakeTimers();
  const bus = createMemoryBus({ strict: true });
  const gatherer = createGatherer(bus);
  bus.publish('gather.here', { process: 'other', topics: ['edge-limits'] });
  await later(3_000);
  expect(gatherer.living('edge-limits')).toBe(1);
  Object.assign(bus, { connected: false });
  await later(60_000);
  expect(gatherer.living('edge-limits')).toBe(1);
  Object.assign(bus, { connected: true });
  await later(3_000);
  expect(gatherer.living('edge-limits')).toBe(1);
  await later(2_000);
  expect(gatherer.living('edge-limits')).toBe(0);
  await gatherer.dispose();
});

test.each([
  { connected: true, ms: 2_500 },
  { connected: false, ms: 5_000 },
])('with a bus ($connected) who lives is known after $ms ms', async ({ connected, ms }) => {
  jest.useFakeTimers();
  const bus = createMemoryBus({ strict: true });
  Object.assign(bus, { connected });
  const gatherer = createGatherer(bus);
  let peersKnown = false;
  void gatherer.peersKnown().then(() => {
    peersKnown = true;
  });
  await later(ms - 100);
  expect(peersKnown).toBe(false);
  await later(200);
  expect(peersKnown).toBe(true);
  // Whoever asks later does not wait.
  await gatherer.peersKnown();
  await gatherer.dispose();
});
