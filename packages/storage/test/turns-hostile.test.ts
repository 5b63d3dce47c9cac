/** Stored turns against what callers, several processes and a damaged database may do to them, on every engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { TurnFacts } from '@model-gateway/contracts';
import type { Content, Storage, StoredItem, TurnChange } from '../src/index.ts';
import { type Engine, engines } from './engines.ts';

const start = Date.parse('2026-05-05T12:00:00Z');
const facts = (id: string, over: Partial<TurnFacts> = {}): TurnFacts => ({
  ...{ id, owner: 'ada', parent: null, conversation: null, model: 'm', status: 'in_progress', createdAt: start },
  ...{ background: false, holder: 't1', requestId: `r-${id}` },
  ...over,
});
const content = (sealed: string, items: readonly string[] = []): Content => ({ sealed, bytes: sealed.length, items });
const item = (id: string, sealed = `sealed ${id}`): StoredItem => ({ id, sealed, bytes: sealed.length });
const begin = (turn: TurnFacts, input = content('1234'), maxBytes = 1e9): TurnChange => ({
  ...{ kind: 'begin', turn, input, response: null, expiresAt: start + 1000, maxBytes },
});
const finish = (turn: Pick<TurnFacts, 'id' | 'owner'>, over: Partial<Extract<TurnChange, { kind: 'finish' }>> = {}): TurnChange => ({
  ...{ kind: 'finish', owner: turn.owner, id: turn.id, status: 'completed', authority: 2, response: content('56'), append: [] },
  ...over,
});
const conversation = (id: string, owner = 'ada', items: readonly StoredItem[] = []): TurnChange => ({
  ...{ kind: 'create-conversation', owner, id, createdAt: start, expiresAt: start + 1000, metadata: '{}', items, maxBytes: 1e9 },
});
const all = { limit: 100, order: 'asc' } as const;
/** What no database takes as it is, and what is only strange. */
const strange = ['\0', 'a\0b', '\ud800', "'; drop table turns; --", '%', 'x'.repeat(100_000), '世'.repeat(400), '', '../../x', '__proto__'];

