import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DeadLetter } from '@model-gateway/contracts';
import { maxDeadLetters } from '../src/dead-letters/dead-letters.ts';
import type { Storage } from '../src/index.ts';
import { engines } from './engines.ts';

const letter = (over: Partial<DeadLetter> = {}): DeadLetter => ({
  id: 'd1',
  subject: 'stats.request',
  item_id: 'r1',
  reason: 'is not an object',
  excerpt: 'null',
  bytes: 4,
  first_at: 1_000,
  last_at: 1_000,
  times: 1,
  ...over,
});

describe.each(engines())('dead letters in $name', (engine) => {
  let storage: Storage;
  beforeAll(() => engine.start());
  beforeEach(async () => {
    storage = await engine.open();
  });
  afterAll(() => engine.stop());

  test('the same again is counted, in one batch and in the next', async () => {
    await storage.deadLetters.add([letter(), letter({ first_at: 2_000, last_at: 2_000 })]);
    await storage.deadLetters.add([letter({ first_at: 3_000, last_at: 3_000 })]);
    expect(await storage.deadLetters.find('d1')).toEqual(letter({ last_at: 3_000, times: 3 }));
    expect(await storage.deadLetters.count()).toBe(1);
    await storage.close();
  });

  test('pages go from the newest to the oldest; one is removed once', async () => {
    await storage.deadLetters.add(
      Array.from({ length: 5 }, (_, at) => letter({ id: `d${at}`, last_at: at, subject: at === 0 ? 'audit.record' : 'stats.request' })),
    );
    const first = await storage.deadLetters.list({ limit: 3 });
    const second = await storage.deadLetters.list({ limit: 3, cursor: first.nextCursor! });
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(['d4', 'd3', 'd2', 'd1', 'd0']);
    expect(second.nextCursor).toBeNull();
    expect((await storage.deadLetters.list({ limit: 9, subject: 'audit.record' })).items.map(({ id }) => id)).toEqual(['d0']);
    expect([await storage.deadLetters.remove('d2'), await storage.deadLetters.remove('d2')]).toEqual([true, false]);
    await expect(storage.deadLetters.list({ limit: 1, cursor: '%' })).rejects.toMatchObject({ code: 'validation_failed' });
    await storage.close();
  });

  test('there are never too many, and old ones are forgotten', async () => {
    for (let start = 0; start < maxDeadLetters + 500; start += 500)
      await storage.deadLetters.add(Array.from({ length: 500 }, (_, at) => letter({ id: `d${start + at}`, last_at: start + at })));
    expect(await storage.deadLetters.count()).toBe(maxDeadLetters);
    expect(await storage.deadLetters.find('d0')).toBeNull();
    expect(await storage.deadLetters.prune(maxDeadLetters + 490)).toBe(maxDeadLetters - 10);
    expect(await storage.deadLetters.count()).toBe(10);
    await storage.close();
  });

  test('whatever a message held can be kept', async () => {
    await storage.deadLetters.add([letter({ excerpt: `\0\ud800${'x'.repeat(20_000)}`, item_id: '\0', reason: 'r'.repeat(2_000) })]);
    const kept = await storage.deadLetters.find('d1');
    expect(kept?.excerpt).toHaveLength(8_192);
    expect(kept?.reason).toHaveLength(500);
    await storage.close();
  });

  // An index of PostgreSQL takes no more than 2,704 bytes: a row that could never be written was delivered for ever.
  test('a value that no index takes is refused for what it holds', async () => {
    const wide = Array.from({ length: 2_000 }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7_919) % 20_000))).join('');
    const { sampleRow } = await import('./samples.ts');
    const inserted = storage.requests.insertRows([sampleRow({ client_request_id: wide })]);
    if (engine.name === 'postgresql') await expect(inserted).rejects.toMatchObject({ code: 'validation_failed' });
    else await inserted;
    await storage.close();
  });
});
