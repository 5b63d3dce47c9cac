/** Stored turns on the console, against a store that knows the chains of two access keys. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ServerStream } from '@model-gateway/bus';
import type { ChainedTurn, TurnsRead, TurnsWrite } from '@model-gateway/contracts';
import { sampleRow } from '../../../packages/storage/test/samples.ts';
import { mayUse } from '../src/api/permissions.ts';
import { api, type FreshHarness, seed, startFreshConsole } from './harness.ts';

const now = Date.now();
let harness: FreshHarness;
let owner: string;
/** By owner, the oldest first. */
let turns: Record<string, ChainedTurn[]>;
let asked: (TurnsRead | TurnsWrite)[];
let store: { dispose(): Promise<void> };

const turnOf = (id: string, parent: string | null, more: Partial<ChainedTurn> = {}): ChainedTurn => ({
  id,
  parent,
  conversation: null,
  model: 'fast',
  status: 'completed',
  createdAt: now - 60_000,
  background: false,
  requestId: `row-${id}`,
  deleted: false,
  ...more,
});

const contents: Record<string, string> = { 'input-items': '[{"id":"msg_1","type":"message"}]', turn: '{"id":"resp_2","output":[]}' };
let size = 0;

function answerRead(request: TurnsRead, stream: ServerStream<'turns.read'>): void {
  asked.push(request);
  const own = turns[request.owner] ?? [];
  const id = 'id' in request ? request.id : '';
  const at = own.findIndex((one) => one.id === id);
  const found = at >= 0 && !own[at]?.deleted;
  const most = request.kind === 'chain' ? request.maxTurns : 0;
  const chain = own.slice(0, at + 1).reverse();
  if (request.kind === 'chain')
    stream.whole({ found: at >= 0, hasMore: chain.length > most }, Buffer.from(at >= 0 ? JSON.stringify(chain.slice(0, most)) : ''), {});
  else if (size > 0) stream.whole({ found }, Buffer.alloc(size, ' '), {});
  else stream.whole({ found }, Buffer.from(found ? (contents[request.kind] ?? '') : ''), {});
}

function answerWrite(request: TurnsWrite, stream: ServerStream<'turns.write'>): void {
  asked.push(request);
  const { owner: whose } = 'turn' in request ? request.turn : request;
  const turn = request.kind === 'delete' ? turns[whose]?.find(({ id }) => id === request.id) : undefined;
  if (request.kind === 'delete' && (!turn || turn.deleted)) return stream.whole({ stored: false, reason: 'missing' }, Buffer.alloc(0), {});
  if (turn) turn.deleted = true;
  if (request.kind === 'forget-owner') delete turns[whose];
  stream.whole({ stored: true }, Buffer.alloc(0), {});
}

const serve = () =>
  harness.bus.serve({
    open: { 'turns.read': (request, _body, stream) => answerRead(request, stream), 'turns.write': (request, _body, stream) => answerWrite(request, stream) },
  });
const recordsOf = async () => (await harness.call('GET', `${api}/audit-logs?entity_type=turn`)).body.items as Record<string, unknown>[];
const storeBodies = (enabled: boolean) => harness.call('PATCH', `${api}/key-groups/team`, { store_bodies: enabled ? { enabled } : null });

beforeAll(async () => {
  harness = await startFreshConsole();
  await seed(harness);
  owner = (await harness.call('GET', `${api}/access-keys/ada`)).body.id;
  store = serve();
  await harness.storage.requests.insertRows([
    sampleRow({ id: 'row-resp_1', access_key: 'ada', turn_id: 'resp_1', started_at: now - 60_000, input_tokens: 11, output_tokens: 3 }),
    sampleRow({ id: 'row-resp_2', access_key: 'ada', turn_id: 'resp_2', started_at: now - 50_000, input_tokens: 25, output_tokens: 4, status: 200 }),
    sampleRow({ id: 'unstored', access_key: 'ada', started_at: now - 40_000 }),
    sampleRow({ id: 'foreign', access_key: 'ada', turn_id: 'resp_of_another', started_at: now - 40_000 }),
    sampleRow({ id: 'of-no-key', access_key: 'gone', turn_id: 'resp_2', started_at: now - 40_000 }),
  ]);
});
beforeEach(() => {
  asked = [];
  size = 0;
  turns = {
    [owner]: [
      turnOf('resp_0', null, { deleted: true, requestId: 'row-pruned' }),
      turnOf('resp_1', 'resp_0'),
      turnOf('resp_2', 'resp_1', { status: 'incomplete' }),
    ],
    another: [turnOf('resp_of_another', null)],
  };
});
afterAll(async () => {
  await store.dispose();
  await harness.close();
});

describe('the chain behind a request', () => {
  test('names each turn with the tokens of its request, the nearest first, by one question', async () => {
    const { status, body } = await harness.call('GET', `${api}/logs/row-resp_2/turns`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ has_more: false, access_key: 'ada', readable: false });
    expect(body.items).toMatchObject([
      {
        id: 'resp_2',
        parent: 'resp_1',
        status: 'incomplete',
        request_id: 'row-resp_2',
        deleted: false,
        request: { input_tokens: 25, output_tokens: 4, status: 200 },
      },
      { id: 'resp_1', parent: 'resp_0', status: 'completed', request: { input_tokens: 11, output_tokens: 3 } },
      { id: 'resp_0', parent: null, deleted: true, request: null },
    ]);
    expect(asked).toEqual([{ kind: 'chain', owner, id: 'resp_2', maxTurns: 200 }]);
    expect((await harness.call('GET', `${api}/logs/row-resp_2`)).body.turn_id).toBe('resp_2');
  });

  test('is cut where it is longer than a page shows, and says so', async () => {
    turns[owner] = Array.from({ length: 260 }, (_, index) =>
      turnOf(index === 259 ? 'resp_2' : `resp_long_${index}`, index === 0 ? null : `resp_long_${index - 1}`),
    );
    const { body } = await harness.call('GET', `${api}/logs/row-resp_2/turns`);
    expect([body.items.length, body.has_more]).toEqual([200, true]);
  });

  test.each(['unstored', 'foreign', 'of-no-key'])('is empty where the request has no turn of its own key: %s', async (id) => {
    expect((await harness.call('GET', `${api}/logs/${id}/turns`)).body.items).toEqual([]);
    expect(asked.every(({ kind }) => kind === 'chain')).toBe(true);
  });

  test('404 for no request', async () => {
    expect((await harness.call('GET', `${api}/logs/none/turns`)).status).toBe(404);
  });
});

