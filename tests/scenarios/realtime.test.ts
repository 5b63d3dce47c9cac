import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestRow } from '@model-gateway/contracts';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { generate } from 'selfsigned';
import { WebSocket } from 'ws';
import { haveFixtures, readFrames } from '../fake-upstream/index.ts';
import { type InProcessGateway, until } from '../support/in-process.ts';
import { type NatsServer, natsAvailable, startNatsServer } from '../support/nats-server.ts';
import { closes, dial, fake, forgetSessions, open, recorded, refusal, rowsOf, start, startFake, stopFake, watchHeldBytes } from './realtime-stage.ts';

beforeAll(startFake);
afterAll(stopFake);
beforeEach(forgetSessions);

describe.each(natsAvailable('realtime') ? (['memory', 'nats'] as const) : (['memory'] as const))('over the %s bus', (bus) => {
  let nats: NatsServer | undefined;
  let gateway: InProcessGateway;
  beforeAll(async () => {
    nats = bus === 'nats' ? await startNatsServer() : undefined;
    gateway = await start(nats ? { natsUrl: nats.url } : {});
  });
  afterAll(async () => {
    await gateway?.stop();
    await nats?.dispose();
  });

  (haveFixtures() ? test.each(recorded) : test.each(recorded.slice(0, 0).concat('none')))('the recorded session %s passes byte for byte', async (name) => {
    if (name === 'none') return;
    const frames = readFrames(name);
    const talk = await open(gateway, `case/${name}`);
    let heard = 0;
    for (const { dir, data } of frames) {
      if (dir === 'server') heard++;
      else {
        await until(() => talk.frames.length >= heard, `${heard} frames`);
        talk.send(data);
      }
    }
    await until(() => talk.frames.length >= heard, 'all frames');
    expect(talk.frames.map(({ data }) => data.toString())).toEqual(frames.filter(({ dir }) => dir === 'server').map(({ data }) => JSON.stringify(data)));
    expect(talk.frames.every(({ isBinary }) => !isBinary)).toBe(true);
    expect(fake.sessions[0]).toMatchObject({ refused: [], path: `/v1/realtime?model=fixture%2F${name}` });
    const done = frames.filter(({ data }) => data['type'] === 'response.done');
    talk.socket.close();
    const session = await until(() => rowsOf(gateway, 'realtime_session', `case/${name}`)[0], 'the row of the session');
    expect(session).toMatchObject({ status: 101, error_code: null, upstream: 'up', access_key: 'caller' });
    const turns = rowsOf(gateway, 'realtime_turn', `case/${name}`);
    expect(turns).toHaveLength(done.length);
    for (const [at, { data }] of done.entries()) {
      const { usage } = data['response'] as { usage: { input_tokens: number; output_tokens: number; output_token_details?: { audio_tokens?: number } } | null };
      const row = turns[at]!;
      expect(row.input_tokens + row.cache_read_tokens + row.audio_input_tokens).toBe(usage?.input_tokens ?? 0);
      expect(row.output_tokens + row.audio_output_tokens).toBe(usage?.output_tokens ?? 0);
      expect(row.audio_output_tokens).toBe(usage?.output_token_details?.audio_tokens ?? 0);
      expect(row.session_id).toBe(session.id);
    }
  });

  test('text stays text, binary stays binary, empty and long frames included', async () => {
    const talk = await open(gateway, 'echo');
    const sent = [
      { data: Buffer.from('words é 😀'), isBinary: false },
      { data: Buffer.alloc(0), isBinary: false },
      { data: Buffer.alloc(0), isBinary: true },
      { data: Buffer.from([0, 255, 1]), isBinary: true },
      { data: Buffer.alloc(3_000_000, 'ab'), isBinary: false },
      { data: Buffer.alloc(5_000_001, 7), isBinary: true },
    ];
    for (const { data, isBinary } of sent) talk.socket.send(data, { binary: isBinary });
    await until(() => talk.frames.length === sent.length + 1, 'all frames back');
    for (const [at, { data, isBinary }] of sent.entries()) {
      const back = talk.frames[at + 1]!;
      expect([back.isBinary, back.data.equals(data)]).toEqual([isBinary, true]);
    }
    talk.socket.close();
    await talk.closed;
  });

  test.each(closes)('a close of the upstream reaches the caller: %s', async (close) => {
    const [code = '', reason = ''] = close.split(':');
    const talk = await open(gateway, `close-${code}`);
    talk.socket.send('now');
    const { code: heard, reason: words } = await talk.closed;
    expect(heard).toBe(code === '1006' ? 1011 : Number(code));
    if (code !== '1006') expect(words).toBe(reason);
  });

  test.each([
    ['1000', 1000],
    ['1001', 1001],
    ['1008', 1008],
    ['1011', 1011],
    ['4321', 4321],
    ['none', 1005],
    ['broken', 1011],
  ])('a close of the caller reaches the upstream: %s', async (how, expected) => {
    // As long as a close frame takes, of characters of two bytes.
    const reason = `${'é'.repeat(61)}x`;
    const talk = await open(gateway, 'echo');
    await until(() => talk.frames.length === 1, 'the session');
    if (how === 'none') talk.socket.close();
    else if (how === 'broken') talk.socket.terminate();
    else talk.socket.close(Number(how), reason);
    const closed = await until(() => fake.sessions[0]?.closed, 'the close');
    expect(closed.code).toBe(expected);
    if (/^\d/.test(how)) expect(closed.reason).toBe(reason);
  });

  test('a session at a delta_realtime upstream: its own address, no beta header, its spelling of usage', async () => {
    const talk = await open(gateway, 'omni', { headers: { authorization: `Bearer ${gateway.key}`, 'openai-beta': 'realtime=v1' } });
    talk.send({ type: 'session.update', session: { model: 'omni', modalities: ['text'] } });
    talk.send({ type: 'response.create' });
    await until(() => talk.events().some(({ type }) => type === 'response.done'), 'the response');
    expect(fake.sessions[0]).toMatchObject({ path: '/api-ws/v1/realtime?model=talk', key: 'sk-good', refused: [] });
    expect(fake.sessions[0]!.headers).not.toHaveProperty('openai-beta');
    talk.socket.close();
    await until(() => rowsOf(gateway, 'realtime_session', 'omni')[0], 'the row of the session');
    const counted = { input_tokens: 8, cache_read_tokens: 4, audio_input_tokens: 8, output_tokens: 3, audio_output_tokens: 7 };
    expect(rowsOf(gateway, 'realtime_turn', 'omni')).toMatchObject([{ upstream_protocol: 'delta_realtime', client_protocol: 'alpha_realtime', ...counted }]);
  });

  test('a slow caller slows the upstream down, the gateway holds little meanwhile, and nothing is lost', async () => {
    const held = watchHeldBytes(gateway);
    const talk = await open(gateway, 'flood');
    await until(() => talk.frames.length > 5, 'some frames');
    talk.socket.pause();
    let seen = '';
    let rounds = 0;
    // Either what is on its way stands still, with some of it still at the upstream, or the gateway has taken everything.
    await until(() => {
      const now = `${fake.sessions[0]!.socket!.bufferedAmount} ${held.bytes()}`;
      rounds = now === seen ? rounds + 1 : 0;
      seen = now;
      return rounds >= 20;
    }, 'the upstream to be held up');
    expect(fake.sessions[0]!.socket!.bufferedAmount).toBeGreaterThan(0);
    // More than nothing, or it was not measured.
    expect(held.bytes()).toBeGreaterThan(0);
    expect(held.bytes()).toBeLessThan(4 * 1024 * 1024 + 65_536);
    talk.socket.resume();
    await until(() => talk.frames.length === 401, 'all frames');
    held.stop();
    const numbers = talk.frames.slice(1).map(({ data }) => Number(data.toString('latin1', 0, 8)));
    expect(numbers).toEqual(numbers.map((_, at) => at));
    talk.socket.close();
  });

  test('rows of turns: completed, failed, cancelled, refused, begun by the vendor, and cut off', async () => {
    const talk = await open(gateway, 'talk', { headers: { authorization: `Bearer ${gateway.key}`, 'z-request-id': `turns-${bus}` } });
    const done = () => talk.events().filter(({ type }) => type === 'response.done').length;
    const create = (instructions: string, eventId?: string) => talk.send({ type: 'response.create', event_id: eventId, response: { instructions } });
    create('say');
    await until(() => done() === 1, 'a response');
    create('fail');
    await until(() => done() === 2, 'a failed response');
    create('wait');
    create('second', 'mine');
    await until(() => talk.events().some(({ type }) => type === 'error'), 'the refused request');
    talk.send({ type: 'response.cancel' });
    await until(() => done() === 3, 'a cancelled response');
    talk.send({ type: 'input_audio_buffer.commit' });
    await until(() => done() === 4, "the vendor's own response");
    create('wait');
    await until(() => talk.events().filter(({ type }) => type === 'response.created').length === 5, 'the last response');
    talk.socket.close(1000);
    const mine = ({ client_request_id }: RequestRow) => client_request_id === `turns-${bus}`;
    const session = await until(() => gateway.rows.filter(mine).find(({ kind }) => kind === 'realtime_session'), 'the row of the session');
    expect(session.duration_ms).toBeGreaterThanOrEqual(0);
    expect(session.response_bytes).toBe(talk.frames.reduce((sum, { data }) => sum + data.length, 0));
    // Over NATS rows come in any order; their ids are those of the order in which they were written.
    const turns = await until(() => {
      const found = gateway.rows.filter(mine).filter(({ kind }) => kind === 'realtime_turn');
      return found.length >= 6 && found.sort((a, b) => (a.id < b.id ? -1 : 1));
    }, 'the rows of its turns');
    const counted = { input_tokens: 8, cache_read_tokens: 4, audio_input_tokens: 8, output_tokens: 3, audio_output_tokens: 7, usage_source: 'upstream' };
    expect(turns).toMatchObject([
      { error_code: null, ...counted },
      { error_code: 'server_error', ...counted },
      { error_code: 'conversation_already_has_active_response', usage_source: null },
      { error_code: null, ...counted },
      { error_code: null, ...counted },
      // Who leaves before the counts come has heard some of it.
      { error_code: 'client_gone', usage_source: 'estimated', output_tokens: 2 },
    ]);
    expect(new Set(turns.map(({ id }) => id)).size).toBe(6);
  });

  test('a request without an id that is refused has a row, and the response after it its own time', async () => {
    const talk = await open(gateway, 'talk', { headers: { authorization: `Bearer ${gateway.key}`, 'z-request-id': `refused-${bus}` } });
    const count = (type: string) => talk.events().filter((event) => event.type === type).length;
    const create = (instructions: string) => talk.send({ type: 'response.create', response: { instructions } });
    create('wait');
    create('second');
    await until(() => count('error') === 1, 'the refused request');
    // About other events: no request is refused by them.
    talk.send({ type: 'response.cancel' });
    talk.send({ type: 'response.cancel' });
    await until(() => count('error') === 2 && count('response.done') === 1, 'the cancelled response');
    const later = Date.now();
    create('say');
    await until(() => count('response.done') === 2, 'the response after it');
    talk.socket.close(1000);
    const turns = await until(() => {
      const found = gateway.rows.filter(({ client_request_id, kind }) => client_request_id === `refused-${bus}` && kind === 'realtime_turn');
      return found.length >= 3 && found.sort((a, b) => (a.id < b.id ? -1 : 1));
    }, 'the rows of its turns');
    expect(turns.map(({ error_code }) => error_code)).toEqual(['conversation_already_has_active_response', null, null]);
    expect(turns[2]!.started_at).toBeGreaterThanOrEqual(later);
  });

  test("only the model's name is exchanged, in the address and in session.update; early frames wait for the session, and the beta header passes", async () => {
    const headers = { authorization: `Bearer ${gateway.key}`, 'openai-beta': 'realtime=v1', cookie: 'a=b', 'x-own': '1' };
    const socket = dial(gateway, 'balanced', { headers });
    const frames: string[] = [];
    socket.on('message', (data) => frames.push(data.toString()));
    socket.once('open', () => socket.send('{"type":"session.update", "session":{"type":"realtime","model":"balanced","voice":"a"}}'));
    await until(() => frames.length === 2, 'the answer');
    expect(frames.map((text) => JSON.parse(text).type)).toEqual(['session.created', 'session.updated']);
    expect(JSON.parse(frames[0]!).session.model).toBe('talk');
    // Three nodes failed before: by a close, an error, and a broken connection.
    expect(fake.sessions).toHaveLength(4);
    const served = fake.sessions.at(-1)!;
    expect(served).toMatchObject({ path: '/v1/realtime?model=talk', refused: [] });
    expect(served.received.map(({ data }) => data.toString())).toEqual(['{"type":"session.update", "session":{"type":"realtime","model":"talk","voice":"a"}}']);
    expect(served.headers['openai-beta']).toBe('realtime=v1');
    expect(served.headers).not.toHaveProperty('cookie');
    expect(served.headers).not.toHaveProperty('x-own');
    expect(JSON.stringify(served.headers)).not.toContain(gateway.key);
    socket.close();
    const row = await until(() => rowsOf(gateway, 'realtime_session', 'balanced')[0], 'the row');
    expect(row.attempts.map(({ model, status, error_code }) => [model, status, error_code])).toEqual([
      ['closed-first', 101, 'closed_1011'],
      ['error-first', 101, 'server_error'],
      ['unreachable', null, 'reset_first-byte'],
      ['talk', 101, null],
    ]);
  });

  test('a refused key of an upstream gives way to its next, before the caller sees anything', async () => {
    const talk = await open(gateway, 'second-key');
    await until(() => talk.frames.length > 0, 'the session');
    expect(fake.sessions.map(({ key }) => key)).toEqual(['sk-bad', 'sk-good']);
    talk.socket.close();
    await talk.closed;
    expect(talk.events().map(({ type }) => type)).toEqual(['session.created']);
  });

  test('where no upstream takes the session, its caller is told over HTTP', async () => {
    expect(await refusal(gateway, 'unreachable')).toMatchObject({ status: 502 });
    expect(await refusal(gateway, 'limited')).toMatchObject({ status: 429 });
    expect(await refusal(gateway, 'bad-request')).toMatchObject({ status: 400 });
    const { status, body } = await refusal(gateway, 'conversations');
    expect([status, JSON.parse(body).error.message]).toEqual([400, 'The model holds no realtime sessions.']);
    expect(await until(() => rowsOf(gateway, 'realtime_session', 'unreachable')[0], 'the row')).toMatchObject({ status: 502, error_code: 'upstream_failed' });
  });

  test.each([
    ['refusing', 'refused', 1008, 'upstream_failed'],
    ['refused-by-all', 'refused', 1008, 'no_upstream'],
    ['refusing-at-length', 'refused', 1011, 'upstream_failed'],
    ['error-first', 'server_error', 1008, 'upstream_failed'],
    ['leaving', null, 4003, 'upstream_failed'],
    ['left-by-all', null, 4003, 'no_upstream'],
    ['noise-then-error', 'server_error', 4008, 'upstream_failed'],
    ['noise-without-end', null, 1013, 'upstream_failed'],
  ])('where no upstream begins the session, the last one has the word: %s', async (model, error, code, errorCode) => {
    const talk = await open(gateway, model);
    const closed = await talk.closed;
    expect([closed.code, talk.events().map(({ error: { code: said } }) => said)]).toEqual([code, error === null ? [] : [error]]);
    if (code === 4003) expect(closed.reason).toBe('my reason');
    // The frame is the upstream's own, without its name for the model and its key.
    for (const { event_id, error: said } of talk.events()) expect([event_id, said.message]).toEqual(['event_error', `not now: ${model} with [redacted]`]);
    expect(await until(() => rowsOf(gateway, 'realtime_session', model)[0], 'the row')).toMatchObject({ status: 101, error_code: errorCode });
  });

  test.each(['leaving-silently', 'breaking-off'])('where the last one left without a word, an error and 1011 say so: %s', async (model) => {
    // Over NATS the failure may come with the acceptance, and is told as the others are.
    const asking = dial(gateway, model);
    const told = await new Promise<unknown>((resolve) => {
      asking.on('error', () => asking.terminate());
      asking.once('unexpected-response', (request, { statusCode }) => {
        request.destroy();
        resolve(statusCode);
      });
      let event: unknown;
      asking.on('message', (data) => {
        event = JSON.parse(data.toString());
      });
      asking.once('close', (code) => resolve({ code, event }));
    });
    if (typeof told === 'number') expect([bus, told]).toEqual(['nats', 502]);
    else expect(told).toMatchObject({ code: 1011, event: { type: 'error', error: { code: 'upstream_failed', type: 'server_error' } } });
  });

  test('what an upstream says before it begins the session is held, and dropped when it does not', async () => {
    const talk = await open(gateway, 'noise-first');
    await until(() => talk.frames.length === 3, 'the session');
    expect(talk.events().map(({ type, padding }) => [type, padding?.length])).toEqual([
      ['rate_limits.updated', 10],
      ['rate_limits.updated', 20],
      ['session.created', undefined],
    ]);
    expect(fake.sessions).toHaveLength(3);
    talk.socket.close();
    const row = await until(() => rowsOf(gateway, 'realtime_session', 'noise-first')[0], 'the row');
    expect(row.attempts.map(({ model, error_code }) => [model, error_code])).toEqual([
      ['noise-then-error', 'server_error'],
      ['noise-without-end', 'too_much_held'],
      ['noise-then-talk', null],
    ]);
  });

  test('more than a mebibyte before the session begins is too much', async () => {
    const talk = await open(gateway, 'silent');
    for (let at = 0; at < 3; at++) talk.socket.send('x'.repeat(400_000));
    expect(await talk.closed).toMatchObject({ code: 1013 });
    await until(() => fake.sessions[0]?.closed, 'the upstream to be left');
  });

  test('a place of an upstream is held by the session, and given back at its end', async () => {
    const first = await open(gateway, 'one-place');
    const refused = await refusal(gateway, 'one-place');
    expect(refused.status).toBe(429);
    first.socket.close();
    await first.closed;
    const second = await until(async () => {
      try {
        return await open(gateway, 'one-place');
      } catch {
        return undefined;
      }
    }, 'the place');
    second.socket.close();
  });

  test.each(['by-rpm', 'by-tpm'])('each response counts for the limits of an upstream, the session itself does not: %s', async (model) => {
    const [first, second] = [await open(gateway, model), await open(gateway, model)];
    second.socket.close();
    for (let responses = 1; responses <= 3; responses++) {
      first.send({ type: 'response.create', response: { instructions: 'say' } });
      await until(() => first.events().filter(({ type }) => type === 'response.done').length === responses, 'a response');
    }
    expect((await refusal(gateway, model)).status).toBe(429);
    // What runs goes on.
    expect(first.socket.readyState).toBe(WebSocket.OPEN);
    first.socket.close();
  });

  test('a frame over the cap is 1009, bad UTF-8 1007', async () => {
    const long = await open(gateway, 'echo');
    long.socket.send(Buffer.alloc(16 * 1024 * 1024 + 1));
    expect((await long.closed).code).toBe(1009);
    const bad = await open(gateway, 'echo');
    bad.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    expect((await bad.closed).code).toBe(1007);
  });
});

