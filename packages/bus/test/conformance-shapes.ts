/** Guarantees of every bus that crosses a process boundary, and of the strict memory bus, for messages of another shape than their subject's. */
import { describe, expect, test } from '@jest/globals';
import { sampleEvent } from '../../../tests/support/bus-samples.ts';
import { openRecorded, type Rig, until } from './support.ts';

/** What no subject of ours holds. */
const misshapen: unknown[] = [null, 7, 'text', [], [null], true];

/** `rigOf`: of the test that runs. */
export function shapesConformance(rigOf: () => Rig): void {
  describe('shapes', () => {
    test('a question, an opening and an answer of another shape fail, and no handler is called', async () => {
      let handled = 0;
      rigOf().far.serve({
        ask: {
          'router.plan': () => {
            handled++;
            return { revision: 1, model: 'm', nodes: [], balanced: false };
          },
          'catalog.revision': () => ({ revision: 'seven' }) as never,
        },
        open: { 'translator.run': () => void handled++ },
      });
      await rigOf().settle();
      for (const request of misshapen) {
        await expect(rigOf().near.ask('router.plan', request as never)).rejects.toMatchObject({ code: 'internal' });
        const deliveredItems = openRecorded(rigOf().near, 'translator.run', request as object);
        await deliveredItems.ended;
        expect(deliveredItems.error).toMatchObject({ code: 'internal' });
      }
      await expect(rigOf().near.ask('catalog.revision', {})).rejects.toMatchObject({ code: 'internal' });
      expect(handled).toBe(0);
      await until(() => rigOf().far.stats().openServed === 0 && rigOf().near.stats().openCalls === 0, 'nothing is left');
    });

    test('fields that the next version may add pass', async () => {
      const deliveredItems: unknown[] = [];
      rigOf().far.listen('router.outcome', (event) => void deliveredItems.push(event));
      await rigOf().settle();
      const outcomes = sampleEvent['router.outcome'].outcomes.map((outcome) => ({ ...outcome, from_the_future: { deep: [1] } }));
      rigOf().near.publish('router.outcome', { outcomes, more: true } as never);
      await until(() => deliveredItems.length === 1, 'the event');
      expect(deliveredItems).toEqual([{ outcomes, more: true }]);
    });
  });
}
