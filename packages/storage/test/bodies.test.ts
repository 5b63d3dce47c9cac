import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestBodies } from '@model-gateway/contracts';
import type { Storage } from '../src/index.ts';
import { type Engine, engines } from './engines.ts';

const start = Date.parse('2026-05-05T12:00:00Z');
const hourMs = 3_600_000;
const bodiesOf = (id: string, over: Partial<RequestBodies> = {}): RequestBodies => ({
  id,
  started_at: start,
  expires_at: start + hourMs,
  access_key: 'ada',
  key_group: 'team',
  model: 'fast',
  client_protocol: 'alpha',
  path: '/v1/chat/completions',
  stream: true,
  status: 200,
  request: { text: '{"a":"世界 😀"}', bytes: 20, truncated: false },
  response: { text: 'data: 1\n\n', bytes: 70_000, truncated: true },
  ...over,
});

describe.each(engines().map((engine) => [engine.name, engine] as [string, Engine]))('bodies on %s', (_name, engine) => {
  let storage: Storage;
  let now = start;
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());
  beforeEach(async () => {
    now = start;
    storage = await engine.open(() => now);
  });
  afterEach(() => storage.close());

  test('are read as they were written; a second delivery changes nothing', async () => {
    await storage.bodies.insert(bodiesOf('a'));
    await storage.bodies.insert(bodiesOf('a', { status: 500 }));
    expect(await storage.bodies.find('a')).toEqual(bodiesOf('a'));
    expect(await storage.bodies.has('a')).toBe(true);
    expect(await storage.bodies.find('b')).toBeNull();
  });

  test('text that no engine takes is stored all the same', async () => {
    await storage.bodies.insert(bodiesOf('a', { path: '/v1/\0', model: null, request: { text: 'a\0b \ud800 c', bytes: 9, truncated: false } }));
    expect(await storage.bodies.find('a')).toMatchObject({ path: '/v1/\u{fffd}', model: null, request: { text: 'a\u{fffd}b \u{fffd} c' } });
  });

  test('are listed newest first, without their texts, by protocol and group', async () => {
    await storage.bodies.insert(bodiesOf('a'));
    await storage.bodies.insert(bodiesOf('b', { started_at: start + 5, client_protocol: 'beta' }));
    await storage.bodies.insert(bodiesOf('c', { started_at: start + 5, key_group: 'other' }));
    const ids = async (query: Parameters<Storage['bodies']['list']>[0]) => (await storage.bodies.list(query)).map(({ id }) => id);
    expect(await ids({ limit: 9 })).toEqual(['c', 'b', 'a']);
    expect(await ids({ limit: 2 })).toEqual(['c', 'b']);
    expect(await ids({ limit: 9, clientProtocol: 'beta' })).toEqual(['b']);
    expect(await ids({ limit: 9, keyGroup: 'team' })).toEqual(['b', 'a']);
    const { request: _request, response: _response, ...entry } = bodiesOf('a');
    expect((await storage.bodies.list({ limit: 9 })).at(-1)).toEqual(entry);
  });

  test('end to the millisecond, and are forgotten by the next upkeep', async () => {
    for (let index = 0; index < 45; index++) await storage.bodies.insert(bodiesOf(`short ${index}`));
    await storage.bodies.insert(bodiesOf('long', { expires_at: start + 2 * hourMs }));
    now = start + hourMs - 1;
    expect(await storage.bodies.has('short 0')).toBe(true);
    expect(await storage.bodies.prune()).toBe(0);
    now = start + hourMs;
    expect(await storage.bodies.find('short 0')).toBeNull();
    expect((await storage.bodies.list({ limit: 100 })).map(({ id }) => id)).toEqual(['long']);
    expect(await storage.bodies.prune()).toBe(45);
    expect(await storage.bodies.prune()).toBe(0);
    now = start;
    expect(await storage.bodies.has('short 0')).toBe(false);
    expect(await storage.bodies.has('long')).toBe(true);
  });
});