describe('clients', () => {
  test('OpenAIRealtimeWS of openai, behind a TLS proxy: a turn, a cancelled one, and an error that it understands', async () => {
    const gateway = await start();
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
      ],
    });
    const proxy = createServer({ cert, key }, (socket) => {
      const inner = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      inner.on('error', () => socket.destroy());
      socket.on('error', () => inner.destroy());
      socket.pipe(inner).pipe(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(0, 'localhost', resolve));
    const openai = new OpenAI({ apiKey: gateway.key, baseURL: `https://localhost:${(proxy.address() as AddressInfo).port}/v1` });
    const realtime = new OpenAIRealtimeWS({ model: 'talk', options: { ca: cert } }, openai);
    const types: string[] = [];
    const errors: unknown[] = [];
    let words = '';
    realtime.on('event', ({ type }) => types.push(type));
    realtime.on('response.output_text.delta', ({ delta }) => {
      words += delta;
    });
    realtime.on('error', (error) => errors.push(error));
    await until(() => types.includes('session.created'), 'the session');
    realtime.send({ type: 'session.update', session: { type: 'realtime', model: 'talk', instructions: 'Be brief.' } });
    realtime.send({ type: 'response.create' });
    await until(() => types.includes('response.done'), 'the response');
    expect(words).toBe('words');
    realtime.send({ type: 'response.create', response: { instructions: 'wait' } });
    realtime.send({ type: 'response.cancel' });
    await until(() => types.filter((type) => type === 'response.done').length === 2, 'the cancelled response');
    realtime.send({ type: 'response.cancel', event_id: 'again' });
    await until(() => errors.length > 0, 'the error');
    expect(errors[0]).toMatchObject({ error: { code: 'response_cancel_not_active' } });
    expect(fake.sessions[0]?.refused).toEqual(['response_cancel_not_active']);
    const closed = once(realtime.socket, 'close');
    realtime.close();
    await closed;
    proxy.close();
    await gateway.stop();
  });
});
