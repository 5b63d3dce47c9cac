/** Two joined buses: what is served inside never leaves, everything else does, and nothing comes twice. */
import { expect, test } from '@jest/globals';
import { type Bus, createMemoryBus, joinBuses } from '../src/index.ts';
import { nothingFor, openRecorded, quiet, row, until } from './support.ts';

/** The outer bus, and what went over it. */
function watched(): { bus: Bus; asked: string[] } {
  const bus = createMemoryBus({ logger: quiet });
  const asked: string[] = [];
  return {
    asked,
    bus: {
      ...Object.fromEntries(
        (['ask', 'serve', 'serveAs', 'listen', 'publishDurable', 'listenDurably', 'onConnection', 'stats', 'drain'] as const).map((name) => [
          name,
          (bus[name] as (...args: unknown[]) => unknown).bind(bus),
        ]),
      ),
      connected: true,
      // What its own process publishes does not come back.
      publish: (subject: string) => void asked.push(subject),
      open: (subject: string, ...rest: unknown[]) => {
        asked.push(subject);
        return (bus.open as (...args: unknown[]) => unknown).call(bus, subject, ...rest);
      },
    } as unknown as Bus,
  };
}

test('a stream that is served inside stays inside, until its server is disposed; others can open it from outside', async () => {
  const { bus: outer, asked } = watched();
  const joined = joinBuses(createMemoryBus({ strict: true, logger: quiet }), outer);
  const serving = joined.serve({ open: { 'catalog.load': (_request, _body, stream) => stream.whole({ revision: 1 }, new Uint8Array(2), { bytes: 2 }) } });
  const inside = openRecorded(joined, 'catalog.load', {});
  await inside.ended;
  expect([inside.tail, asked]).toEqual([{ bytes: 2 }, []]);
  const outside = openRecorded(outer, 'catalog.load', {});
  await outside.ended;
  expect(outside.tail).toEqual({ bytes: 2 });
  asked.length = 0;
  await serving.dispose();
  const gone = openRecorded(joined, 'catalog.load', {});
  await gone.ended;
  expect([gone.error?.code, asked]).toEqual(['service_unavailable', ['catalog.load']]);
});

test('a stream that is opened by name goes to this process only where the name is its own', async () => {
  const { bus: outer, asked } = watched();
  const joined = joinBuses(createMemoryBus({ logger: quiet }), outer);
  joined.serveAs('mine', { 'edge.stream': (_request, _body, stream) => stream.fail(Object.assign(new Error('here')) as never) });
  await openRecorded(joined, 'edge.stream', { position: 0 }, { to: 'mine' }).ended;
  expect(asked).toEqual([]);
  const other = openRecorded(joined, 'edge.stream', { position: 0 }, { to: 'theirs' });
  await other.ended;
  expect([other.error?.code, asked]).toEqual(['service_unavailable', ['edge.stream']]);
});

test('an event reaches a listener of the same process once, and the others', async () => {
  const { bus: outer, asked } = watched();
  const joined = joinBuses(createMemoryBus({ logger: quiet }), outer);
  let heard = 0;
  const listening = joined.listen('router.outcome', () => void heard++);
  joined.publish('router.outcome', { outcomes: [] });
  await until(() => heard === 1, 'the event');
  expect(asked).toEqual(['router.outcome']);
  await listening.dispose();
  joined.publish('router.outcome', { outcomes: [] });
  await nothingFor(20);
  expect(heard).toBe(1);
});

test('durable events are the outer bus’s alone', async () => {
  const { bus: outer } = watched();
  const joined = joinBuses(createMemoryBus({ logger: quiet }), outer);
  const ids: string[] = [];
  outer.listenDurably('stats.request', async (batch) => void ids.push(...batch.map(({ id }) => id)), { maxWaitMs: 1 });
  await joined.publishDurable('stats.request', '1', row('1'));
  expect(ids).toEqual(['1']);
  await joined.drain();
});
