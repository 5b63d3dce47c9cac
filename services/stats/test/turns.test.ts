/** The store of turns as translators meet it: over the bus, sealed at rest. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Bus, createMemoryBus, type Disposable } from '@model-gateway/bus';
import { sealedAs, type TurnFacts, type TurnsFound, type TurnsRead, type TurnsWrite, type TurnsWritten } from '@model-gateway/contracts';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import { openStorage, type Storage } from '@model-gateway/storage';
import { createLogger } from '@model-gateway/telemetry';
import { keepTurns } from '../src/turns/keep-turns.ts';

const logger = createLogger({ level: 'fatal', name: 'test' });
const keyring = createKeyring(generateMasterKey());
let bus: Bus;
let storage: Storage;
let store: Disposable;
const setAside: string[] = [];
const cancelled: string[] = [];

const open = (pace = { silentMs: 60_000, everyMs: 1000 }, maxBytesPerKey = 1e9): Disposable =>
  keepTurns({
    ...{ bus, storage, keyring, logger, now: Date.now, pace },
    config: { enabled: true, retentionDays: 30, maxBytesPerKey },
    setAside: async (_subject, items) => void setAside.push(...items.map(({ reason }) => reason)),
  });

beforeEach(async () => {
  bus = createMemoryBus({ logger, strict: true });
  storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: { info: () => undefined, warn: () => undefined } });
  await storage.migrate();
  store = open();
  setAside.length = 0;
  cancelled.length = 0;
  bus.listen('turns.cancelled', ({ id }) => void cancelled.push(id));
});
afterEach(async () => {
  await store.dispose();
  await storage.close();
});

const facts = (id: string, over: Partial<TurnFacts> = {}): TurnFacts => ({
  ...{
    id,
    owner: 'ada',
    parent: null,
    conversation: null,
    model: 'm',
    status: 'in_progress',
    createdAt: Date.now(),
    background: false,
    holder: 't1',
    requestId: `r-${id}`,
  },
  ...over,
});
const bytesOf = (value: unknown): Buffer => Buffer.from(value === undefined ? '' : JSON.stringify(value), 'utf8');

const write = (request: TurnsWrite, content?: unknown): Promise<TurnsWritten> =>
  new Promise((resolve, reject) => {
    bus.open(
      'turns.write',
      request,
      { head: () => undefined, data: () => undefined, tail: () => undefined, whole: resolve, broken: reject },
      { body: bytesOf(content) },
    );
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
const message = (id: string, text: string) => ({ type: 'message', id, role: 'user', content: text });
const response = (id: string, text: string, status = 'completed') => ({
  id,
  object: 'response',
  status,
  model: 'm',
  output: [{ type: 'message', id: `msg_${id}`, role: 'assistant', content: text }],
});
const put = (id: string, over: Partial<TurnFacts> = {}) =>
  write(
    { kind: 'put', turn: facts(id, { status: 'completed', ...over }), authority: 2 },
    { input: [message(`in_${id}`, `asked in ${id}`)], response: response(id, `answered in ${id}`) },
  );
const history = (turn: string, over: Partial<Extract<TurnsRead, { kind: 'history' }>> = {}) =>
  read({ kind: 'history', owner: 'ada', turn, waitMs: 0, maxTurns: 1000, maxBytes: 1e6, ...over });
const ids = ({ json }: { json: unknown }) => (json as { id: string }[]).map(({ id }) => id);

describe('the store of turns', () => {
  test('gives a turn, its input and its history to its owner alone, and seals them', async () => {
    expect(await put('resp_1')).toEqual({ stored: true, status: 'completed' });
    await put('resp_2', { parent: 'resp_1' });
    expect(await read({ kind: 'turn', owner: 'ada', id: 'resp_2' })).toMatchObject({
      found: { found: true, turn: { parent: 'resp_1' } },
      json: response('resp_2', 'answered in resp_2'),
    });
    expect(ids(await read({ kind: 'input-items', owner: 'ada', id: 'resp_2' }))).toEqual(['in_resp_2']);
    expect(ids(await history('resp_2'))).toEqual(['in_resp_1', 'msg_resp_1', 'in_resp_2', 'msg_resp_2']);
    for (const kind of ['turn', 'input-items'] as const) expect((await read({ kind, owner: 'bob', id: 'resp_2' })).found).toEqual({ found: false });
    expect((await history('resp_2', { owner: 'bob' })).found).toEqual({ found: false });
    expect((await read({ kind: 'items', owner: 'ada', ids: ['msg_resp_1', 'in_resp_2', 'none'] })).json).toMatchObject({
      msg_resp_1: { role: 'assistant' },
      in_resp_2: { role: 'user' },
    });
    expect((await read({ kind: 'items', owner: 'bob', ids: ['msg_resp_1'] })).json).toEqual({});
    const raw = await storage.turns.find('ada', 'resp_1');
    expect(JSON.stringify(raw)).not.toContain('asked in');
    expect(JSON.stringify(raw)).not.toContain('answered in');
  });

  test('says to its owner alone that a turn was deleted', async () => {
    await put('resp_1');
    await write({ kind: 'delete', owner: 'ada', id: 'resp_1' });
    expect((await read({ kind: 'turn', owner: 'ada', id: 'resp_1' })).found).toEqual({ found: false, deleted: true });
    expect((await read({ kind: 'turn', owner: 'bob', id: 'resp_1' })).found).toEqual({ found: false });
    expect((await read({ kind: 'turn', owner: 'ada', id: 'resp_2' })).found).toEqual({ found: false });
  });

  test('a history that is too long, or not ready, is refused', async () => {
    await put('resp_1');
    await put('resp_2', { parent: 'resp_1' });
    await expect(history('resp_2', { maxTurns: 1 })).rejects.toMatchObject({ code: 'context_length_exceeded' });
    await expect(history('resp_2', { maxBytes: 100 })).rejects.toMatchObject({ code: 'context_length_exceeded' });
    await write({ kind: 'begin', turn: facts('resp_3') }, { input: [message('in_3', 'x')], response: response('resp_3', '', 'in_progress') });
    await expect(history('resp_3')).rejects.toMatchObject({ code: 'response_in_progress' });
    // One that is finished meanwhile is waited for.
    const waiting = history('resp_3', { waitMs: 20_000 });
    await write({ kind: 'finish', owner: 'ada', id: 'resp_3', status: 'completed', authority: 2 }, response('resp_3', 'now'));
    expect(ids(await waiting)).toEqual(['in_3', 'msg_resp_3']);
  });

  test('a turn that an upstream keeps stands in the history as what it is', async () => {
    const at = { model: 'm', upstream: 'u', account: 'k1' };
    await put('resp_1');
    await write({ kind: 'begin', turn: facts('resp_up', { parent: 'resp_1', background: true, at }) });
    expect(await history('resp_up')).toMatchObject({
      found: { at, turn: { background: true } },
      json: [{ id: 'in_resp_1' }, { id: 'msg_resp_1' }, { type: 'upstream_turn', id: 'resp_up', at }],
    });
  });

  test('a history whose oldest turns are gone says so; one with a deleted turn in it does not', async () => {
    await put('resp_1');
    await put('resp_2', { parent: 'resp_1' });
    await put('resp_3', { parent: 'resp_2' });
    expect((await history('resp_3')).found.cut).toBeUndefined();
    await write({ kind: 'delete', owner: 'ada', id: 'resp_1' });
    expect(await history('resp_3')).toMatchObject({ found: { turns: 2 } });
    expect((await history('resp_3')).found.cut).toBeUndefined();
    await put('resp_9', { parent: 'resp_never' });
    expect((await history('resp_9')).found).toMatchObject({ found: true, cut: true });
  });

  test('turns are kept for the days that are configured', async () => {
    const dayMs = 86_400_000;
    for (const [id, days] of [
      ['resp_old', 31],
      ['resp_new', 29],
    ] as const) {
      await store.dispose();
      store = keepTurns({
        ...{ bus, storage, keyring, logger, now: () => Date.now() - days * dayMs },
        config: { enabled: true, retentionDays: 30, maxBytesPerKey: 1e9 },
        setAside: async () => undefined,
      });
      await put(id);
    }
    expect(await storage.turns.prune()).toBe(1);
    expect((await read({ kind: 'turn', owner: 'ada', id: 'resp_old' })).found.found).toBe(false);
    expect((await read({ kind: 'turn', owner: 'ada', id: 'resp_new' })).found.found).toBe(true);
  });

  test('cancelling tells who runs it, once', async () => {
    await write({ kind: 'begin', turn: facts('resp_1', { background: true, status: 'queued' }) }, { input: [], response: response('resp_1', '', 'queued') });
    expect(await write({ kind: 'cancel', owner: 'bob', id: 'resp_1' })).toEqual({ stored: false, reason: 'missing' });
    expect(await write({ kind: 'cancel', owner: 'ada', id: 'resp_1' })).toEqual({ stored: true, status: 'cancelled' });
    expect(await write({ kind: 'cancel', owner: 'ada', id: 'resp_1' })).toMatchObject({ stored: false, status: 'cancelled' });
    expect(cancelled).toEqual(['resp_1']);
    expect((await read({ kind: 'turn', owner: 'ada', id: 'resp_1' })).json).toMatchObject({ status: 'cancelled' });
  });

  test('a conversation gets the items of its turns, and is locked meanwhile', async () => {
    await write({ kind: 'create-conversation', owner: 'ada', id: 'conv_1', createdAt: 5 }, { items: [message('i1', 'first')], metadata: { a: 'b' } });
    await write(
      { kind: 'begin', turn: facts('resp_1', { conversation: 'conv_1' }) },
      { input: [message('i2', 'second')], response: response('resp_1', '', 'in_progress') },
    );
    expect(await put('resp_2', { conversation: 'conv_1' })).toEqual({ stored: false, reason: 'locked' });
    // Who ends it need not know its conversation.
    await write({ kind: 'finish', owner: 'ada', id: 'resp_1', status: 'completed', authority: 1 }, response('resp_1', 'third'));
    const list = await read({ kind: 'conversation-items', owner: 'ada', id: 'conv_1', limit: 2, order: 'asc' });
    expect([ids(list), list.found.hasMore]).toEqual([['i1', 'i2'], true]);
    expect(ids(await history('', { turn: undefined, conversation: 'conv_1' } as never))).toEqual(['i1', 'i2', 'msg_resp_1']);
    expect(await read({ kind: 'conversation', owner: 'ada', id: 'conv_1' })).toMatchObject({ found: { createdAt: 5 }, json: { a: 'b' } });
    await expect(read({ kind: 'conversation-items', owner: 'ada', id: 'conv_1', limit: 2, order: 'asc', after: 'none' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect((await read({ kind: 'conversation-items', owner: 'bob', id: 'conv_1', limit: 2, order: 'asc' })).found.found).toBe(false);
  });

  test('what goes on in a conversation waits for the end that is on its way, and not for one that does not come', async () => {
    await write({ kind: 'create-conversation', owner: 'ada', id: 'conv_1', createdAt: 5 }, { items: [], metadata: {} });
    const begin = (id: string) =>
      write(
        { kind: 'begin', turn: facts(id, { conversation: 'conv_1' }) },
        { input: [message(`in_${id}`, 'asked')], response: response(id, '', 'in_progress') },
      );
    await begin('resp_1');
    const waiting = history('', { turn: undefined, conversation: 'conv_1', waitMs: 20_000 } as never);
    // Read after the question above, and answered before its end.
    expect((await read({ kind: 'turn', owner: 'ada', id: 'resp_1' })).found.turn?.status).toBe('in_progress');
    await write({ kind: 'finish', owner: 'ada', id: 'resp_1', status: 'completed', authority: 2, conversation: 'conv_1' }, response('resp_1', 'answered'));
    expect(ids(await waiting)).toEqual(['in_resp_1', 'msg_resp_1']);
    await begin('resp_2');
    expect(ids(await history('', { turn: undefined, conversation: 'conv_1', waitMs: 20_000 } as never))).toEqual(['in_resp_1', 'msg_resp_1']);
  });

  test('the bytes of an access key are bounded', async () => {
    await store.dispose();
    store = open(undefined, 300);
    expect(await put('resp_1')).toMatchObject({ stored: true });
    expect(await put('resp_2')).toEqual({ stored: false, reason: 'full' });
    expect(await put('resp_3', { owner: 'bob' })).toMatchObject({ stored: true });
    expect(await write({ kind: 'forget-owner', owner: 'ada' })).toEqual({ stored: true });
    expect(await put('resp_2')).toMatchObject({ stored: true });
  });

  test('endings out of an outbox are committed once, whether the turn was begun or not; what is none is set aside', async () => {
    const sealed = (id: string, value: object) => keyring.seal(JSON.stringify(value), sealedAs.turn('ada', id));
    await write({ kind: 'begin', turn: facts('resp_1') }, { input: [message('i1', 'x')], response: response('resp_1', '', 'in_progress') });
    const finished = (id: string, value: object) => ({ turn: facts(id, { status: 'completed' as const }), authority: 2 as const, content: sealed(id, value) });
    await bus.publishDurable('turns.finished', 'e1', finished('resp_1', { response: response('resp_1', 'late') }));
    await bus.publishDurable('turns.finished', 'e2', finished('resp_2', { input: [message('i2', 'y')], response: response('resp_2', 'later') }));
    const at = { model: 'm', upstream: 'u', account: 'k1' };
    for (const event of ['e4', 'e5'])
      await bus.publishDurable('turns.finished', event, { turn: facts('resp_up', { at, status: 'completed' }), authority: 2, content: sealed('resp_up', {}) });
    await bus.publishDurable('turns.finished', 'e3', { turn: facts('resp_3'), authority: 2, content: 'nothing' });
    expect((await read({ kind: 'turn', owner: 'ada', id: 'resp_1' })).json).toMatchObject({ status: 'completed' });
    expect(ids(await history('resp_2'))).toEqual(['i2', 'msg_resp_2']);
    expect((await read({ kind: 'turn', owner: 'ada', id: 'resp_up' })).found.turn).toMatchObject({ at, owner: 'ada' });
    expect(setAside).toHaveLength(1);
  });

  test('a turn whose translator is silent is ended, and one that reports is not', async () => {
    await store.dispose();
    store = open({ silentMs: 300, everyMs: 20 });
    await write({ kind: 'begin', turn: facts('resp_1', { holder: 'dead' }) }, { input: [], response: response('resp_1', '', 'in_progress') });
    await write(
      { kind: 'begin', turn: facts('resp_2', { holder: 'dead', background: true, status: 'queued' }) },
      { input: [], response: { status: 'queued' } },
    );
    await write({ kind: 'begin', turn: facts('resp_3', { holder: 'alive' }) }, { input: [], response: response('resp_3', '', 'in_progress') });
    const reporting = setInterval(() => bus.publish('turns.alive', { holder: 'alive' }), 50);
    const statusOf = async (id: string) => ((await read({ kind: 'turn', owner: 'ada', id })).json as { status: string }).status;
    while ((await statusOf('resp_1')) === 'in_progress' || (await statusOf('resp_2')) === 'queued') await new Promise((resolve) => setImmediate(resolve));
    clearInterval(reporting);
    expect([await statusOf('resp_1'), await statusOf('resp_2'), await statusOf('resp_3')]).toEqual(['incomplete', 'failed', 'in_progress']);
    expect((await read({ kind: 'turn', owner: 'ada', id: 'resp_2' })).json).toMatchObject({ id: 'resp_2', error: { code: 'server_error' } });
  });

  test('while the database is away it says so', async () => {
    await storage.close();
    await expect(put('resp_1')).rejects.toMatchObject({ code: 'storage_unavailable' });
    await expect(history('resp_1')).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  test('content of another shape is refused', async () => {
    for (const content of [[], { input: 5 }, { input: [], response: 'x' }])
      await expect(write({ kind: 'begin', turn: facts('resp_1') }, content)).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
