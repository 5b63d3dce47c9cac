/** Short-lived keys of realtime sessions through real processes, in both arrangements: made by a translator, checked by any edge, good for one thing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import OpenAI from 'openai';
import { fixturesDirectory, haveFixtures } from '../fake-upstream/fixtures.ts';
import { type FakeRealtime, startFakeRealtime } from '../fake-upstream/index.ts';
import { arrangements, startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/in-process.ts';
import { openTalk, refusedTalk, shakeHands } from '../support/realtime-talk.ts';

/** What a busy machine adds to the promised five seconds. */
const busyMs = 5000;

describe.each(arrangements('realtime-keys'))('short-lived keys of a %s gateway', (arrangement) => {
  const keys = { parent: mintAccessKey(), moved: mintAccessKey(), spent: mintAccessKey(), rotated: mintAccessKey() };
  let fake: FakeRealtime;
  let gateway: TestGateway;
  beforeAll(async () => {
    fake = await startFakeRealtime();
    gateway = await startGateway({ arrangement, twice: ['edge', 'translator'] });
    await gateway.configure({
      upstreams: [{ name: 'up', protocol: 'alpha_realtime', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] }],
      models: [
        { name: 'voice', upstream: 'up', upstream_model_id: 'talk', aliases: ['gpt-realtime'] },
        { name: 'other', upstream: 'up', upstream_model_id: 'echo' },
        { name: 'hidden-from-some', upstream: 'up', upstream_model_id: 'talk' },
        { name: 'hear', upstream: 'up', upstream_model_id: 'hear' },
        { name: 'interpreter', upstream: 'up', upstream_model_id: 'translate' },
      ],
    });
    const models = ['voice', 'other', 'hear', 'interpreter'];
    expect((await gateway.console('POST', '/key-groups', { name: 'some', models })).status).toBe(201);
    expect((await gateway.console('POST', '/key-groups', { name: 'others', models: ['other'] })).status).toBe(201);
    for (const [name, key] of Object.entries(keys)) expect((await gateway.console('POST', '/access-keys', { name, group: 'some', key })).status).toBe(201);
    await until(async () => (await fetch(`${edges()[0]}/v1/models`, { headers: { authorization: `Bearer ${keys.rotated}` } })).ok, 'the keys to be known');
    await until(async () => (await fetch(`${edges().at(-1)}/v1/models`, { headers: { authorization: `Bearer ${keys.rotated}` } })).ok, 'the other edge');
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });

  const edges = (): readonly string[] => gateway.edgeUrls;
  // biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
  const mint = async (body: unknown, key = keys.parent, path = '/v1/realtime/client_secrets'): Promise<{ status: number; body: any }> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const reply = await fetch(`${edges()[0]}${path}`, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
    return { status: reply.status, body: await reply.json() };
  };
  const session = { type: 'realtime', model: 'gpt-realtime', instructions: 'Be brief, and say nothing of "blue".' };

  test('a key made at one edge opens a session at every other, which begins with the settings stored with it', async () => {
    const now = Date.now() / 1000;
    const { status, body } = await mint({ session, expires_after: { anchor: 'created_at', seconds: 60 } });
    expect([status, body]).toMatchObject([200, { value: expect.stringMatching(/^ek_/), session: { ...session, object: 'realtime.session' } }]);
    expect(body.expires_at).toBeGreaterThanOrEqual(Math.floor(now) + 60);
    expect(body.expires_at).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000) + 60);
    for (const url of [...edges(), edges()[0]!]) {
      fake.sessions.length = 0;
      // As browsers send it, and without a model, which the key has.
      const talk = await openTalk(url, { path: '/v1/realtime', offered: ['realtime', `openai-insecure-api-key.${body.value}`] });
      expect(talk.socket.protocol).toBe('realtime');
      talk.send({ type: 'response.create' });
      await until(() => talk.events.some(({ type }) => type === 'response.done'), 'the response');
      const [served] = fake.sessions;
      expect(served).toMatchObject({ key: 'sk-fake-upstream', refused: [], path: '/v1/realtime?model=talk' });
      const received = served!.received.map(({ data }) => JSON.parse(data.toString()));
      expect(received).toEqual([{ type: 'session.update', session: { ...session, model: 'talk' } }, { type: 'response.create' }]);
      expect(JSON.stringify(served!.headers)).not.toContain('ek_');
      talk.socket.close();
      await talk.closed;
    }
    const rows = await until(async () => {
      const found = (await gateway.rows()).filter(({ access_key, kind }) => access_key === 'parent' && kind === 'realtime_turn');
      return found.length === edges().length + 1 && found;
    }, 'the rows');
    expect(rows[0]).toMatchObject({ model: 'voice', requested_model: 'gpt-realtime' });
    const logs = Object.values(gateway.processes).map((process) => process.logs());
    expect(JSON.stringify([rows, logs])).not.toContain(body.value.slice(0, 40));
  });

  (haveFixtures() ? test : test.skip)('the SDK asks as it was recorded, and gets what it reads', async () => {
    const recorded = JSON.parse(readFileSync(join(fixturesDirectory(), 'alpha_realtime/client-secret/request.json'), 'utf8'));
    const openai = new OpenAI({ apiKey: keys.parent, baseURL: `${edges()[0]}/v1`, maxRetries: 0 });
    const made = await openai.realtime.clientSecrets.create(recorded);
    expect(made.session).toMatchObject(recorded.session);
    const talk = await openTalk(edges()[0]!, { path: '/v1/realtime?model=gpt-realtime', key: made.value });
    await until(() => talk.events.some(({ type }) => type === 'session.updated'), 'the settings to be taken');
    talk.socket.close();
  });

  test('keys of transcription and translation sessions', async () => {
    const audio = { input: { transcription: { model: 'hear' } } };
    const hearing = await mint({ session: { type: 'transcription', audio } });
    const talk = await openTalk(edges()[0]!, { path: '/v1/realtime', key: hearing.body.value });
    await until(() => talk.events.some(({ type }) => type === 'session.updated'), 'the settings to be taken');
    expect(fake.sessions.at(-1)).toMatchObject({ path: '/v1/realtime?intent=transcription', refused: [] });
    talk.socket.close();
    const translating = await mint(
      { session: { model: 'interpreter', audio: { output: { language: 'fr' } } } },
      keys.parent,
      '/v1/realtime/translations/client_secrets',
    );
    const spoken = await openTalk(edges()[0]!, { path: '/v1/realtime/translations?model=interpreter', key: translating.body.value });
    await until(() => spoken.events.some(({ type }) => type === 'session.updated'), 'the settings to be taken');
    expect(fake.sessions.at(-1)?.refused).toEqual([]);
    spoken.socket.close();
    // Each opens its own sessions alone.
    expect(await refusedTalk(edges()[0]!, { path: '/v1/realtime?model=voice', key: translating.body.value })).toMatchObject({ status: 401 });
    expect(await refusedTalk(edges()[0]!, { path: '/v1/realtime/translations?model=voice', key: hearing.body.value })).toMatchObject({ status: 401 });
  });

  test('such a key does nothing else, and a changed one nothing at all', async () => {
    const { value } = (await mint({ session })).body;
    const headers = { authorization: `Bearer ${value}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'voice', messages: [{ role: 'user', content: 'Hi' }], input: 'Hi' });
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/embeddings', '/v1/realtime/client_secrets', '/mcp'])
      expect([path, (await fetch(`${edges()[0]}${path}`, { method: 'POST', headers, body })).status]).toEqual([path, 401]);
    for (const path of ['/v1/models', '/v1/models/voice']) expect((await fetch(`${edges()[0]}${path}`, { headers })).status).toBe(401);
    expect(await refusedTalk(edges()[0]!, { path: '/v1/responses', key: value })).toMatchObject({ status: 401 });
    for (const key of [`${value.slice(0, -1)}${value.endsWith('A') ? 'Q' : 'A'}`, `ek_${value.slice(4)}`, 'ek_', value.replace('.', '')])
      expect(await refusedTalk(edges()[0]!, { path: '/v1/realtime?model=voice', key })).toMatchObject({ status: 401 });
    // Two of the gateway's keys, whichever they are.
    const both = { path: '/v1/realtime?model=voice', key: keys.parent, headers: { 'x-api-key': value } };
    expect(await refusedTalk(edges()[0]!, both)).toMatchObject({ status: 401 });
    // The one model that it was made for, by any of its names.
    expect(await refusedTalk(edges()[0]!, { path: '/v1/realtime?model=other', key: value })).toMatchObject({ status: 403 });
    (await openTalk(edges()[0]!, { path: '/v1/realtime?model=voice', key: value })).socket.close();
  });

  test('what is asked for wrongly is refused in words', async () => {
    const cases: [number, unknown][] = [
      [400, { session, expires_after: { seconds: 9 } }],
      [400, { session, expires_after: { seconds: 7201 } }],
      [400, { session, expires_after: { seconds: 60.5 } }],
      [400, { session, expires_after: { seconds: '60' } }],
      [400, { session, expires_after: { anchor: 'last_active_at', seconds: 60 } }],
      [400, { session: 'voice' }],
      [400, { session: { type: 'translation' } }],
      [
        400,
        {
          session: {
            ...session,
            instructions: Array.from({ length: 30_000 }, () => Math.random().toString(36))
              .join('')
              .slice(0, 100_000),
          },
        },
      ],
      [400, '{'],
      [400, '[]'],
      [400, '{"session":{"model":"hidden-from-some"},"session":{"model":"voice"}}'],
      [400, '{"session":{"model":"hidden-from-some","model":"voice"}}'],
      [400, '{"session":{"model":"hidden-from-some","mod\\u0065l":"voice"}}'],
      [400, '{"session":{"model":"voice","Model":"hidden-from-some"}}'],
      [400, '{"session":{"model":"voice","audio":{"output":{"voice":"a","voice":"b"}}}}'],
      [400, '{"session":{"type":"transcription","audio":{"input":{"transcription":{"model":"voice","model":"hear"}}}}}'],
      [400, '{"expires_after":{"seconds":60,"seconds":7200},"session":{"model":"voice"}}'],
      [403, { session: { type: 'realtime', model: 'hidden-from-some' } }],
      [404, { session: { type: 'realtime', model: 'nothing' } }],
      [413, { session: { ...session, instructions: 'x'.repeat(300_000) } }],
    ];
    for (const [status, body] of cases) {
      const reply = await mint(body);
      expect([JSON.stringify(body).slice(0, 120), reply.status]).toEqual([JSON.stringify(body).slice(0, 120), status]);
      expect(reply.body.error.message).toMatch(/\w+ \w+/);
    }
    expect((await mint({ session }, 'gk-wrong')).status).toBe(401);
    for (const seconds of [10, 7200]) expect((await mint({ session, expires_after: { seconds } })).status).toBe(200);
    expect((await fetch(`${edges()[0]}/v1/realtime/client_secrets`, { headers: { authorization: `Bearer ${keys.parent}` } })).status).toBe(405);
    // Nothing but the model: what a text of some kilobytes repeats takes little room.
    expect((await mint({ session: { ...session, instructions: 'Say it as it is. '.repeat(2000) } })).status).toBe(200);
  });

  test('it expires, and leaves the sessions that it opened', async () => {
    const { body } = await mint({ session, expires_after: { seconds: 10 } });
    const talk = await openTalk(edges()[0]!, { path: '/v1/realtime', key: body.value });
    const refused = await until(async () => {
      const answer = await shakeHands(edges()[0]!, { path: '/v1/realtime', key: body.value });
      if (!('socket' in answer)) return answer;
      answer.socket.close();
      return undefined;
    }, 'its end');
    expect([refused.status, Date.now() / 1000 >= body.expires_at]).toEqual([401, true]);
    talk.send({ type: 'response.create' });
    await until(() => talk.events.some(({ type }) => type === 'response.done'), 'the response');
    talk.socket.close();
  });

  test('a parent that is moved to a group without the model, or has spent a budget that is set later, ends their sessions', async () => {
    const sessions = ['moved', 'spent'].map(async (name) => {
      const { value } = (await mint({ session }, keys[name as 'moved' | 'spent'])).body;
      return openTalk(edges().at(-1)!, { path: '/v1/realtime', key: value });
    });
    const [moved, spent] = [await sessions[0]!, await sessions[1]!];
    expect((await gateway.console('POST', '/pricing', { name: 'sound', model: 'voice', input: '1000', output: '100000' })).status).toBe(201);
    await until(async () => {
      const done = spent.events.filter(({ type }) => type === 'response.done').length;
      spent.send({ type: 'response.create' });
      await until(() => spent.events.filter(({ type }) => type === 'response.done').length > done, 'the response');
      return (await gateway.rows()).some(({ access_key, cost_micros }) => access_key === 'spent' && (cost_micros ?? 0) > 0);
    }, 'a response with a price');
    const changed = Date.now();
    expect((await gateway.console('PATCH', '/access-keys/moved', { group: 'others' })).status).toBe(200);
    const budget = { limit: '0.000001', currency: 'USD', period: 'total' };
    expect((await gateway.console('PATCH', '/access-keys/spent', { budget })).status).toBe(200);
    for (const { closed } of [moved, spent]) {
      const { code, at } = await closed;
      expect(code).toBe(1008);
      expect(at - changed).toBeLessThan(5000 + busyMs);
    }
  });

  test('a parent that is disabled, or rotated, ends its keys and their sessions within five seconds', async () => {
    const [first, second] = [(await mint({ session })).body.value, (await mint({ session }, keys.rotated)).body.value];
    const last = edges().at(-1)!;
    const talks = [await openTalk(last, { path: '/v1/realtime', key: first }), await openTalk(last, { path: '/v1/realtime', key: second })];
    const changed = Date.now();
    expect((await gateway.console('PATCH', '/access-keys/parent', { enabled: false })).status).toBe(200);
    expect((await gateway.console('POST', '/access-keys/rotated/rotate')).status).toBe(200);
    for (const { closed } of talks) {
      const { code, at } = await closed;
      expect(code).toBe(1008);
      expect(at - changed).toBeLessThan(5000 + busyMs);
    }
    for (const key of [first, second]) expect(await refusedTalk(last, { path: '/v1/realtime', key })).toMatchObject({ status: 401 });
  });
});
