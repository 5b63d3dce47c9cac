/** Guarantees of every bus, written once and run over each. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Job } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { sampleJob, sampleRow } from '../../../tests/support/bus-samples.ts';
import type { ServerStream } from '../src/index.ts';
import { askConformance } from './conformance-ask.ts';
import { eventConformance } from './conformance-events.ts';
import { namedConformance } from './conformance-named.ts';
import { openingsConformance } from './conformance-openings.ts';
import { fastest, joined, nothingFor, openRecorded, pastWindow, pattern, type Rig, until } from './support.ts';

const job = sampleJob();

/** `more`: promises of some buses only. */
export function busConformance(name: string, makeRig: () => Promise<Rig>, ...more: ((rigOf: () => Rig) => void)[]): void {
  describe(`conformance of the ${name} bus`, () => {
    let rig: Rig;
    beforeEach(async () => {
      rig = await makeRig();
    });
    afterEach(async () => {
      await rig.close();
    });

    const serveOpen = async <S extends 'catalog.load' | 'console.http' | 'translator.run'>(
      subject: S,
      handler: (request: unknown, body: Uint8Array, stream: ServerStream<S>) => void,
    ) => {
      const registration = rig.far.serve({ open: { [subject]: handler } });
      await rig.settle();
      return registration;
    };

    askConformance(() => rig);
    openingsConformance(() => rig);
    namedConformance(() => rig);
    for (const suite of more) suite(() => rig);

    describe('open', () => {
      test('head, data and tail arrive in order with their contents and flags', async () => {
        await serveOpen('catalog.load', (_request, _body, stream) => {
          stream.head({ revision: 3 });
          stream.data(pattern(10), 3);
          setTimeout(() => {
            stream.data(pattern(20, 2), 0);
            stream.tail({ bytes: 30 });
          }, 20);
        });
        const deliveredItems = openRecorded(rig.near, 'catalog.load', {});
        await deliveredItems.ended;
        expect(deliveredItems.order).toEqual(['head', 'data', 'data', 'tail']);
        expect(deliveredItems.head).toEqual({ revision: 3 });
        expect(deliveredItems.flags).toEqual([3, 0]);
        expect(Buffer.compare(joined(deliveredItems.chunks), Buffer.concat([pattern(10), pattern(20, 2)]))).toBe(0);
        expect(deliveredItems.tail).toEqual({ bytes: 30 });
      });

      test('text that stands for bytes arrives as these bytes, or as text where the opener takes text', async () => {
        const bytes = pattern(600_000);
        const text = Buffer.from(bytes).toString('latin1');
        await serveOpen('catalog.load', (_request, _body, stream) => {
          stream.head({ revision: 1 });
          for (let from = 0; from < text.length; from += 100_000) stream.data(text.slice(from, from + 100_000), 1);
          stream.tail({ bytes: bytes.length });
        });
        for (const text of [false, true]) {
          const deliveredItems = openRecorded(rig.near, 'catalog.load', {}, { text });
          await deliveredItems.ended;
          expect(Buffer.compare(joined(deliveredItems.chunks), bytes)).toBe(0);
          expect(deliveredItems.tail).toEqual({ bytes: bytes.length });
        }
      });

      test('a whole reply, an empty one, and one far above the frame cap', async () => {
        const bodies = [pattern(1000), new Uint8Array(0), pattern(3_000_001)];
        await serveOpen('catalog.load', (_request, body, stream) => stream.whole({ revision: 1 }, bodies[body[0]!]!, { bytes: bodies[body[0]!]!.length }));
        for (const [index, expected] of bodies.entries()) {
          const deliveredItems = openRecorded(rig.near, 'catalog.load', {}, { body: Uint8Array.of(index) });
          await deliveredItems.ended;
          expect(deliveredItems.error).toBeNull();
          expect(Buffer.compare(joined(deliveredItems.chunks), expected)).toBe(0);
          expect(deliveredItems.tail).toEqual({ bytes: expected.length });
          expect(deliveredItems.order.filter((what) => what !== 'data')).toEqual(['head', 'tail']);
        }
      });

      test('the request and a 5 MB body arrive whole, and 5 MB come back', async () => {
        const body = pattern(5_000_003);
        await serveOpen('translator.run', (request, received, stream) => {
          expect(request).toEqual(job);
          stream.head({ status: 200, headers: {} });
          stream.data(received);
          stream.tail({ row: sampleRow('x') });
        });
        const deliveredItems = openRecorded(rig.near, 'translator.run', job, { body });
        await deliveredItems.ended;
        expect(deliveredItems.error).toBeNull();
        expect(Buffer.compare(joined(deliveredItems.chunks), body)).toBe(0);
      });

      test('request, head and tail objects far above the frame cap arrive', async () => {
        const long = 'ü'.repeat(700_000);
        await serveOpen('translator.run', (request, body, stream) => {
          const { headers } = request as Job;
          stream.whole({ status: 200 + body.length, headers }, new Uint8Array(3), { row: { ...sampleRow('x'), user_agent: headers['x']! } });
        });
        const deliveredItems = openRecorded(rig.near, 'translator.run', { ...job, headers: { x: long } }, { body: pattern(9) });
        await deliveredItems.ended;
        expect(deliveredItems.head).toEqual({ status: 209, headers: { x: long } });
        expect(deliveredItems.tail).toEqual({ row: { ...sampleRow('x'), user_agent: long } });
      });

      test('nobody listens: broken with service_unavailable, after open has returned', async () => {
        const deliveredItems = openRecorded(rig.near, 'catalog.load', {});
        expect(deliveredItems.order).toEqual([]);
        await deliveredItems.ended;
        expect(deliveredItems.error).toMatchObject({ code: 'service_unavailable' });
        await until(() => rig.near.stats().openCalls === 0, 'no call is left');
      });

      test('fail, a throwing handler and a rejecting one end the stream as broken', async () => {
        const ways: ((stream: ServerStream<'catalog.load'>) => unknown)[] = [
          (stream) => stream.fail(new GatewayError('upstream_failed', { message: 'it fell' })),
          () => {
            throw new TypeError('defect');
          },
          async () => {
            throw new TypeError('defect');
          },
          (stream) => {
            stream.head({ revision: 1 });
            stream.data(pattern(5));
            stream.fail(new GatewayError('overloaded'));
          },
        ];
        await serveOpen('catalog.load', (_request, body, stream) => ways[body[0]!]!(stream) as undefined);
        const codes = ['upstream_failed', 'internal', 'internal', 'overloaded'];
        for (const [index, code] of codes.entries()) {
          const deliveredItems = openRecorded(rig.near, 'catalog.load', {}, { body: Uint8Array.of(index) });
          await deliveredItems.ended;
          expect(deliveredItems.error).toMatchObject({ code });
          expect(deliveredItems.order).toEqual(index === 3 ? ['head', 'data', 'broken'] : ['broken']);
        }
        await until(() => rig.far.stats().openServed === 0, 'no stream is left');
      });

      test.each(['head', 'data', 'tail', 'whole', 'sendable'] as const)(
        'an opener that throws in %s gets `broken` once and nothing after it; the callee gets a cancel',
        async (where) => {
          const ends: string[] = [];
          await serveOpen('console.http', (_request, _body, stream) => {
            stream.onCancel(() => ends.push('cancelled'));
            stream.onSettled((how) => ends.push(how));
            stream.onData((bytes) => stream.consumed(bytes.length));
            if (where === 'whole') return stream.whole({}, pattern(5), {});
            stream.head({});
            if (where === 'sendable') return;
            stream.data(pattern(5));
            if (where === 'tail') setTimeout(() => stream.tail({}), 20);
          });
          const order: string[] = [];
          const described: GatewayError[] = [];
          const onMessage = (what: string): void => {
            order.push(what);
            if (what === where) throw new TypeError('a defect of the opener');
          };
          const call = rig.near.open(
            'console.http',
            { remoteAddress: '' },
            {
              head: () => onMessage('head'),
              data: () => onMessage('data'),
              tail: () => onMessage('tail'),
              whole: () => onMessage('whole'),
              broken: (error) => {
                described.push(error);
                // There is nobody left to report this one to.
                throw new TypeError('another');
              },
            },
          );
          if (where === 'sendable') {
            call.onSendable(() => onMessage('sendable'));
            while (call.send(pattern(64 * 1024), 1));
          }
          await until(() => described.length > 0 && ends.length > 0, 'both ends');
          await until(() => rig.far.stats().openServed === 0 && rig.near.stats().openCalls === 0, 'both ends forget the stream');
          await nothingFor(30);
          expect(described).toHaveLength(1);
          expect(described[0]).toMatchObject({ code: 'internal', cause: { message: 'a defect of the opener' } });
          expect(ends).toEqual([where === 'tail' || where === 'whole' ? 'lost' : 'cancelled']);
          expect(order.at(-1)).toBe(where);
        },
      );

      test('cancel runs onCancel once and silences the handlers', async () => {
        const reasons: string[] = [];
        let stream: ServerStream<'catalog.load'> | null = null;
        await serveOpen('catalog.load', (_request, _body, opened) => {
          stream = opened;
          opened.onCancel((reason) => reasons.push(reason));
          opened.head({ revision: 1 });
        });
        const deliveredItems = openRecorded(rig.near, 'catalog.load', {});
        await until(() => deliveredItems.head !== null, 'the head');
        deliveredItems.call.cancel('client gone');
        deliveredItems.call.cancel('again');
        await until(() => reasons.length > 0, 'onCancel');
        expect(reasons).toEqual(['client gone']);
        expect(stream!.data(pattern(5))).toBe(false);
        stream!.tail({ bytes: 5 });
        await until(() => rig.far.stats().openServed === 0 && rig.near.stats().openCalls === 0, 'both ends forget the stream');
        await nothingFor(50);
        expect(deliveredItems.order).toEqual(['head']);
      });

      test('cancel in the turn of the open leaves nothing behind', async () => {
        const seen: string[] = [];
        await serveOpen('catalog.load', (_request, _body, stream) => {
          stream.onCancel((reason) => seen.push(reason));
        });
        const deliveredItems = openRecorded(rig.near, 'catalog.load', {});
        deliveredItems.call.cancel('at once');
        // The opening may still be under way.
        await pastWindow(400);
        await until(() => rig.far.stats().openServed === 0 && rig.near.stats().openCalls === 0, 'both ends forget the stream');
        expect(deliveredItems.order).toEqual([]);
      });

      test('a deadline is passed to the callee, and enforced with some grace', async () => {
        const described: number[] = [];
        const reasons: string[] = [];
        await serveOpen('catalog.load', (_request, _body, stream) => {
          described.push(stream.deadlineMs);
          stream.onCancel((reason) => reasons.push(reason));
        });
        const deliveredItems = openRecorded(rig.near, 'catalog.load', {}, { deadlineMs: 200 });
        await deliveredItems.ended;
        expect(deliveredItems.error).toMatchObject({ code: 'timeout' });
        await until(() => reasons.length === 1, 'onCancel');
        expect(described).toEqual([200]);
        const free = openRecorded(rig.near, 'catalog.load', {});
        await until(() => described.length === 2, 'the second open');
        expect(described[1]).toBeGreaterThan(86_400_000);
        expect(described[1]).toBeLessThanOrEqual(2 ** 31 - 1);
        free.call.cancel('done');
      });

      test('200 concurrent streams are exact', async () => {
        await serveOpen('catalog.load', (_request, body, stream) => {
          const seed = body[0]! + 1;
          stream.head({ revision: seed });
          let sent = 0;
          const step = () => {
            if (sent === 20) return stream.tail({ bytes: seed });
            stream.data(pattern(100 + sent, seed * 100 + sent++));
            setImmediate(step);
          };
          step();
        });
        const all = Array.from({ length: 200 }, (_, i) => openRecorded(rig.near, 'catalog.load', {}, { body: Uint8Array.of(i) }));
        await Promise.all(all.map((deliveredItems) => deliveredItems.ended));
        for (const [i, deliveredItems] of all.entries()) {
          expect(deliveredItems.error).toBeNull();
          const expected = Buffer.concat(Array.from({ length: 20 }, (_, n) => pattern(100 + n, (i + 1) * 100 + n)));
          expect(Buffer.compare(joined(deliveredItems.chunks), expected)).toBe(0);
          expect(deliveredItems.head).toEqual({ revision: i + 1 });
        }
        expect(rig.near.stats()).toMatchObject({ openCalls: 0, fencedFrames: 0 });
      });
    });

    describe('credit', () => {
      test('a sender stops at the window, resumes at half, and the tail waits its turn', async () => {
        let sent = 0;
        let stopped = 0;
        const chunk = pattern(16 * 1024);
        await serveOpen('catalog.load', (_request, _body, stream) => {
          stream.head({ revision: 1 });
          const pump = () => {
            while (sent < 200) {
              sent++;
              if (!stream.data(chunk)) {
                stopped++;
                return;
              }
            }
            stream.tail({ bytes: sent * chunk.length });
          };
          stream.onWritable(pump);
          pump();
        });
        const deliveredItems = openRecorded(rig.near, 'catalog.load', {}, { consume: false, keep: false });
        await until(() => stopped === 1 && deliveredItems.bytes >= 256 * 1024, 'the sender stops');
        await nothingFor(100);
        expect(deliveredItems.bytes).toBe(256 * 1024);
        deliveredItems.call.consumed(128 * 1024);
        await until(() => stopped === 2 && deliveredItems.bytes >= 384 * 1024, 'the sender goes on');
        await nothingFor(50);
        expect(deliveredItems.bytes).toBe(384 * 1024);
        const grant = setInterval(() => deliveredItems.call.consumed(128 * 1024), 2);
        await deliveredItems.ended;
        clearInterval(grant);
        expect(deliveredItems.bytes).toBe(200 * chunk.length);
        expect(deliveredItems.tail).toEqual({ bytes: 200 * chunk.length });
      });

      test('a sender that does not listen to false loses nothing', async () => {
        const chunk = pattern(100_000);
        await serveOpen('catalog.load', (_request, _body, stream) => {
          stream.head({ revision: 1 });
          for (let i = 0; i < 30; i++) stream.data(chunk);
          stream.tail({ bytes: 30 });
        });
        const deliveredItems = openRecorded(rig.near, 'catalog.load', {}, { consume: false, keep: false });
        await until(() => deliveredItems.bytes >= 256 * 1024, 'a window of data');
        await nothingFor(100);
        expect(deliveredItems.bytes).toBeLessThanOrEqual(256 * 1024 + 100_000);
        expect(deliveredItems.tail).toBeNull();
        const grant = setInterval(() => deliveredItems.call.consumed(200_000), 2);
        await deliveredItems.ended;
        clearInterval(grant);
        expect(deliveredItems.bytes).toBe(3_000_000);
      });
    });

    describe('duplex', () => {
      test('an echo: bytes, flags and the end travel both ways under credit', async () => {
        await serveOpen('console.http', (_request, _body, stream) => {
          stream.onData((bytes, flags) => {
            stream.data(bytes, flags);
            stream.consumed(bytes.length);
          });
          stream.onDataEnd(() => stream.tail({}));
          stream.head({});
        });
        const deliveredItems = openRecorded(rig.near, 'console.http', { remoteAddress: '' });
        const parts = Array.from({ length: 60 }, (_, i) => pattern(50_000 + i, i + 1));
        const sendRest = () => {
          while (parts.length > 0) if (!deliveredItems.call.send(parts.shift()!, 1)) return;
          deliveredItems.call.endSend();
        };
        const expected = Buffer.concat(parts);
        deliveredItems.call.onSendable(sendRest);
        sendRest();
        await deliveredItems.ended;
        expect(deliveredItems.error).toBeNull();
        expect(Buffer.compare(joined(deliveredItems.chunks), expected)).toBe(0);
      });

      test('what is sent before the callee listens waits, at most a window of it', async () => {
        let stream: ServerStream<'console.http'> | null = null;
        await serveOpen('console.http', (_request, _body, opened) => {
          stream = opened;
          opened.head({});
        });
        const deliveredItems = openRecorded(rig.near, 'console.http', { remoteAddress: '' });
        let sent = 0;
        while (deliveredItems.call.send(pattern(64 * 1024), 1)) sent++;
        deliveredItems.call.endSend();
        expect(sent).toBe(15);
        await until(() => stream !== null, 'the open');
        let got = 0;
        let ended = false;
        await nothingFor(50);
        stream!.onDataEnd(() => {
          ended = true;
        });
        stream!.onData((bytes) => {
          got += bytes.length;
          stream!.consumed(bytes.length);
        });
        await until(() => ended, 'the end');
        expect(got).toBe(16 * 64 * 1024);
        deliveredItems.call.cancel('done');
      });

      test('a send reaches a callee that has nothing to say yet, without delay', async () => {
        await serveOpen('console.http', (_request, _body, stream) => {
          stream.onData((bytes) => stream.whole({}, bytes, {}));
        });
        const ms = await fastest(150, async () => {
          const deliveredItems = openRecorded(rig.near, 'console.http', { remoteAddress: '' });
          deliveredItems.call.send(pattern(5));
          await deliveredItems.ended;
          expect(deliveredItems.error).toBeNull();
        });
        expect(ms).toBeLessThan(150);
      });
    });

    describe('settlement', () => {
      test('the callee is notified that its tail was acknowledged', async () => {
        const how: string[] = [];
        await serveOpen('catalog.load', (_request, _body, stream) => {
          stream.onSettled((result) => how.push(result));
          stream.onCancel(() => how.push('cancelled'));
          stream.whole({ revision: 1 }, pattern(5), { bytes: 5 });
        });
        const deliveredItems = openRecorded(rig.near, 'catalog.load', {});
        await deliveredItems.ended;
        await nothingFor(50);
        expect(how).toEqual([]);
        deliveredItems.call.acknowledge();
        deliveredItems.call.acknowledge();
        await until(() => how.length > 0, 'onSettled');
        await nothingFor(50);
        expect(how).toEqual(['acknowledged']);
      });

      test('an opener that cancels while the tail still waits for credit loses it', async () => {
        const how: string[] = [];
        await serveOpen('catalog.load', (_request, _body, stream) => {
          stream.onSettled((result) => how.push(result));
          stream.onCancel(() => how.push('cancelled'));
          stream.head({ revision: 1 });
          for (let i = 0; i < 10; i++) stream.data(pattern(100_000));
          stream.tail({ bytes: 1 });
        });
        const deliveredItems = openRecorded(rig.near, 'catalog.load', {}, { consume: false });
        await until(() => deliveredItems.bytes > 0, 'some data');
        deliveredItems.call.cancel('gone');
        await until(() => how.length > 0, 'onSettled');
        expect(how).toEqual(['lost']);
      });
    });

    describe('fence', () => {
      test('what waited of an earlier attempt is dropped and counted', async () => {
        await serveOpen('catalog.load', (_request, _body, stream) => {
          stream.head({ revision: 1 });
          stream.data(pattern(256 * 1024, 1));
          stream.data(pattern(1000, 2));
          stream.data(pattern(1000, 3));
          stream.dropBefore(2);
          stream.data(pattern(1000, 4));
          stream.tail({ bytes: 1 });
        });
        const deliveredItems = openRecorded(rig.near, 'catalog.load', {});
        await deliveredItems.ended;
        expect(deliveredItems.error).toBeNull();
        const last = Buffer.compare(deliveredItems.chunks.at(-1)!, pattern(1000, 4));
        expect(last).toBe(0);
        // In process the credit comes back before anything waits; over a real bus the two pieces wait and are dropped.
        expect([1, 3]).toContain(deliveredItems.chunks.length - 1);
        if (deliveredItems.chunks.length === 2) expect(rig.far.stats().fencedFrames).toBe(2);
      });
    });

    eventConformance(() => rig);

    describe('leaving', () => {
      test('dispose takes no new work and waits for what was accepted', async () => {
        let stream: ServerStream<'catalog.load'> | null = null;
        const registration = await serveOpen('catalog.load', (_request, _body, opened) => {
          stream = opened;
          opened.head({ revision: 1 });
        });
        const deliveredItems = openRecorded(rig.near, 'catalog.load', {});
        await until(() => deliveredItems.head !== null, 'the head');
        let left = false;
        const leaving = registration.dispose().then(() => {
          left = true;
        });
        await nothingFor(100);
        await rig.settle();
        expect(left).toBe(false);
        const late = openRecorded(rig.near, 'catalog.load', {});
        await late.ended;
        expect(late.error).toMatchObject({ code: 'service_unavailable' });
        stream!.tail({ bytes: 0 });
        await deliveredItems.ended;
        await leaving;
        expect(deliveredItems.tail).toEqual({ bytes: 0 });
      });

      test('drain finishes what was accepted, then nothing is accepted', async () => {
        await serveOpen('catalog.load', (_request, _body, stream) => {
          stream.head({ revision: 1 });
          setTimeout(() => stream.tail({ bytes: 0 }), 150);
        });
        const changes: boolean[] = [];
        rig.far.onConnection((connected) => changes.push(connected));
        const deliveredItems = openRecorded(rig.near, 'catalog.load', {});
        await until(() => deliveredItems.head !== null, 'the head');
        await rig.far.drain();
        await deliveredItems.ended;
        expect(deliveredItems.tail).toEqual({ bytes: 0 });
        expect(rig.far.connected).toBe(false);
        expect(changes.at(-1)).toBe(false);
        await expect(rig.far.ask('catalog.revision', {})).rejects.toMatchObject({ code: 'service_unavailable' });
      });
    });
  });
}