describe.each(engines().map((engine) => [engine.name, engine] as [string, Engine]))('hostile input to turns on %s', (_name, engine) => {
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
  const idsOf = async (id: string, maxTurns = 1000) => (await storage.turns.chain('ada', id, maxTurns)).map((link) => link.id);

  test('strange ids are not there, and never spoil the writes of others in the batch', async () => {
    for (const id of strange) {
      await expect(storage.turns.find('ada', id)).resolves.toBeUndefined();
      await expect(storage.turns.chain('ada', id, 10)).resolves.toEqual([]);
      await expect(storage.turns.load('ada', [id])).resolves.toEqual([]);
      await expect(storage.turns.conversation('ada', id)).resolves.toBeUndefined();
      await expect(storage.turns.item('ada', id, id)).resolves.toBeUndefined();
      await expect(storage.turns.items('ada', id, { ...all, after: id })).resolves.toBeUndefined();
      await expect(storage.turns.chainOf('ada', id, 10)).resolves.toEqual([]);
      const fine = facts(`fine ${strange.indexOf(id)}`);
      const written = await write(
        ...[begin(facts('lost', { conversation: id })), finish({ owner: 'ada', id }), { kind: 'delete', owner: 'ada', id } as const],
        ...[{ kind: 'cancel', owner: 'ada', id } as const, { kind: 'delete-conversation', owner: 'ada', id } as const],
        ...[{ kind: 'delete-conversation-item', owner: 'ada', id, item: id } as const, begin(fine)],
      );
      expect(written.slice(0, -1)).toEqual(Array.from({ length: 6 }, () => expect.objectContaining({ stored: false, reason: 'missing' })));
      expect(written.at(-1)).toMatchObject({ stored: true });
      expect(await storage.turns.find('ada', fine.id)).toMatchObject({ id: fine.id });
    }
  });

  test('strange names, parents and items of a turn are stored without harm', async () => {
    for (const [at, text] of strange.entries()) {
      const turn = facts(`t${at}`, { parent: text, model: text, requestId: text, holder: text, stream: text });
      expect(await write(begin(turn, content('1', [text, `${text}!`])), finish(turn, { response: content('2', [text]) }))).toMatchObject([
        {},
        { stored: true },
      ]);
      expect(await idsOf(turn.id)).toEqual([turn.id]);
      expect([...(await storage.turns.turnsOfItems('ada', [text, `${text}?`]))]).toEqual([[text, turn.id]]);
    }
    await write(
      conversation(
        'c',
        'ada',
        strange.map((text, at) => item(text, `sealed ${at}`)),
      ),
    );
    for (const [at, text] of strange.entries()) expect(await storage.turns.item('ada', 'c', text)).toMatchObject({ sealed: `sealed ${at}` });
  });

  test('another owner with the same ids sees, ends, deletes and extends nothing', async () => {
    await write(conversation('c'), begin(facts('a', { background: true, conversation: 'c' }), content('1234', ['i'])));
    const other = { owner: 'eve', id: 'a' };
    expect(
      await write(
        ...[
          finish(other),
          { kind: 'cancel', ...other } as const,
          { kind: 'delete', ...other } as const,
          begin(facts('e', { owner: 'eve', conversation: 'c' })),
        ],
        { kind: 'add-conversation-items', owner: 'eve', id: 'c', items: [item('x')], expiresAt: start, maxBytes: 1e9 },
      ),
    ).toEqual(Array.from({ length: 5 }, () => ({ stored: false, reason: 'missing' })));
    // The same id of another owner is another turn, and a parent of another owner gives nothing.
    expect(await write(begin(facts('a', { owner: 'eve' })), begin(facts('child', { owner: 'eve', parent: 'a' })))).toMatchObject([
      { stored: true },
      { stored: true },
    ]);
    expect(await write(finish({ owner: 'ada', id: 'a' }))).toMatchObject([{ stored: true }]);
    expect(await storage.turns.find('eve', 'a')).toMatchObject({ status: 'in_progress', conversation: null });
    expect((await storage.turns.turnsOfItems('eve', ['i'])).size).toBe(0);
    expect(await storage.turns.items('eve', 'c', all)).toEqual({ items: [], hasMore: false });
    await storage.turns.forgetOwner('eve');
    expect(await storage.turns.find('ada', 'a')).toMatchObject({ status: 'completed' });
    expect(await storage.turns.conversation('ada', 'c')).toBeDefined();
  });

  test('a chain that leads back to itself ends at the bound, and is forgotten like any other', async () => {
    await write(
      begin(facts('a', { parent: 'c' })),
      begin(facts('b', { parent: 'a' })),
      begin(facts('c', { parent: 'b' })),
      begin(facts('self', { parent: 'self' })),
    );
    expect(await storage.turns.chain('ada', 'c', 50)).toHaveLength(51);
    expect(await storage.turns.chain('ada', 'self', 50)).toHaveLength(51);
    expect(await storage.turns.chainOf('ada', 'a', 50)).toHaveLength(51);
    now = start + 1000;
    expect(await storage.turns.prune()).toBe(4);
  });

  test('1,001 turns: the chain is one turn longer than the bound, and is read from the oldest on', async () => {
    const ids = Array.from({ length: 1001 }, (_, at) => `t${at}`);
    for (let at = 0; at < ids.length; at += 100)
      await write(...ids.slice(at, at + 100).flatMap((id, more) => [begin(facts(id, { parent: ids[at + more - 1] ?? null })), finish(facts(id))]));
    expect(await idsOf('t1000')).toEqual(ids);
    expect(await idsOf('t999')).toHaveLength(1000);
    expect((await storage.turns.load('ada', ids)).map(({ id }) => id)).toEqual(ids);
  });

  test('64 MiB of one turn come back as they were', async () => {
    const large = 'ab'.repeat(32 * 1024 * 1024);
    await write(begin(facts('a'), content(large)));
    expect((await storage.turns.find('ada', 'a'))?.input === large).toBe(true);
    expect(await storage.turns.usage('ada')).toEqual({ turns: 1, bytes: large.length });
    expect(await write(begin(facts('b'), content('x'), large.length))).toEqual([{ stored: false, reason: 'full' }]);
    await write({ kind: 'delete', owner: 'ada', id: 'a' });
    expect(await storage.turns.usage('ada')).toMatchObject({ bytes: 0 });
  });

  test('what a better ending replaces, and items that are there already, are not counted twice', async () => {
    const turn = facts('a');
    await write(begin(turn), finish(turn, { authority: 0, status: 'incomplete', response: content('x'.repeat(100)) }), finish(turn));
    expect(await storage.turns.usage('ada')).toEqual({ turns: 1, bytes: 6 });
    const items = [item('i', '12345'), item('i', '67890')];
    const add: TurnChange = { kind: 'add-conversation-items', owner: 'ada', id: 'c', items, expiresAt: start + 1000, maxBytes: 1e9 };
    await write(conversation('c', 'ada', [item('h', '123')]), conversation('c', 'ada', [item('other')]), add, add);
    expect((await storage.turns.items('ada', 'c', all))?.items.map(({ sealed }) => sealed)).toEqual(['123', '12345']);
    expect(await storage.turns.usage('ada')).toMatchObject({ bytes: 6 + 3 + 5 });
    await write({ kind: 'delete-conversation', owner: 'ada', id: 'c' }, { kind: 'delete', owner: 'ada', id: 'a' });
    expect(await storage.turns.usage('ada')).toMatchObject({ bytes: 0 });
  });

  test('a turn that is deleted in progress holds up neither its conversation nor its descendants', async () => {
    await write(conversation('c'), begin(facts('a', { conversation: 'c' })));
    expect(await write(begin(facts('b', { conversation: 'c' })))).toEqual([{ stored: false, reason: 'locked' }]);
    await write({ kind: 'delete', owner: 'ada', id: 'a' });
    expect(await write(begin(facts('b', { conversation: 'c', parent: 'a' })), finish(facts('a')))).toMatchObject([{ stored: true }, { reason: 'missing' }]);
    expect(await storage.turns.chain('ada', 'b', 10)).toMatchObject([{ id: 'a', status: 'cancelled', deleted: true }, { id: 'b' }]);
    expect((await storage.turns.open()).map(({ id }) => id)).toEqual(['b']);
  });

  test('a cancelled turn gets what was made of it until then, and no other ending', async () => {
    const turn = facts('a', { background: true });
    await write(begin(turn), { kind: 'cancel', owner: 'ada', id: 'a' });
    expect(await write(finish(turn), finish(turn, { status: 'cancelled', response: content('partly') }))).toEqual([
      { stored: false, reason: 'ended', status: 'cancelled' },
      { stored: true, status: 'cancelled' },
    ]);
    expect(await storage.turns.find('ada', 'a')).toMatchObject({ status: 'cancelled', response: 'partly' });
  });

  test('several processes write for the same owners at once: nothing is lost, locked or counted wrong', async () => {
    const others = engine.another ? [await engine.another(), await engine.another()] : [];
    const stores = [storage, others[0] ?? storage, others[1] ?? storage];
    const owners = ['ada', 'bob', 'cyd'];
    await write(...owners.map((owner) => conversation('c', owner)));
    try {
      const rounds = Array.from({ length: 12 }, (_, round) => round);
      const written = await Promise.all(
        stores.flatMap((store, at) =>
          rounds.map((round) => {
            // Each process goes through the owners in another order.
            const turns = owners.map((_, step) => facts(`${at}-${round}`, { owner: owners[(step + at + round) % owners.length]! }));
            return store.turns.write(turns.flatMap((turn) => [begin(turn), finish(turn)]));
          }),
        ),
      );
      expect(written.flat().every(({ stored }) => stored)).toBe(true);
      for (const owner of owners) expect(await storage.turns.usage(owner)).toEqual({ turns: 36, bytes: 36 * 6 });
      // One conversation has one turn at a time, and one turn one ending.
      const locks = await Promise.all(stores.map((store, at) => store.turns.write([begin(facts(`lock ${at}`, { conversation: 'c' }))])));
      expect(locks.flat().filter(({ stored }) => stored)).toHaveLength(1);
      const endings = await Promise.all(
        stores.map((store, at) => store.turns.write([finish({ owner: 'ada', id: `lock ${locks.findIndex(([one]) => one?.stored)}` }, { authority: at })])),
      );
      expect(endings.flat().some(({ stored }) => stored)).toBe(true);
      const ended = await storage.turns.chain('ada', `lock ${locks.findIndex(([one]) => one?.stored)}`, 1);
      expect(ended).toMatchObject([{ status: 'completed', bytes: 6 }]);
    } finally {
      await Promise.all(others.map((store) => store.close()));
    }
  });
});
