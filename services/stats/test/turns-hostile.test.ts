/** The store of turns under hostile questions, many chains at once, and a database that counts the statements it is given. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createMemoryBus, type Disposable } from '@model-gateway/bus';
import type { TurnFacts, TurnsFound, TurnsRead, TurnsWrite, TurnsWritten } from '@model-gateway/contracts';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import { openStorage, type Storage, type TurnChange } from '@model-gateway/storage';
import { createLogger } from '@model-gateway/telemetry';
import { keepTurns } from '../src/turns/keep-turns.ts';
import { startSweeper } from '../src/turns/sweeper.ts';
import type { TurnStore } from '../src/turns/write-turns.ts';

const logger = createLogger({ level: 'fatal', name: 'test' });
const keyring = createKeyring(generateMasterKey());
let bus: ReturnType<typeof createMemoryBus>;
let storage: Storage;
let store: Disposable;
/** The transactions of writers, as lists of changes. */
let transactions: (readonly TurnChange[])[] = [];

beforeEach(async () => {
  bus = createMemoryBus({ logger, strict: true });
  storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: { info: () => undefined, warn: () => undefined } });
  await storage.migrate();
  transactions = [];
  const turns: Storage['turns'] = {
    ...storage.turns,
    write(changes) {
      transactions.push(changes);
      return storage.turns.write(changes);
    },
  };
  store = keepTurns({
    ...{ bus, storage: { turns }, keyring, logger, now: Date.now, setAside: async () => undefined, pace: { silentMs: 60_000, everyMs: 1000 } },
    config: { enabled: true, retentionDays: 30, maxBytesPerKey: 1e9 },
  });
});
afterEach(async () => {
  await store.dispose();
  await storage.close();
});

const facts = (id: string, over: Partial<TurnFacts> = {}): TurnFacts => ({
  ...{ id, owner: 'ada', parent: null, conversation: null, model: 'm', status: 'completed', createdAt: 1 },
  ...{ background: false, holder: 't1', requestId: `r-${id}` },
  ...over,
});
const write = (request: TurnsWrite, content?: unknown): Promise<TurnsWritten> =>
  new Promise((resolve, reject) => {
    const reader = { head: () => undefined, data: () => undefined, tail: () => undefined, whole: resolve, broken: reject };
    bus.open('turns.write', request, reader, { body: Buffer.from(content === undefined ? '' : JSON.stringify(content)) });
  });
const read = (request: TurnsRead): Promise<{ found: TurnsFound; json: unknown }> =>
  new Promise((resolve, reject) => {
    bus.open('turns.read', request, {
      head: () => undefined,
      data: () => undefined,
      tail: () => undefined,
      whole: (found, bytes) => resolve({ found, json: bytes.length === 0 ? undefined : JSON.parse(Buffer.from(bytes).toString()) }),
      broken: reject,
    });
  });
const put = (id: string, over: Partial<TurnFacts> = {}, text = id) =>
  write(
    { kind: 'put', turn: facts(id, over), authority: 2 },
    { input: [{ type: 'message', id: `in_${id}`, content: text }], response: { id, status: 'completed', output: [{ type: 'message', id: `out_${id}` }] } },
  );
const history = (turn: string, owner = 'ada') => read({ kind: 'history', owner, turn, waitMs: 0, maxTurns: 1000, maxBytes: 1e8 });

/** The same with the body's own bytes, as a writer sends them that says where its items end, or of what request it is the body. */
const putBytes = (id: string, body: string, inputBytes: number): Promise<TurnsWritten> =>
  writeBytes({ kind: 'put', turn: facts(id), authority: 2, inputBytes }, body);
const writeBytes = (request: TurnsWrite, body: string): Promise<TurnsWritten> =>
  new Promise((resolve, reject) => {
    const reader = { head: () => undefined, data: () => undefined, tail: () => undefined, whole: resolve, broken: reject };
    bus.open('turns.write', request, reader, { body: Buffer.from(body) });
  });

