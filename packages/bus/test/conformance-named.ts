/** Guarantees of every bus for streams that are opened to one process by its name. */
import { describe, expect, test } from '@jest/globals';
import type { OpenServerHandlers } from '../src/index.ts';
import { fastest, openRecorded, pattern, type Rig, until } from './support.ts';

/** Answers with this revision, and as many bytes as it was sent. */
const answering = (revision: number): OpenServerHandlers => ({
  'catalog.load': (_request, body, stream) => {
    stream.head({ revision });
    stream.data(body);
    stream.tail({ bytes: body.length });
  },
});

/** `rigOf`: of the test that runs. */
export function namedConformance(rigOf: () => Rig): void {
  describe('opened to one process', () => {
    test('only the process of that name serves it, whatever others serve, and also for an opener in the same process', async () => {
      const { near, far } = rigOf();
      far.serveAs('first', answering(1));
      far.serveAs('second', answering(2));
      near.serveAs('own', answering(3));
      far.serve({ open: answering(4) });
      await rigOf().settle();
      for (let round = 0; round < 4; round++) {
        for (const [to, revision, size] of [
          ['first', 1, 10],
          ['second', 2, 3_000_000],
          ['own', 3, 600_000],
        ] as const) {
          const got = openRecorded(near, 'catalog.load', {}, { to, body: pattern(size) });
          await got.ended;
          expect({ head: got.head, tail: got.tail, error: got.error, bytes: got.bytes }).toEqual({
            head: { revision },
            tail: { bytes: size },
            error: null,
            bytes: size,
          });
        }
        const any = openRecorded(near, 'catalog.load', {});
        await any.ended;
        expect(any.head).toEqual({ revision: 4 });
      }
      await until(() => near.stats().openCalls === 0 && far.stats().openServed === 0, 'nothing is left');
    });

    test('what is only served by name is served to nobody else', async () => {
      rigOf().far.serveAs('first', answering(1));
      await rigOf().settle();
      const got = openRecorded(rigOf().near, 'catalog.load', {});
      await got.ended;
      expect(got.error).toMatchObject({ code: 'service_unavailable' });
    });

    test.each(['gone', 'first.*', '>', 'all', '', 'a b\r\nPUB gw.v1.x 0', '\u0000', 'x'.repeat(100_000)])(
      'nobody has the name %j: service_unavailable at once',
      async (to) => {
        rigOf().far.serveAs('first', answering(1));
        rigOf().far.serve({ open: answering(2) });
        await rigOf().settle();
        const ms = await fastest(1000, async () => {
          const got = openRecorded(rigOf().near, 'catalog.load', {}, { to });
          await got.ended;
          expect(got.error).toMatchObject({ code: 'service_unavailable' });
        });
        expect(ms).toBeLessThan(1000);
        expect(rigOf().near.connected).toBe(true);
      },
    );

    test('a name that was given back is free', async () => {
      const { near, far } = rigOf();
      const first = far.serveAs('first', answering(1));
      await rigOf().settle();
      await first.dispose();
      await rigOf().settle();
      const gone = openRecorded(near, 'catalog.load', {}, { to: 'first' });
      await gone.ended;
      expect(gone.error).toMatchObject({ code: 'service_unavailable' });
      near.serveAs('first', answering(2));
      await rigOf().settle();
      const got = openRecorded(near, 'catalog.load', {}, { to: 'first' });
      await got.ended;
      expect(got.head).toEqual({ revision: 2 });
    });

    test('a reader that reads nothing stops the sender, and one that leaves cancels it', async () => {
      let sent = 0;
      let cancelled = '';
      rigOf().far.serveAs('first', {
        'catalog.load': (_request, _body, stream) => {
          stream.onCancel((reason) => {
            cancelled = reason;
          });
          stream.head({ revision: 1 });
          while (stream.data(pattern(10_000))) sent += 10_000;
        },
      });
      await rigOf().settle();
      const got = openRecorded(rigOf().near, 'catalog.load', {}, { to: 'first', consume: false });
      await until(() => got.bytes >= 250_000, 'a window of data');
      expect(sent).toBeLessThan(1_000_000);
      got.call.cancel('enough');
      await until(() => cancelled === 'enough', 'the sender is cancelled');
    });
  });
}
