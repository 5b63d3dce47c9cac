/** The in-process bus: the common promises, strict and plain, and its own. */
import { describe, expect, test } from '@jest/globals';
import type { GatewayError } from '@model-gateway/contracts/errors';
import { createMemoryBus } from '../src/index.ts';
import { busConformance } from './conformance.ts';
import { shapesConformance } from './conformance-shapes.ts';
import { openRecorded, pattern, quiet, row, until } from './support.ts';

for (const strict of [false, true]) {
  const makeRig = async () => {
    const bus = createMemoryBus({ strict, logger: quiet, drainMs: 500 });
    return { near: bus, far: bus, settle: async () => {}, close: () => bus.drain() };
  };
  busConformance(strict ? 'strict memory' : 'memory', makeRig, ...(strict ? [shapesConformance] : []));
}

describe('memory bus', () => {
  test('makes no bytes of text for an opener that takes text', async () => {
    for (const strict of [false, true]) {
      const bus = createMemoryBus({ strict });
      bus.serve({
        open: {
          'catalog.load': (_request, _body, stream) => {
            stream.head({ revision: 1 });
            stream.data('words');
            stream.data(pattern(3));
            stream.tail({ bytes: 8 });
          },
        },
      });
      for (const text of [false, true]) {
        const got = openRecorded(bus, 'catalog.load', {}, { text });
        await got.ended;
        expect({ texts: got.texts, bytes: got.bytes }).toEqual({ texts: text ? 1 : 0, bytes: 8 });
      }
      await bus.drain();
    }
  });

  test('a refusal is logged once for each reason, however often it is met, and once when events are taken again', async () => {
    const lines: string[] = [];
    const tell = (_facts: Record<string, unknown>, message: string) => void lines.push(message);
    const bus = createMemoryBus({ logger: { ...quiet, info: tell, warn: tell } });
    const published = bus.publishDurable('stats.request', 'n', row('n'));
    const reasons = ['away', 'away', 'full', 'away'];
    bus.listenDurably(
      'stats.request',
      async () => {
        const reason = reasons.shift();
        if (reason !== undefined) throw new Error('The database is unavailable.', { cause: new Error(reason) });
      },
      { maxBatch: 1, maxWaitMs: 1 },
    );
    await published;
    const refused = 'durable events were refused and will be delivered again';
    expect(lines).toEqual([refused, refused, 'durable events are taken again']);
    await bus.drain();
  });

  test('passes references; strict mode freezes copies', async () => {
    for (const strict of [false, true]) {
      const bus = createMemoryBus({ strict });
      const request = { remoteAddress: 'a' };
      const body = pattern(10);
      let same = false;
      let frozen = false;
      bus.serve({
        open: {
          'console.http': (received, receivedBody, stream) => {
            same = received === request && receivedBody === body;
            frozen = Object.isFrozen(received);
            stream.whole({}, receivedBody, {});
          },
        },
      });
      const got = openRecorded(bus, 'console.http', request, { body });
      await got.ended;
      expect({ same, frozen }).toEqual(strict ? { same: false, frozen: true } : { same: true, frozen: false });
      expect(got.chunks[0] === body).toBe(!strict);
    }
  });

  test('an opener whose handler throws loses its stream, and the callee gets a cancel', async () => {
    const errors: string[] = [];
    const bus = createMemoryBus({ logger: { ...quiet, error: (_fields, message) => void errors.push(message) } });
    const reasons: string[] = [];
    bus.serve({
      open: {
        'catalog.load': (_request, _body, stream) => {
          stream.onCancel((reason) => reasons.push(reason));
          stream.head({ revision: 1 });
          stream.data(pattern(4));
          stream.tail({ bytes: 4 });
        },
      },
    });
    bus.open(
      'catalog.load',
      {},
      {
        head: () => {
          throw new Error('defect of the opener');
        },
        data: () => {},
        tail: () => {},
        broken: () => {},
      },
    );
    await until(() => reasons.length > 0 && bus.stats().openServed === 0, 'the cancel');
    expect(reasons).toEqual(['the opener failed']);
    expect(errors).toEqual(['a stream handler threw']);
    expect(bus.stats()).toMatchObject({ openCalls: 0, openServed: 0 });
  });

  test('the durable queue is bounded by items and by bytes', async () => {
    const byItems = createMemoryBus({ outbox: { items: 2 } });
    void byItems.publishDurable('stats.request', '1', row('1'));
    void byItems.publishDurable('stats.request', '2', row('2'));
    await expect(byItems.publishDurable('stats.request', '3', row('3'))).rejects.toMatchObject({ code: 'overloaded' } satisfies Partial<GatewayError>);
    const byBytes = createMemoryBus({ outbox: { bytes: 2000 } });
    await expect(byBytes.publishDurable('stats.request', '1', row('x'.repeat(1000)))).rejects.toMatchObject({ code: 'overloaded' });
  });
});
