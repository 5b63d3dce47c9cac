/** Sessions that transcribe, translate, or begin with the caller's word, through real processes in both arrangements. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeRealtime, startFakeRealtime } from '../fake-upstream/index.ts';
import { arrangements, borrowGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/in-process.ts';
import { realtimeRows } from '../support/realtime-rows.ts';
import { openTalk, refusedTalk } from '../support/realtime-talk.ts';

describe.each(arrangements('realtime-kinds'))('sessions of other kinds at a %s gateway', (arrangement) => {
  let fake: FakeRealtime;
  let gateway: TestGateway;
  beforeAll(async () => {
    fake = await startFakeRealtime();
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      upstreams: [
        { name: 'up', protocol: 'alpha_realtime', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] },
        { name: 'delta', protocol: 'delta_realtime', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] },
      ],
      models: [
        { name: 'ears', upstream: 'up', upstream_model_id: 'hear' },
        { name: 'stopwatch', upstream: 'up', upstream_model_id: 'hear-seconds' },
        { name: 'interpreter', upstream: 'up', upstream_model_id: 'translate' },
        { name: 'lively', upstream: 'up', upstream_model_id: 'live-1' },
        { name: 'busy', upstream: 'up', upstream_model_id: 'busy' },
        { name: 'omni', upstream: 'delta', upstream_model_id: 'talk' },
      ],
      load_balancers: [{ name: 'lively-or-not', strategy: 'priority', entries: [{ model: 'busy' }, { model: 'lively' }] }],
      key_groups: [{ name: 'few', models: ['ears'] }],
    });
    for (const price of [
      { name: 'watched', model: 'stopwatch', mode: 'per_second', unit: '500000' },
      { name: 'alive', model: 'lively', mode: 'per_second', unit: '500000' },
    ])
      expect(await gateway.console('POST', '/pricing', price)).toMatchObject({ status: 201 });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });
  beforeEach(() => {
    fake.sessions.length = 0;
  });

  const open = (path: string) => openTalk(gateway.url, { path, key: gateway.key });
  const rowsOf = (model: string, kind: string, count = 1) => realtimeRows(gateway, model, kind, count);
  const configure = (model: string) => ({ type: 'session.update', session: { type: 'transcription', audio: { input: { transcription: { model } } } } });

  test('a transcription session takes its model from the first session.update, and has a row for each transcript', async () => {
    const talk = await open('/v1/realtime?intent=transcription');
    talk.send({ type: 'input_audio_buffer.append', audio: 'AAAA' });
    expect(fake.sessions).toEqual([]);
    talk.send(configure('ears'));
    await until(() => talk.events.some(({ type }) => type === 'session.updated'), 'the settings to be taken');
    for (let part = 1; part <= 2; part++) {
      talk.send({ type: 'input_audio_buffer.commit' });
      await until(() => talk.events.filter(({ type }) => type.endsWith('transcription.completed')).length === part, 'a transcript');
    }
    expect(fake.sessions[0]).toMatchObject({ path: '/v1/realtime?intent=transcription', refused: [], key: 'sk-fake-upstream' });
    expect(fake.sessions[0]!.received.map(({ data }) => data.toString())).toEqual([
      JSON.stringify({ type: 'input_audio_buffer.append', audio: 'AAAA' }),
      JSON.stringify(configure('hear')),
      ...Array.from({ length: 2 }, () => JSON.stringify({ type: 'input_audio_buffer.commit' })),
    ]);
    talk.socket.close(1000);
    const turns = await rowsOf('ears', 'realtime_turn', 2);
    const counted = { input_tokens: 2, audio_input_tokens: 10, output_tokens: 3, error_code: null, usage_source: 'upstream', model: 'ears' };
    expect(turns).toMatchObject([counted, counted]);
    expect(await rowsOf('ears', 'realtime_session')).toMatchObject([{ status: 101, id: turns[0]!.session_id }]);
  });

  test('a model in the address is taken as well, and seconds are priced where a vendor counts them', async () => {
    const talk = await open('/v1/realtime?intent=transcription&model=stopwatch');
    await until(() => talk.events.length > 0, 'the session, before anything was sent');
    talk.send(configure('stopwatch'));
    talk.send({ type: 'input_audio_buffer.commit' });
    await until(() => talk.events.some(({ type }) => type.endsWith('transcription.completed')), 'a transcript');
    talk.socket.close();
    expect(await rowsOf('stopwatch', 'realtime_turn')).toMatchObject([{ seconds: 3, cost_micros: 1_500_000 }]);
  });

  test('a translation session names its model in the address', async () => {
    const talk = await open('/v1/realtime/translations?model=interpreter');
    talk.send({ type: 'session.update', session: { audio: { output: { language: 'fr' } } } });
    talk.send({ type: 'session.input_audio_buffer.append', audio: 'AAAA' });
    talk.send({ type: 'session.close' });
    expect(await talk.closed).toMatchObject({ code: 1000 });
    expect(talk.events.map(({ type }) => type)).toEqual(['session.created', 'session.updated', 'session.output_audio.delta', 'session.closed']);
    expect(fake.sessions[0]).toMatchObject({ path: '/v1/realtime/translations?model=translate', refused: [] });
    expect(await rowsOf('interpreter', 'realtime_session')).toMatchObject([{ status: 101, error_code: null }]);
  });

  test('a live session is opened by session.start, at the next upstream where one has no room; responses beside it and its seconds are counted', async () => {
    const talk = await open('/v1/live/sessions');
    const start = { type: 'session.start', event_id: 'mine', session: { model: 'lively-or-not', instructions: 'Go.' } };
    talk.send(start);
    talk.send({ type: 'session.input_audio.append', audio: 'AAAA' });
    await until(() => talk.events.some(({ type }) => type === 'session.usage.updated'), 'some sound');
    talk.send({ type: 'response.create' });
    talk.send({ type: 'session.close' });
    expect(await talk.closed).toMatchObject({ code: 1000 });
    expect(talk.events[0]).toMatchObject({ type: 'session.started' });
    expect(talk.events.filter(({ type }) => type === 'session.started' || type === 'error')).toHaveLength(1);
    expect(fake.sessions.map(({ path, refused }) => [path, refused])).toEqual([
      ['/v1/live/sessions', []],
      ['/v1/live/sessions', []],
    ]);
    const [first, second] = fake.sessions.map(({ received }) => JSON.parse(received[0]!.data.toString()));
    expect([first, second]).toEqual(['busy', 'live-1'].map((model) => ({ ...start, session: { ...start.session, model } })));
    const [session] = await rowsOf('lively-or-not', 'realtime_session');
    expect(session).toMatchObject({ status: 101, error_code: null, seconds: 2, model: 'lively', cost_micros: 1_000_000 });
    expect(session!.attempts.map(({ model, error_code }) => [model, error_code])).toEqual([
      ['busy', 'server_error'],
      ['lively', null],
    ]);
    expect(await rowsOf('lively-or-not', 'realtime_turn')).toMatchObject([{ input_tokens: 15, cache_read_tokens: 5, output_tokens: 4, error_code: null }]);
  });

  test('what is refused after the handshake is told by an error and 1008', async () => {
    const start = (model: unknown, more = {}) => ({ type: 'session.start', session: { model, ...more } });
    const cases: [string, unknown, string][] = [
      ['/v1/live/sessions', { type: 'session.update', session: {} }, 'session.start'],
      ['/v1/live/sessions', start(undefined), 'session.model'],
      ['/v1/live/sessions', start('nothing'), 'does not exist'],
      ['/v1/live/sessions', start('omni'), 'no sessions of this kind'],
      ['/v1/live/sessions', start('lively', { voice: 'x' }), 'session.voice'],
      ['/v1/realtime?intent=transcription', { type: 'session.update', session: { type: 'transcription' } }, 'transcription.model'],
      ['/v1/realtime?intent=transcription', configure('nothing'), 'does not exist'],
    ];
    for (const [path, frame, words] of cases) {
      const talk = await open(path);
      talk.send(frame);
      expect([words, (await talk.closed).code]).toEqual([words, 1008]);
      expect(talk.events.at(-1)).toMatchObject({ type: 'error', error: { message: expect.stringContaining(words) } });
    }
    const few = mintAccessKey();
    expect((await gateway.console('POST', '/access-keys', { name: 'few', group: 'few', key: few })).status).toBe(201);
    const denied = await until(() => openTalk(gateway.url, { path: '/v1/live/sessions', key: few }).catch(() => undefined), 'the key to be known');
    denied.send(start('lively'));
    expect((await denied.closed).code).toBe(1008);
    expect(denied.events).toMatchObject([{ type: 'error', error: { code: 'model_not_granted' } }]);
    const rows = await until(async () => {
      const found = (await gateway.rows()).filter(({ access_key, kind }) => access_key === 'few' && kind === 'realtime_session');
      return found.length > 0 && found;
    }, 'the row');
    expect(rows).toMatchObject([{ status: 403, error_code: 'model_not_granted', requested_model: 'lively' }]);
  });

  test('handshakes for what is not served, and paths of other transports, are refused in words', async () => {
    for (const path of [
      '/v1/live/sessions?model=lively',
      '/v1/realtime?call_id=rtc_1',
      '/v1/realtime?intent=dance',
      '/v1/realtime/translations',
      '/v1/realtime',
    ])
      expect(await refusedTalk(gateway.url, { path, key: gateway.key })).toMatchObject({ status: 400, message: expect.stringMatching(/\w+ \w+ \w+/) });
    expect(await refusedTalk(gateway.url, { path: '/v1/live/sessions', key: 'gk-wrong' })).toMatchObject({ status: 401 });
    expect(await refusedTalk(gateway.url, { path: '/v1/realtime/translations?model=omni', key: gateway.key })).toMatchObject({ status: 400 });
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
    for (const path of [
      'realtime/calls',
      'realtime/calls/rtc_1/hangup',
      'live/sessions',
      'live/sessions/s/accept',
      'realtime/sessions',
      'realtime/transcription_sessions',
    ]) {
      const reply = await fetch(`${gateway.url}/v1/${path}`, { method: 'POST', headers, body: '{}' });
      expect([path, reply.status]).toEqual([path, 404]);
      expect(((await reply.json()) as { error: { message: string } }).error.message).toMatch(/WebSocket|short-lived/);
    }
    // By the vendor's own addresses, as its SDK opens them.
    for (const path of ['/api-ws/v1/inference', '/api-ws/v1/inference/', '/api-ws/v1/realtime?model=omni'])
      expect(await refusedTalk(gateway.url, { path, key: gateway.key })).toMatchObject({ status: 404, message: expect.stringContaining('/v1/realtime') });
    for (const path of ['live/sessions', 'realtime/translations']) expect((await fetch(`${gateway.url}/v1/${path}`, { headers })).status).toBe(426);
  });
});
