/** Guarantees of every bus for openings that are read late: an opener that has opened elsewhere meanwhile is not served. */
import { describe, expect, test } from '@jest/globals';
import { nothingFor, openRecorded, type Rig, until } from './support.ts';

/** Nothing of this process moves, neither end's clock nor what either reads. */
const frozen = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** `rigOf`: of the test that runs. */
export function openingsConformance(rigOf: () => Rig): void {
  describe('openings', () => {
    const serveCounted = async () => {
      const begun: number[] = [];
      rigOf().far.serve({
        open: {
          'catalog.load': (_request, body, stream) => {
            begun.push(body.length);
            stream.whole({ revision: 1 }, body, { bytes: body.length });
          },
        },
      });
      await rigOf().settle();
      // Both ends know each other.
      await openRecorded(rigOf().near, 'catalog.load', {}, { body: new Uint8Array(1) }).ended;
      begun.length = 0;
      return begun;
    };

    test.each([10, 3_000_000])('one that was cancelled before it was read is never begun, though its %d bytes came along', async (size) => {
      const begun = await serveCounted();
      const deliveredItems = openRecorded(rigOf().near, 'catalog.load', {}, { body: new Uint8Array(size) });
      rigOf().push?.();
      frozen(600);
      deliveredItems.call.cancel('went elsewhere');
      await until(() => rigOf().near.stats().openCalls === 0 && rigOf().far.stats().openServed === 0, 'nothing is left');
      await nothingFor(300);
      expect(begun).toEqual([]);
      expect(deliveredItems.order).toEqual([]);
    });

    test.each([10, 3_000_000])('one that is read late and still wanted is begun once, with its %d bytes', async (size) => {
      const begun = await serveCounted();
      for (const ms of [300, 700, 3000]) {
        const deliveredItems = openRecorded(rigOf().near, 'catalog.load', {}, { body: new Uint8Array(size) });
        rigOf().push?.();
        frozen(ms);
        await deliveredItems.ended;
        expect(deliveredItems.error).toBeNull();
        expect(deliveredItems.tail).toEqual({ bytes: size });
      }
      await nothingFor(300);
      expect(begun).toEqual([size, size, size]);
      expect(rigOf().far.stats().openServed).toBe(0);
    });

    test('of many large bodies opened at once each arrives as it was sent, and those that were cancelled at once are never begun', async () => {
      const begun = await serveCounted();
      const all = Array.from({ length: 12 }, (_, n) => {
        const body = new Uint8Array(5_000_000 + n).fill(n);
        return { body, opened: openRecorded(rigOf().near, 'catalog.load', {}, { body }) };
      });
      const left = all.splice(6, 3);
      for (const { opened } of left) opened.call.cancel('left');
      await Promise.all(all.map(({ opened }) => opened.ended));
      for (const { body, opened } of all) {
        expect(opened.error).toBeNull();
        expect(Buffer.concat(opened.chunks).equals(body)).toBe(true);
      }
      await until(() => rigOf().near.stats().openCalls === 0 && rigOf().far.stats().openServed === 0, 'nothing is left');
      expect(begun.sort()).toEqual(all.map(({ body }) => body.length));
    });
  });
}
