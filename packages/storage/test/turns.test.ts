/** Stored turns on every engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { TurnFacts } from '@model-gateway/contracts';
import type { Content, Storage, TurnChange } from '../src/index.ts';
import { type Engine, engines } from './engines.ts';

const start = Date.parse('2026-05-05T12:00:00Z');
const facts = (id: string, over: Partial<TurnFacts> = {}): TurnFacts => ({
  ...{
    id,
    owner: 'ada',
    parent: null,
    conversation: null,
    model: 'm',
    status: 'in_progress',
    createdAt: start,
    background: false,
    holder: 't1',
    requestId: `r-${id}`,
  },
  ...over,
});
const content = (sealed: string, items: string[] = [], bytes = sealed.length): Content => ({ sealed, bytes, items });
const begin = (turn: TurnFacts, over: Partial<Extract<TurnChange, { kind: 'begin' }>> = {}): TurnChange => ({
  ...{ kind: 'begin', turn, input: content(`in-${turn.id}`, [`msg_${turn.id}`]), response: null, expiresAt: start + 1000, maxBytes: 1e9 },
  ...over,
});
const finish = (id: string, over: Partial<Extract<TurnChange, { kind: 'finish' }>> = {}): TurnChange => ({
  ...{ kind: 'finish', owner: 'ada', id, status: 'completed', authority: 2, response: content(`out-${id}`, [`out_${id}`]), append: [] },
  ...over,
});

describe.each(engines().map((engine) => [engine.name, engine] as [string, Engine]))('turns on %s', (_name, engine) => {
  let storage: Storage;
  let now = start;
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());
  beforeEach(async () => {
    now = start;
    storage = await engine.open(() => now);
  });
  afterEach(() => storage.close());
  const write = async (...changes: TurnChange[]) => storage.turns.write(changes);
  const chained = async (...ids: string[]) => {
    for (const [at, id] of ids.entries()) await write(begin(facts(id, { parent: ids[at - 1] ?? null })), finish(id));
  };

  test('a turn is begun, finished, and read by its owner alone', async () => {
    expect(await write(begin(facts('a')))).toEqual([{ stored: true, status: 'in_progress' }]);
    expect(await storage.turns.open()).toMatchObject([{ id: 'a', status: 'in_progress', input: null, response: null }]);
    expect(await write(finish('a'))).toEqual([{ stored: true, status: 'completed' }]);
    expect(await storage.turns.find('ada', 'a')).toMatchObject({ ...facts('a'), status: 'completed', input: 'in-a', response: 'out-a', touchedAt: start });
    expect(await storage.turns.find('bob', 'a')).toBeUndefined();
    expect(await storage.turns.chain('bob', 'a', 10)).toEqual([]);
    expect(await storage.turns.open()).toEqual([]);
  });

  test('begin and finish in one batch; a second delivery changes nothing', async () => {
    await write(begin(facts('a')), finish('a'));
    expect(await write(begin(facts('a')), finish('a', { response: content('other') }))).toEqual([
      { stored: false, reason: 'ended', status: 'completed' },
      { stored: false, reason: 'ended', status: 'completed' },
    ]);
    expect(await storage.turns.find('ada', 'a')).toMatchObject({ response: 'out-a' });
    expect(await storage.turns.usage('ada')).toEqual({ turns: 1, bytes: 9 });
  });

  test('of two endings the higher authority stands, and what was cancelled stays so', async () => {
    await write(begin(facts('a')), begin(facts('b', { background: true, status: 'queued' })), begin(facts('c')));
    expect(await write(finish('a', { authority: 0, status: 'incomplete' }))).toMatchObject([{ stored: true }]);
    expect(await write(finish('a', { authority: 1, status: 'incomplete' }), finish('a', { authority: 0, status: 'failed' }))).toMatchObject([
      { stored: true },
      { stored: false, reason: 'ended' },
    ]);
    expect(await write(finish('a', { authority: 2 }))).toMatchObject([{ stored: true, status: 'completed' }]);
    const cancel = (id: string): TurnChange => ({ kind: 'cancel', owner: 'ada', id });
    expect(await write(cancel('b'), cancel('b'), cancel('c'), cancel('none'), finish('b'))).toMatchObject([
      { stored: true, status: 'cancelled' },
      { stored: false, reason: 'ended', status: 'cancelled' },
      // Only what runs without a caller is cancelled.
      { stored: false, reason: 'ended', status: 'in_progress' },
      { stored: false, reason: 'missing' },
      { stored: false, reason: 'ended', status: 'cancelled' },
    ]);
  });

  test('a queued turn moves on once, and only while it is queued', async () => {
    const queued = facts('q', { background: true, status: 'queued' });
    const again = begin(facts('q', { background: true, status: 'in_progress' }), { input: content('', []), response: content('begun') });
    await write(begin(queued, { response: content('queued') }));
    expect(await write(again, again)).toMatchObject([
      { stored: true, status: 'in_progress' },
      { stored: true, status: 'in_progress' },
    ]);
    expect(await storage.turns.find('ada', 'q')).toMatchObject({ status: 'in_progress', input: 'in-q', response: 'begun' });
    await write(finish('q'));
    expect(await write(again)).toMatchObject([{ stored: false, reason: 'ended', status: 'completed' }]);
    expect(await storage.turns.find('ada', 'q')).toMatchObject({ response: 'out-q' });
  });

  test('a chain is read from its first turn on; a deleted turn keeps its place without content', async () => {
    await chained('a', 'b', 'c');
    expect((await storage.turns.chain('ada', 'c', 10)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(
      await write({ kind: 'delete', owner: 'ada', id: 'b' }, { kind: 'delete', owner: 'ada', id: 'b' }, { kind: 'delete', owner: 'bob', id: 'a' }),
    ).toMatchObject([{ stored: true }, { stored: false, reason: 'missing' }, { stored: false, reason: 'missing' }]);
    expect(await storage.turns.find('ada', 'b')).toBeUndefined();
    const ids = (await storage.turns.chain('ada', 'c', 10)).map(({ id }) => id);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect((await storage.turns.load('ada', ids)).map(({ id, input }) => [id, input])).toEqual([
      ['a', 'in-a'],
      ['c', 'in-c'],
    ]);
    // Who goes on from the deleted one uses its ancestors.
    expect((await storage.turns.chain('ada', 'b', 10)).map(({ id }) => id)).toEqual(['a', 'b']);
    expect(await storage.turns.turnsOfItems('ada', ['msg_a', 'out_b', 'out_c'])).toEqual(
      new Map([
        ['msg_a', 'a'],
        ['out_c', 'c'],
      ]),
    );
  });

  test('a chain that leads back to itself ends', async () => {
    await write(begin(facts('a', { parent: 'b' })), begin(facts('b', { parent: 'a' })));
    expect(await storage.turns.chain('ada', 'a', 20)).toHaveLength(21);
  });

  test('the bytes of an owner are bounded, and given back', async () => {
    expect(await write(begin(facts('a'), { maxBytes: 10 }), begin(facts('b'), { input: content('x', [], 7), maxBytes: 10 }))).toMatchObject([
      { stored: true },
      { stored: false, reason: 'full' },
    ]);
    await write({ kind: 'delete', owner: 'ada', id: 'a' });
    expect(await storage.turns.usage('ada')).toMatchObject({ bytes: 0 });
    expect(await write(begin(facts('b'), { input: content('x', [], 7), maxBytes: 10 }))).toMatchObject([{ stored: true }]);
  });

  test('a conversation grows with its turns, one at a time', async () => {
    const item = (id: string) => ({ id, sealed: `sealed-${id}`, bytes: 3 });
    const bounds = { expiresAt: start + 1000, maxBytes: 1e9 };
    await write({ kind: 'create-conversation', owner: 'ada', id: 'conv', createdAt: start, ...bounds, metadata: 'meta', items: [item('i1')] });
    expect(await storage.turns.conversation('ada', 'conv')).toEqual({ createdAt: start, metadata: 'meta' });
    expect(
      await write(begin(facts('a', { conversation: 'conv' })), begin(facts('b', { conversation: 'conv' })), begin(facts('c', { conversation: 'none' }))),
    ).toMatchObject([{ stored: true }, { stored: false, reason: 'locked' }, { stored: false, reason: 'missing' }]);
    await write(finish('a', { append: [item('i2'), item('i3')] }));
    // A better ending adds nothing a second time.
    await write(finish('a', { authority: 3, append: [item('i4')] }));
    await write({ kind: 'add-conversation-items', owner: 'ada', id: 'conv', ...bounds, items: [item('i5')] });
    const list = async (page: { after?: string; limit: number; order: 'asc' | 'desc' }) => {
      const found = await storage.turns.items('ada', 'conv', page);
      return found && [found.items.map(({ id }) => id), found.hasMore];
    };
    expect(await list({ limit: 2, order: 'asc' })).toEqual([['i1', 'i2'], true]);
    expect(await list({ limit: 2, order: 'asc', after: 'i2' })).toEqual([['i3', 'i5'], false]);
    expect(await list({ limit: 9, order: 'desc', after: 'i3' })).toEqual([['i2', 'i1'], false]);
    expect(await list({ limit: 9, order: 'desc', after: 'none' })).toBeUndefined();
    expect(await storage.turns.item('ada', 'conv', 'i5')).toEqual(item('i5'));
    expect(await storage.turns.item('bob', 'conv', 'i5')).toBeUndefined();
    expect(
      await write(
        { kind: 'delete-conversation-item', owner: 'ada', id: 'conv', item: 'i5' },
        { kind: 'update-conversation', owner: 'ada', id: 'conv', metadata: 'm2', expiresAt: start + 5 },
      ),
    ).toMatchObject([{ stored: true, createdAt: start }, { stored: true }]);
    expect(await write({ kind: 'delete-conversation', owner: 'ada', id: 'conv' })).toMatchObject([{ stored: true }]);
    expect(await storage.turns.conversation('ada', 'conv')).toBeUndefined();
    expect(await storage.turns.find('ada', 'a')).toBeDefined();
  });

  test('whole turns are written together: each new one, and the end of one that was begun', async () => {
    const put = (id: string, over: Partial<Extract<TurnChange, { kind: 'put' }>> = {}, turn: Partial<TurnFacts> = {}): TurnChange => ({
      ...{ kind: 'put', turn: facts(id, { status: 'completed', ...turn }), authority: 2, input: content('in'), response: content(`out ${id}`) },
      ...{ append: [], expiresAt: start + 1000, maxBytes: 1e9 },
      ...over,
    });
    await write(begin(facts('begun')), {
      kind: 'create-conversation',
      owner: 'ada',
      id: 'conv',
      createdAt: 1,
      expiresAt: start + 1000,
      metadata: '{}',
      items: [],
      maxBytes: 1e9,
    });
    const before = (await storage.turns.usage('ada')).bytes;
    const written = await write(
      put('one', { input: { ...content('in'), items: ['i1'] } }),
      put('begun'),
      put('one'),
      put('full', { maxBytes: 5 }),
      put('\0'),
      put('two', {}, { parent: 'one', owner: 'bob' }),
      put('in', { append: [{ id: 'i9', sealed: 'nine', bytes: 4 }] }, { conversation: 'conv' }),
      put('nowhere', {}, { conversation: 'none' }),
      { kind: 'delete', owner: 'bob', id: 'two' },
      put('three', { response: { ...content('out three'), items: ['i3'] } }),
    );
    expect(written).toEqual([
      { stored: true, status: 'completed' },
      { stored: true, status: 'completed' },
      { stored: false, reason: 'ended', status: 'completed' },
      { stored: false, reason: 'full' },
      { stored: false, reason: 'missing' },
      { stored: true, status: 'completed' },
      { stored: true, status: 'completed' },
      { stored: false, reason: 'missing' },
      { stored: true },
      { stored: true, status: 'completed' },
    ]);
    expect(await storage.turns.find('ada', 'one')).toMatchObject({ status: 'completed', authority: 2, input: 'in', response: 'out one', bytes: 9 });
    expect(await storage.turns.find('ada', 'begun')).toMatchObject({ status: 'completed', response: 'out begun' });
    expect(await storage.turns.find('bob', 'two')).toBeUndefined();
    expect(Object.fromEntries(await storage.turns.turnsOfItems('ada', ['i1', 'i3']))).toEqual({ i1: 'one', i3: 'three' });
    expect((await storage.turns.items('ada', 'conv', { limit: 9, order: 'asc' }))?.items.map(({ id }) => id)).toEqual(['i9']);
    const ours = ['out begun', 'inout one', 'inout in', 'inout three', 'nine'];
    expect((await storage.turns.usage('ada')).bytes - before).toBe(ours.join('').length);
    expect((await storage.turns.usage('bob')).bytes).toBe(0);
  });

  test('what has expired is forgotten, and all of an owner whose key is gone', async () => {
    await write(begin(facts('a')), begin(facts('b'), { expiresAt: start + 5000 }), begin(facts('c', { owner: 'bob' }), { expiresAt: start + 5000 }));
    now = start + 1000;
    expect(await storage.turns.prune()).toBe(1);
    expect(await storage.turns.find('ada', 'a')).toBeUndefined();
    expect((await storage.turns.owners()).sort()).toEqual(['ada', 'bob']);
    expect(await storage.turns.forgetOwner('ada')).toBe(1);
    expect(await storage.turns.owners()).toEqual(['bob']);
    expect(await storage.turns.find('bob', 'c')).toBeDefined();
  });

  test('what has expired goes in pieces, so that a stop or another writer never waits for all of it', async () => {
    await write(...Array.from({ length: 130 }, (_, at) => begin(facts(`old${at}`))), begin(facts('young'), { expiresAt: start + 5000 }));
    now = start + 1000;
    const before = await storage.turns.usage('ada');
    let looks = 0;
    const first = await storage.turns.prune(() => ++looks > 1);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(130);
    expect((await storage.turns.usage('ada')).turns).toBe(before.turns - first);
    expect(await storage.turns.prune()).toBe(130 - first);
    expect(await storage.turns.usage('ada')).toMatchObject({ turns: 1, bytes: Math.round(before.bytes / before.turns) });
  });

  test('operators see a chain without content', async () => {
    await chained('a', 'b');
    expect(await storage.turns.chainOf('ada', 'b', 10)).toMatchObject([
      { id: 'a', input: null, response: null },
      { id: 'b', parent: 'a', input: null },
    ]);
    expect(await storage.turns.chainOf('bob', 'b', 10)).toEqual([]);
  });

  test('a thousand turns are one chain', async () => {
    const ids = Array.from({ length: 1000 }, (_, at) => `t${at}`);
    for (let from = 0; from < ids.length; from += 100)
      await write(...ids.slice(from, from + 100).map((id, at) => begin(facts(id, { parent: from + at === 0 ? null : `t${from + at - 1}` }))));
    expect(await storage.turns.chain('ada', 't999', 1000)).toHaveLength(1000);
    expect(await storage.turns.load('ada', ids)).toHaveLength(1000);
  });
});