describe('a body whose writer says where its items end', () => {
  const input = '[ {"type":"message","id":"in_1","content":"é 1e2"} ]';
  const response = '{"id":"r", "status":"completed","output":[{"id":"out_1","n":1.0}]}';
  const body = `{"input":${input},"response":${response}}`;
  const inputBytes = Buffer.byteLength(input);

  test('is stored as it was written, and its items are found', async () => {
    expect(await putBytes('own', body, inputBytes)).toMatchObject({ stored: true });
    expect((await read({ kind: 'turn', owner: 'ada', id: 'own' })).json).toEqual(JSON.parse(response));
    expect((await read({ kind: 'input-items', owner: 'ada', id: 'own' })).json).toEqual(JSON.parse(input));
    expect((await read({ kind: 'items', owner: 'ada', ids: ['in_1', 'out_1'] })).json).toMatchObject({ in_1: { content: 'é 1e2' }, out_1: { n: 1 } });
    expect((await storage.turns.find('ada', 'own'))?.bytes).toBe(inputBytes + Buffer.byteLength(response));
  });

  test.each([0, 1, inputBytes - 1, inputBytes + 1, body.length, 1e15])('%p is no such place: the body is read as any other', async (wrong) => {
    expect(await putBytes(`wrong_${wrong}`, body, wrong)).toMatchObject({ stored: true });
    expect((await read({ kind: 'input-items', owner: 'ada', id: `wrong_${wrong}` })).json).toEqual(JSON.parse(input));
  });

  test('is not read where its items are named, and what they are named is what they are found by', async () => {
    const named = { authority: 2, inputBytes, items: ['in_1', 'named'] } as const;
    expect(await writeBytes({ kind: 'put', turn: facts('put'), ...named }, body)).toMatchObject({ stored: true });
    expect((await read({ kind: 'turn', owner: 'ada', id: 'put' })).json).toEqual(JSON.parse(response));
    expect((await read({ kind: 'input-items', owner: 'ada', id: 'put' })).json).toEqual(JSON.parse(input));
    expect((await storage.turns.turnsOfItems('ada', ['in_1', 'named', 'out_1'])).size).toBe(2);
    const begun = `{"input":${input},"response":{"id":"r","output":[]}}`;
    await writeBytes({ kind: 'begin', turn: facts('streamed', { status: 'in_progress' }), inputBytes, items: ['in_2'] }, begun);
    await writeBytes({ kind: 'finish', owner: 'ada', id: 'streamed', status: 'completed', authority: 2, conversation: null, items: ['out_2'] }, response);
    expect((await read({ kind: 'turn', owner: 'ada', id: 'streamed' })).json).toEqual(JSON.parse(response));
    expect((await storage.turns.turnsOfItems('ada', ['in_2', 'out_2'])).size).toBe(2);
  });

  test('is read all the same where a conversation gets its items, or its end is not where it was said to be', async () => {
    await write({ kind: 'create-conversation', owner: 'ada', id: 'conv', createdAt: 1 }, { items: [], metadata: {} });
    const asked = { authority: 2, items: ['other'] } as const;
    await writeBytes({ kind: 'put', turn: facts('talk', { conversation: 'conv' }), ...asked, inputBytes }, body);
    expect((await read({ kind: 'conversation-items', owner: 'ada', id: 'conv', limit: 10, order: 'asc' })).json).toEqual([
      ...(JSON.parse(input) as unknown[]),
      ...JSON.parse(response).output,
    ]);
    await writeBytes({ kind: 'put', turn: facts('moved'), ...asked, inputBytes: inputBytes - 1 }, body);
    expect((await read({ kind: 'input-items', owner: 'ada', id: 'moved' })).json).toEqual(JSON.parse(input));
    await expect(writeBytes({ kind: 'put', turn: facts('none'), ...asked, inputBytes }, `{"input":${input},"response":[]}`)).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  test('parts that are no JSON, or of another shape, are refused', async () => {
    const bodies: [string, string][] = [
      ['[{]', response],
      [input, '{"output":'],
      ['{}', response],
      [input, '[]'],
    ];
    for (const [items, reply] of bodies)
      await expect(putBytes('bad', `{"input":${items},"response":${reply}}`, Buffer.byteLength(items))).rejects.toMatchObject({ code: 'invalid_request' });
    expect((await read({ kind: 'turn', owner: 'ada', id: 'bad' })).found.found).toBe(false);
  });
});

describe('a turn whose end is on its way', () => {
  const end = { id: 't', status: 'completed', output: [] };
  test.each([
    ['of a caller that waits for it: is waited for', {}, 'completed'],
    ['of a run without a caller: is answered as it stands', { background: true }, 'in_progress'],
  ] as const)('%s', async (_name, over, status) => {
    await write({ kind: 'begin', turn: facts('t', { status: 'in_progress', ...over }) }, { input: [], response: { ...end, status: 'in_progress' } });
    const asked = read({ kind: 'turn', owner: 'ada', id: 't', waitMs: 5_000 });
    await read({ kind: 'turn', owner: 'ada', id: 't' });
    await write({ kind: 'finish', owner: 'ada', id: 't', status: 'completed', authority: 2, conversation: null }, end);
    expect((await asked).json).toMatchObject({ status });
  });

  test('no longer than the reader says', async () => {
    await write({ kind: 'begin', turn: facts('t', { status: 'in_progress' }) }, { input: [], response: { ...end, status: 'in_progress' } });
    expect((await read({ kind: 'turn', owner: 'ada', id: 't', waitMs: 60 })).json).toMatchObject({ status: 'in_progress' });
  });
});

describe('the store of turns under load and malice', () => {
  test('strange ids are not there, for every question', async () => {
    for (const id of ['\0', 'a\0b', "' or 1=1 --", '%', 'x'.repeat(100_000), '', '__proto__', '\ud800'])
      for (const request of [
        { kind: 'turn', owner: 'ada', id },
        { kind: 'input-items', owner: 'ada', id },
        { kind: 'history', owner: 'ada', turn: id, waitMs: 0, maxTurns: 10, maxBytes: 10 },
        { kind: 'history', owner: 'ada', conversation: id, waitMs: 0, maxTurns: 10, maxBytes: 10 },
        { kind: 'conversation', owner: 'ada', id },
        { kind: 'conversation-items', owner: 'ada', id, limit: 5, order: 'asc', after: id },
        { kind: 'conversation-item', owner: 'ada', id, item: id },
        { kind: 'chain', owner: 'ada', id, maxTurns: 10 },
      ] as const)
        expect((await read(request)).found).toMatchObject({ found: false });
  });

  test('items are found by whatever ids they have', async () => {
    const ids = ['__proto__', 'constructor', "it's"];
    await write(
      { kind: 'put', turn: facts('a'), authority: 2 },
      { input: ids.map((id) => ({ type: 'message', id, content: `of ${id}` })), response: { output: [] } },
    );
    const { json } = await read({ kind: 'items', owner: 'ada', ids: [...ids, 'none'] });
    for (const id of ids) expect(Object.getOwnPropertyDescriptor(json, id)?.value).toMatchObject({ content: `of ${id}` });
    expect(Object.keys(json as object)).toHaveLength(ids.length);
    const many = Array.from({ length: 9_000 }, (_, at) => `none ${at}`);
    expect((await read({ kind: 'items', owner: 'ada', ids: [...many, "it's"] })).json).toMatchObject({ "it's": {} });
  });

  test('50 chains at once: every turn is stored, each chain has its own turns, and transactions are fewer than writes', async () => {
    const chains = Array.from({ length: 50 }, (_, chain) => chain);
    const length = 10;
    await Promise.all(
      chains.map(async (chain) => {
        for (let turn = 0; turn < length; turn++) {
          const parent = turn === 0 ? null : `resp_${chain}_${turn - 1}`;
          expect(await put(`resp_${chain}_${turn}`, { parent, owner: `key ${chain % 5}` })).toMatchObject({ stored: true });
          const { json } = await history(`resp_${chain}_${turn}`, `key ${chain % 5}`);
          expect((json as { id: string }[]).map(({ id }) => id)).toEqual(
            Array.from({ length: turn + 1 }, (_, at) => [`in_resp_${chain}_${at}`, `out_resp_${chain}_${at}`]).flat(),
          );
        }
      }),
    );
    // Those of one turn of the event loop are one transaction.
    expect(transactions.flat()).toHaveLength(50 * length);
    expect(transactions.length).toBeLessThan((50 * length) / 5);
  });

  test('one write that the database refuses fails alone', async () => {
    const failing = (id: string) => id === 'bad';
    const turns: Storage['turns'] = {
      ...storage.turns,
      write: (changes) =>
        changes.some((change) => change.kind === 'put' && failing(change.turn.id)) ? Promise.reject(new Error('refused')) : storage.turns.write(changes),
    };
    await store.dispose();
    store = keepTurns({
      ...{ bus, storage: { turns }, keyring, logger, now: Date.now, setAside: async () => undefined },
      config: { enabled: true, retentionDays: 30, maxBytesPerKey: 1e9 },
    });
    const [good, bad, other] = await Promise.allSettled([put('good'), put('bad'), put('other')]);
    expect([good, other]).toMatchObject([{ value: { stored: true } }, { value: { stored: true } }]);
    expect(bad).toMatchObject({ reason: { code: 'storage_unavailable' } });
  });

  test("an owner whose turn was tampered with is told that the store is away, and another owner's content does not open", async () => {
    await put('a');
    await put('a', { owner: 'eve' }, 'of eve');
    const theirs = await storage.turns.find('eve', 'a');
    await storage.turns.replaceResponse('ada', 'a', { sealed: theirs?.response ?? '', bytes: 1, items: [] });
    await expect(read({ kind: 'turn', owner: 'ada', id: 'a' })).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect((await read({ kind: 'turn', owner: 'eve', id: 'a' })).found.found).toBe(true);
  });
});

describe('the end of turns that nobody works on', () => {
  test('nothing is ended while reports cannot arrive, and all of it later', async () => {
    await write({ kind: 'begin', turn: facts('a', { status: 'in_progress' }) }, { input: [], response: { status: 'in_progress' } });
    let listening = false;
    let looks = 0;
    const turns: Storage['turns'] = {
      ...storage.turns,
      open() {
        looks++;
        return storage.turns.open();
      },
    };
    const ended: string[] = [];
    const sweeper = startSweeper({
      store: { turns, keyring, queue: { write: async (change: { id: string }) => void ended.push(change.id) } } as unknown as TurnStore,
      logger,
      listening: () => listening,
      pace: { silentMs: 40, everyMs: 5 },
    });
    try {
      while (looks < 30) await new Promise((resolve) => setImmediate(resolve));
      expect(ended).toEqual([]);
      listening = true;
      while (ended.length === 0) await new Promise((resolve) => setImmediate(resolve));
      expect(ended[0]).toBe('a');
    } finally {
      sweeper.stop();
    }
  });
});
