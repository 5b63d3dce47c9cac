/** Tasks of upstreams on every engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { NewTask, Storage, TaskQuery } from '../src/index.ts';
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
  const end = (owner: string, reply: string) => ({ owner, id: 'a', status: 'succeeded' as const, reply, heldUntil: now + 5 });
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
    expect(await storage.tasks.end(end('bob', 'r'))).toBe(false);
    const ends = await Promise.all(['one', 'two'].map((reply) => storage.tasks.end(end('ada', reply))));
    expect(ends.filter(Boolean)).toHaveLength(1);
    expect(await storage.tasks.find('ada', 'a')).toMatchObject({ status: 'succeeded', reply: ends[0] ? 'one' : 'two' });
    await storage.tasks.setDue('ada', 'a', 0);
    now = start + 500;
    expect(await leased()).toEqual([]);
    now = start + 1000;
    expect(await storage.tasks.prune()).toBe(1);
    expect(await storage.tasks.find('ada', 'a')).toBeUndefined();
  });

  test('holds what its call reserved of budgets until it ends, or until its time is over', async () => {
    const owners = (from = start) =>
      (
        [
          ['key', 'k', 'USD'],
          ['key', 'k', 'EUR'],
          ['group', 'g', 'USD'],
          ['key', 'other', 'USD'],
          ['key', 'g', 'USD'],
        ] as const
      ).map(([kind, name, currency]) => ({ kind, name, currency, from }));
    const reservation = { accessKey: 'k', keyGroup: 'g', amounts: { USD: 70, EUR: 3, CNY: 0 }, until: start + 900 };
    await add('a', { reservation });
    // What is noted again is held once.
    await add('a', { reservation });
    await add('b', { reservation: { ...reservation, amounts: { USD: 5 } } });
    await add('c');
    expect(await storage.tasks.held(owners())).toEqual([75, 3, 75, 0, 0]);
    expect(await storage.tasks.held(owners(start + 1))).toEqual([0, 0, 0, 0, 0]);
    expect(await storage.tasks.held([])).toEqual([]);
    expect(await storage.tasks.end(end('ada', 'r'))).toBe(true);
    now = start + 4;
    expect(await storage.tasks.held(owners())).toEqual([75, 3, 75, 0, 0]);
    now = start + 5;
    expect(await storage.tasks.held(owners())).toEqual([5, 0, 5, 0, 0]);
    // The second end changes nothing.
    expect(await storage.tasks.end({ ...end('ada', 'r'), heldUntil: start + 800 })).toBe(false);
    expect(await storage.tasks.held(owners())).toEqual([5, 0, 5, 0, 0]);
    now = start + 900;
    expect(await storage.tasks.held(owners())).toEqual([0, 0, 0, 0, 0]);
  });

  test('is listed to operators by what it is looked up by, the newest first', async () => {
    await add('a', { accessKey: 'k', model: 'm', request: 'r' });
    await add('b', { owner: 'bob', createdAt: start + 1, accessKey: 'k2', model: 'm' });
    await add('c', { createdAt: start + 1 });
    const ids = async (query: Partial<TaskQuery>) => (await storage.tasks.list({ limit: 10, ...query })).items.map(({ id }) => id);
    expect(await ids({})).toEqual(['c', 'b', 'a']);
    expect(await ids({ model: 'm' })).toEqual(['b', 'a']);
    expect(await ids({ model: 'm', accessKey: 'k', request: 'r', status: 'running', id: 'a' })).toEqual(['a']);
    expect(await ids({ status: 'failed' })).toEqual([]);
    const first = await storage.tasks.list({ limit: 2 });
    expect([first.items.length, first.hasMore]).toEqual([2, true]);
    const second = await storage.tasks.list({ limit: 2, cursor: first.items.at(-1)!.cursor });
    expect([second.items.map(({ id }) => id), second.hasMore]).toEqual([['a'], false]);
    expect(second.items[0]).toMatchObject({ owner: 'ada', content: 'c-a', createdAt: start, expiresAt: start + 1000 });
  });
});
