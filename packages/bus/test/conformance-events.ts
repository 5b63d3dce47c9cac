/** Guarantees of every bus for events, volatile and durable. */
import { describe, expect, test } from '@jest/globals';
import { nothingFor, type Rig, row, until } from './support.ts';

/** `rigOf`: of the test that runs. */
export function eventConformance(rigOf: () => Rig): void {
  describe('events', () => {
    test('every listener gets each event until it is disposed of', async () => {
      const first: number[] = [];
      const second: number[] = [];
      const ear = rigOf().far.listen('catalog.changed', (event) => first.push(event.revision));
      rigOf().near.listen('catalog.changed', (event) => {
        second.push(event.revision);
        throw new Error('a listener that throws harms nobody');
      });
      await rigOf().settle();
      for (let revision = 1; revision <= 3; revision++) rigOf().near.publish('catalog.changed', { revision, previous: revision - 1 });
      await until(() => first.length === 3 && second.length === 3, 'three items each');
      await ear.dispose();
      rigOf().near.publish('catalog.changed', { revision: 4, previous: 3 });
      await until(() => second.length === 4, 'the fourth');
      expect(first).toEqual([1, 2, 3]);
    });

    test('durable events come in batches, wait for a listener, and are redelivered until they are handled', async () => {
      const described = Promise.all(Array.from({ length: 30 }, (_, i) => rigOf().near.publishDurable('stats.request', `n${i}`, row(`n${i}`))));
      await nothingFor(100);
      const seen = new Map<string, number>();
      let refusals = 2;
      const batches: number[] = [];
      const ear = rigOf().far.listenDurably(
        'stats.request',
        async (batch) => {
          if (refusals-- > 0) throw new Error('the database is away');
          batches.push(batch.length);
          for (const { id, event } of batch) {
            expect(event.id).toBe(id);
            seen.set(id, (seen.get(id) ?? 0) + 1);
          }
        },
        { maxBatch: 500, maxWaitMs: 100 },
      );
      await described;
      await until(() => seen.size === 30, 'all thirty');
      expect(batches.length).toBeLessThanOrEqual(5);
      await ear.dispose();
      expect(rigOf().near.stats().outboxItems).toBe(0);
    });

    test('one of all durable listeners gets each item', async () => {
      const seen: string[] = [];
      for (let i = 0; i < 2; i++) {
        rigOf().far.listenDurably('stats.request', async (batch) => void seen.push(...batch.map(({ id }) => id)), { maxBatch: 5, maxWaitMs: 20 });
      }
      await Promise.all(Array.from({ length: 40 }, (_, i) => rigOf().near.publishDurable('stats.request', `m${i}`, row(`m${i}`))));
      await until(() => seen.length >= 40, 'forty');
      await nothingFor(100);
      expect(seen.length).toBe(40);
      expect(new Set(seen).size).toBe(40);
    });
  });
}