describe('what a turn holds', () => {
  test('is refused where the key group does not store bodies, and the store is not asked', async () => {
    expect((await harness.call('GET', `${api}/access-keys/ada/turns/resp_2`)).body.error.code).toBe('forbidden');
    expect(asked).toEqual([]);
  });

  test('is shown where it does, with a record of the reading', async () => {
    await storeBodies(true);
    expect((await harness.call('GET', `${api}/logs/row-resp_2/turns`)).body.readable).toBe(true);
    const before = (await recordsOf()).length;
    const { body } = await harness.call('GET', `${api}/access-keys/ada/turns/resp_2`);
    expect(body).toEqual({ id: 'resp_2', access_key: 'ada', input: [{ id: 'msg_1', type: 'message' }], response: { id: 'resp_2', output: [] } });
    expect((await recordsOf()).slice(0, -before || undefined)).toMatchObject([{ action: 'reveal', entity_id: 'resp_2', diff: { access_key: 'ada' } }]);
    expect((await harness.call('GET', `${api}/access-keys/ada/turns/resp_of_another`)).status).toBe(404);
    expect((await harness.call('GET', `${api}/access-keys/nobody/turns/resp_2`)).status).toBe(404);
    size = 9 * 1024 * 1024;
    expect((await harness.call('GET', `${api}/access-keys/ada/turns/resp_2`)).status).toBe(413);
    await storeBodies(false);
  });
});

describe('deletion', () => {
  test('of one turn, once, with a record', async () => {
    expect((await harness.call('DELETE', `${api}/access-keys/ada/turns/resp_2`)).status).toBe(204);
    expect((await harness.call('DELETE', `${api}/access-keys/ada/turns/resp_2`)).status).toBe(404);
    expect((await harness.call('DELETE', `${api}/access-keys/ada/turns/resp_of_another`)).status).toBe(404);
    expect((await recordsOf())[0]).toMatchObject({ action: 'delete', entity_type: 'turn', entity_id: 'resp_2', diff: { access_key: 'ada' } });
    expect((await harness.call('GET', `${api}/logs/row-resp_2/turns`)).body.items[0]).toMatchObject({ id: 'resp_2', deleted: true });
  });

  test('of all turns of an access key leaves those of others', async () => {
    expect((await harness.call('DELETE', `${api}/access-keys/ada/turns`)).status).toBe(204);
    expect(Object.keys(turns)).toEqual(['another']);
    expect((await recordsOf())[0]).toMatchObject({ action: 'delete', entity_id: '*', diff: { access_key: 'ada' } });
    expect((await harness.call('DELETE', `${api}/access-keys/nobody/turns`)).status).toBe(404);
  });

  const forgotten = () => asked.flatMap((one) => (one.kind === 'forget-owner' ? [one.owner] : []));
  const until = async (count: number) => {
    while (forgotten().length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  test('of an access key, by whatever way, deletes its turns; a change or a trial of its deletion does not', async () => {
    const make = async (name: string) => (await harness.call('POST', `${api}/access-keys`, { name, group: 'team' })).body.id as string;
    const [one, two] = [await make('one'), await make('two')];
    await harness.call('PATCH', `${api}/access-keys/one`, { description: 'changed' });
    const entries = [{ action: 'delete', resource: 'access-keys', name: 'two' }];
    await harness.call('POST', `${api}/batch?dry_run=true`, { entries });
    await harness.call('DELETE', `${api}/access-keys/one`);
    await harness.call('POST', `${api}/batch`, { entries });
    await until(2);
    expect(forgotten()).toEqual([one, two]);
  });
});

test('monitors see which turns there are, not what they hold, and delete nothing', () => {
  expect(mayUse('monitor', { path: `${api}/logs/{id}/turns`, method: 'get' })).toBe(true);
  expect(mayUse('monitor', { path: `${api}/access-keys/{name}/turns/{turn}`, method: 'get' })).toBe(false);
  expect(mayUse('monitor', { path: `${api}/access-keys/{name}/turns/{turn}`, method: 'delete' })).toBe(false);
  expect(mayUse('monitor', { path: `${api}/access-keys/{name}/turns`, method: 'delete' })).toBe(false);
});

test('without a store nothing is deleted or recorded, and access keys can be deleted all the same', async () => {
  await store.dispose();
  const before = (await recordsOf()).length;
  expect((await harness.call('GET', `${api}/logs/row-resp_2/turns`)).status).toBe(503);
  expect((await harness.call('DELETE', `${api}/access-keys/ada/turns`)).status).toBe(503);
  expect(await recordsOf()).toHaveLength(before);
  expect((await harness.call('DELETE', `${api}/access-keys/ada`)).status).toBe(204);
  store = serve();
});
