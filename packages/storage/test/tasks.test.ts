/** Tasks of upstreams on every engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { NewTask, Storage } from '../src/index.ts';
import { type Engine, engines } from './engines.ts';

const start = Date.parse('2026-05-05T12:00:00Z');

describe.each(engines().map((engine) => [engine.name, engine] as [string, Engine]))('tasks on %s', (_name, engine) => {
  let storage: Storage;
  let now = start;
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());
  beforeEach(async () => {
    now = start;
    storage = await engine.open(() => now);
  });
  afterEach(() => storage.close());
  const add = (id: string, over: Partial<NewTask> = {}) =>
    storage.tasks.add({ ...{ owner: 'ada', id, content: `c-${id}`, createdAt: start, dueAt: start + 10, expiresAt: start + 1000 }, ...over });
  const leased = async (limit = 10) => (await storage.tasks.lease(limit, 100)).map(({ id }) => id);

  test('belongs to its owner, and is added once', async () => {
    await add('a');
    await add('a', { content: 'other' });
    expect(await storage.tasks.find('ada', 'a')).toEqual({ owner: 'ada', id: 'a', status: 'running', content: 'c-a', reply: null });
    expect(await storage.tasks.find('bob', 'a')).toBeUndefined();
    expect(await storage.tasks.find('ada', "a' or 1=1 --")).toBeUndefined();
  });

  test('is leased when it is due, to one process at a time, those that waited longest first', async () => {
    await add('later', { dueAt: start + 20 });
    await add('first', { dueAt: start + 5 });
    await add('second');
    expect(await leased()).toEqual([]);
    now = start + 15;
    expect(await leased(1)).toEqual(['first']);
    expect(await leased()).toEqual(['second']);
    now = start + 30;
    const rounds = await Promise.all([leased(), leased(), leased()]);
    expect(rounds.flat()).toEqual(['later']);
    // The process that had the lease is gone.
    now = start + 200;
    expect((await leased()).sort()).toEqual(['first', 'later', 'second']);
    await storage.tasks.setDue('ada', 'first', start + 500);
    now = start + 600;
    expect((await leased()).sort()).toEqual(['first', 'later', 'second']);
  });

  test('ends once, and is looked at no more', async () => {
    await add('a');
    expect(await storage.tasks.end('bob', 'a', 'succeeded', 'r')).toBe(false);
    const ends = await Promise.all(['one', 'two'].map((reply) => storage.tasks.end('ada', 'a', 'succeeded', reply)));
    expect(ends.filter(Boolean)).toHaveLength(1);
    expect(await storage.tasks.find('ada', 'a')).toMatchObject({ status: 'succeeded', reply: ends[0] ? 'one' : 'two' });
    await storage.tasks.setDue('ada', 'a', 0);
    now = start + 500;
    expect(await leased()).toEqual([]);
    now = start + 1000;
    expect(await storage.tasks.prune()).toBe(1);
    expect(await storage.tasks.find('ada', 'a')).toBeUndefined();
  });
});
