/** Twenty thousand access keys: lists, searches and commits stay quick, and a commit publishes only what it changed. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCatalogWatcher } from '@model-gateway/catalog';
import type { CatalogDelta } from '@model-gateway/contracts';
import type { Storage } from '@model-gateway/storage';
import { type Engine, engines, silent } from '../../../packages/storage/test/engines.ts';
import { sampleGroup, sampleKey, sampleRow } from '../../../packages/storage/test/samples.ts';
import { api, type Harness, startConsole } from './harness.ts';

const count = 20_000;

/** One in a hundred is tagged; one tag holds what separates tags, and what JSON escapes. */
const tagsOf = (index: number): string[] => [...(index % 100 === 0 ? ['vip'] : []), ...(index === 0 ? ['first'] : []), ...(index === 100 ? ['a,"b" %'] : [])];

/** The middle of several, in ms: this machine does other things too. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 7; round++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[3] ?? Number.POSITIVE_INFINITY;
}

describe.each(engines().map((engine) => [engine.name, engine] as [string, Engine]))('twenty thousand keys on %s', (_name, engine) => {
  let storage: Storage;
  let harness: Harness;
  beforeAll(async () => {
    await engine.start();
    storage = await engine.open();
    await storage.catalog.change(async (writer) => {
      await writer.keyGroups.insert('g1', sampleGroup());
      for (let index = 0; index < count; index++)
        await writer.accessKeys.insert(
          `k${index}`,
          sampleKey({ name: `key-${index}`, group: 'team', hash: index.toString(16).padStart(64, '0'), tags: tagsOf(index), description: 'described' }),
        );
    });
    harness = await startConsole(storage);
  }, 300_000);
  afterAll(async () => {
    await harness?.close();
    await storage?.close();
    await engine.stop();
  });

  test('lists and searches', async () => {
    const { body } = await harness.call('GET', `${api}/access-keys?q=KEY-1999&page_size=5&sort=-created_at`);
    expect([body.total, body.items.length]).toEqual([11, 5]);
    expect((await harness.call('GET', `${api}/access-keys?group=team&page_size=1`)).body.total).toBe(count);
    expect((await harness.call('GET', `${api}/access-keys?group=nobody`)).body.total).toBe(0);
    // Far above what it takes (a few ms), far below what a scan of everything by every row would take.
    for (const query of ['page=400', 'q=key-1999', 'sort=-updated_at&page=200', 'group=team&q=9', 'tags=vip', 'tags=vip&sort=-created_at&q=9', 'tags=nobody']) {
      const ms = await timed(() => harness.call('GET', `${api}/access-keys?${query}`));
      expect(ms).toBeLessThan(2_000);
    }
  });

  test('by tags: all of those that are named, whatever they hold', async () => {
    const found = async (query: string) => {
      const { body } = await harness.call('GET', `${api}/access-keys?${query}`);
      return [body.total, body.items[0]?.name];
    };
    expect(await found('tags=vip')).toEqual([count / 100, 'key-0']);
    expect(await found('tags=vip,first')).toEqual([1, 'key-0']);
    expect(await found('tags=first&tags=a%2C%22b%22%20%25')).toEqual([0, undefined]);
    expect(await found('tags=a%2C%22b%22%20%25&tags=vip')).toEqual([1, 'key-100']);
    // In the document, but not among the tags.
    expect(await found('tags=described')).toEqual([0, undefined]);
  });

  test('a commit publishes a small event, and reaches watchers', async () => {
    const watcher = createCatalogWatcher({ bus: harness.bus, logger: silent });
    await watcher.start();
    const described: (CatalogDelta | undefined)[] = [];
    harness.bus.listen('catalog.changed', ({ delta }) => described.push(delta));
    let round = 0;
    const took = await timed(() => harness.call('PATCH', `${api}/access-keys/key-7`, { description: `round ${round++}` }));
    expect(took).toBeLessThan(2_000);
    const isTold = async () => described.length === 7 && watcher.current()?.revision === (await storage.catalog.revision());
    for (const end = Date.now() + 20_000; !(await isTold()) && Date.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(described).toHaveLength(7);
    expect(described.every((delta) => delta?.access_keys?.put.length === 1)).toBe(true);
    expect(watcher.current()).toMatchObject({ revision: await storage.catalog.revision() });
    expect(watcher.current()?.accessKeys.size).toBe(count);
    await watcher.stop();
  });

  test('a key shows when it was used last', async () => {
    const at = Date.parse('2026-03-01T12:00:00Z');
    await storage.requests.insertRows([
      sampleRow({ id: 'older', started_at: at - 1_000, access_key: 'key-3' }),
      sampleRow({ id: 'newest', started_at: at, access_key: 'key-3' }),
    ]);
    expect((await harness.call('GET', `${api}/access-keys/key-3`)).body.last_used_at).toBe('2026-03-01T12:00:00.000Z');
    const { body } = await harness.call('GET', `${api}/access-keys?q=key-3&page_size=2`);
    expect(body.items.map(({ last_used_at }: { last_used_at: string | null }) => last_used_at)).toEqual(['2026-03-01T12:00:00.000Z', null]);
  });
});
