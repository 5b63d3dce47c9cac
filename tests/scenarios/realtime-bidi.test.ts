/** Gemini Live through real processes, in both arrangements: recordings, failover by closes, refusals, rows, and Google's SDK for JavaScript. */
import { once } from 'node:events';
import { GoogleGenAI, Modality } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { haveFixtures } from '../fake-upstream/fixtures.ts';
import { type FakeRealtime, readFrames, recordedModel, startFakeRealtime } from '../fake-upstream/index.ts';
import { arrangements, borrowGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/in-process.ts';
import { realtimeRows } from '../support/realtime-rows.ts';
import { refusedTalk } from '../support/realtime-talk.ts';

const path = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
const recorded = ['audio-in-vad', 'text-in-audio-out', 'tool-round'];

interface Session {
  socket: WebSocket;
  frames: { data: Buffer; isBinary: boolean }[];
  send(frame: unknown, binary?: boolean): void;
  closed: Promise<{ code: number; reason: string }>;
}

describe.each(arrangements('realtime-bidi'))('Gemini Live at a %s gateway', (arrangement) => {
  let fake: FakeRealtime;
  let gateway: TestGateway;
  beforeAll(async () => {
    fake = await startFakeRealtime();
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      upstreams: [
        { name: 'google', protocol: 'gamma', base_url: `${fake.url}/v1beta`, api_keys: [{ key: 'sk-fake-upstream' }] },
        { name: 'google-spent', protocol: 'gamma', base_url: fake.url, api_keys: [{ key: 'sk-spent' }] },
        { name: 'google-keys', protocol: 'gamma', base_url: fake.url, api_keys: [{ key: 'sk-bad' }, { key: 'sk-good', weight: 0 }] },
        ...['first', 'second'].map((name) => ({ name: `google-${name}`, protocol: 'gamma' as const, base_url: fake.url, api_keys: [{ key: `sk-${name}` }] })),
        { name: 'other', protocol: 'alpha_realtime', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] },
      ],
      models: [
        ...recorded.map((name) => ({ name: `case/${name}`, upstream: 'google', upstream_model_id: `fixture/${name}` })),
        { name: 'gem', upstream: 'google', upstream_model_id: 'gemini-live' },
        { name: 'unknown', upstream: 'google', upstream_model_id: 'nothing' },
        { name: 'full', upstream: 'google-spent', upstream_model_id: 'full' },
        { name: 'two-keys', upstream: 'google-keys', upstream_model_id: 'gemini-live' },
        ...['first', 'second'].map((name) => ({ name: `of-${name}`, upstream: `google-${name}`, upstream_model_id: 'gemini-live' })),
        { name: 'voice', upstream: 'other', upstream_model_id: 'live-1' },
      ],
      load_balancers: [
        { name: 'balanced', strategy: 'priority', entries: [{ model: 'voice' }, { model: 'full' }, { model: 'gem' }] },
        { name: 'in-turn', strategy: 'weighted', entries: [{ model: 'of-first' }, { model: 'of-second' }] },
      ],
      key_groups: [{ name: 'few', models: ['voice'] }],
    });
    const price = { name: 'sound', model: 'gem', input: '1000', output: '1000', audio_input: '100000', audio_output: '100000' };
    expect(await gateway.console('POST', '/pricing', price)).toMatchObject({ status: 201 });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });
  beforeEach(() => {
    fake.sessions.length = 0;
  });

  async function open(query = `?key=${gateway.key}`, headers: Record<string, string> = {}): Promise<Session> {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}${path}${query}`, { headers });
    const frames: Session['frames'] = [];
    socket.on('message', (data: Buffer, isBinary) => frames.push({ data, isBinary }));
    const closed = once(socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }));
    await once(socket, 'open');
    return { socket, frames, closed, send: (frame, binary = false) => socket.send(JSON.stringify(frame), { binary }) };
  }
  const setUp = async (model: string, binary = false): Promise<Session> => {
    const session = await open();
    session.send({ setup: { model: `models/${model}` } }, binary);
    await until(() => session.frames.length > 0, 'the session');
    return session;
  };
  const say = (session: Session, text: string) => session.send({ clientContent: { turns: [{ role: 'user', parts: [{ text }] }], turnComplete: true } });
  /** Ids are those of the order in which they were written. */
  const rowsOf = async (model: string, kind: string, count = 1) => (await realtimeRows(gateway, model, kind, count)).sort((a, b) => (a.id < b.id ? -1 : 1));

  (haveFixtures() ? test.each(recorded) : test.skip.each(recorded))('the recorded session %s passes byte for byte, binary as binary', async (name) => {
    const frames = readFrames(`gamma_live/${name}`);
    const session = await open();
    let heard = 0;
    for (const { dir, data } of frames) {
      if (dir === 'server') {
        heard++;
        continue;
      }
      await until(() => session.frames.length >= heard, `${heard} frames`);
      const named = 'setup' in data ? { setup: { ...(data['setup'] as object), model: `models/case/${name}` } } : data;
      session.send(named);
    }
    await until(() => session.frames.length >= heard, 'all frames');
    expect(session.frames.map(({ data }) => data.toString())).toEqual(frames.filter(({ dir }) => dir === 'server').map(({ data }) => JSON.stringify(data)));
    expect(session.frames.every(({ isBinary }) => isBinary)).toBe(true);
    const [served] = fake.sessions;
    expect(served).toMatchObject({ refused: [], path, key: 'sk-fake-upstream' });
    // The names of models alone were exchanged, on the way up.
    const sent = frames.filter(({ dir }) => dir === 'client').map(({ data }) => JSON.stringify(data));
    const received = served!.received.map(({ data, isBinary }) => (isBinary ? 'binary' : data.toString()));
    expect(received.map((text) => text.replace(`models/fixture/${name}`, String(recordedModel(name))))).toEqual(sent);
    session.socket.close(1000);
    const [row] = await rowsOf(`case/${name}`, 'realtime_session');
    expect(row).toMatchObject({ status: 101, error_code: null, client_protocol: 'gamma', upstream_protocol: 'gamma', upstream: 'google' });
    const ends = frames.filter(({ data }) => (data['serverContent'] as { turnComplete?: boolean } | undefined)?.turnComplete);
    const turns = await rowsOf(`case/${name}`, 'realtime_turn', ends.length);
    expect(turns).toHaveLength(ends.length);
    for (const [at, { data }] of ends.entries()) {
      const usage = data['usageMetadata'] as { promptTokenCount: number; responseTokenCount: number; thoughtsTokenCount?: number };
      const turn = turns[at]!;
      expect(turn.input_tokens + turn.audio_input_tokens).toBe(usage.promptTokenCount);
      expect(turn.output_tokens + turn.audio_output_tokens).toBe(usage.responseTokenCount);
      expect(turn).toMatchObject({ reasoning_tokens: usage.thoughtsTokenCount ?? 0, session_id: row!.id, usage_source: 'upstream', error_code: null });
      expect(turn.audio_output_tokens).toBeGreaterThan(0);
    }
  });

  test("Google's SDK for JavaScript holds turns, by text and by sound; its address has two slashes and another version", async () => {
    const google = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
    let turns = 0;
    let words = '';
    const session = await google.live.connect({
      model: 'gem',
      config: { responseModalities: [Modality.AUDIO], systemInstruction: 'Be brief.', outputAudioTranscription: {} },
      callbacks: {
        onmessage: ({ serverContent }) => {
          words += serverContent?.outputTranscription?.text ?? '';
          if (serverContent?.turnComplete) turns++;
        },
      },
    });
    session.sendClientContent({ turns: 'Hello', turnComplete: true });
    await until(() => turns === 1, 'a turn');
    session.sendRealtimeInput({ audio: { data: 'AAAA', mimeType: 'audio/pcm;rate=16000' } });
    session.sendRealtimeInput({ audioStreamEnd: true });
    await until(() => turns === 2, 'another turn');
    expect(words).toBe('wordswords');
    const [served] = fake.sessions;
    // The SDK's own version of the API.
    expect(served).toMatchObject({ refused: [], path: path.replace('v1beta', 'v1'), key: 'sk-fake-upstream' });
    expect(served!.headers['x-goog-api-client']).toContain('google-genai-sdk/');
    expect(JSON.stringify(served!.headers)).not.toContain(gateway.key);
    session.close();
    await until(() => served!.closed, 'the upstream to be left');
    const counted = { input_tokens: 2, cache_read_tokens: 10, audio_input_tokens: 18, audio_output_tokens: 12, output_tokens: 0, reasoning_tokens: 5 };
    const rows = await rowsOf('gem', 'realtime_turn', 2);
    expect(rows).toMatchObject([counted, counted]);
    // Sound by its own price: (18 + 12) × 0.1, and text by 0.001 each at most.
    expect(rows[0]!.cost_micros).toBeGreaterThanOrEqual(3_000_000);
    expect(rows[0]!.cost_micros).toBeLessThanOrEqual(3_017_000);
    for (const one of Object.values(gateway.processes)) expect(one.logs().join('\n')).not.toContain(gateway.key);
  });

  test('a setup in a binary message is read too, and reaches the upstream as one', async () => {
    const session = await setUp('gem', true);
    expect(fake.sessions[0]!.received).toMatchObject([{ isBinary: true }]);
    expect(JSON.parse(fake.sessions[0]!.received[0]!.data.toString())).toEqual({ setup: { model: 'models/gemini-live' } });
    session.socket.close();
    await session.closed;
  });

  test('a refused key gives way to the next, a node without quota to another; models of other protocols are passed over', async () => {
    const session = await setUp('two-keys');
    expect(fake.sessions.map(({ key }) => key)).toEqual(['sk-bad', 'sk-good']);
    const balanced = await setUp('balanced');
    for (const { socket, closed, frames } of [session, balanced]) {
      expect(frames.map(({ data }) => data.toString())).toEqual(['{"setupComplete":{}}']);
      socket.close();
      await closed;
    }
    const [row] = await rowsOf('balanced', 'realtime_session');
    expect(row!.attempts.map(({ model, error_code }) => [model, error_code])).toEqual([
      ['full', 'closed_1011'],
      ['gem', null],
    ]);
  });

  test('a turn that is cut off has a row, and counts that come after a turn are not lost', async () => {
    const session = await setUp('gem');
    const before = (await rowsOf('gem', 'realtime_turn')).length;
    say(session, 'late');
    await until(() => session.frames.some(({ data }) => data.includes('usageMetadata')), 'the counts');
    say(session, 'wait');
    await until(() => session.frames.filter(({ data }) => data.includes('modelTurn')).length === 2, 'the second turn');
    session.socket.close(1000);
    const rows = (await rowsOf('gem', 'realtime_turn', before + 2)).slice(before);
    expect(rows.map(({ audio_output_tokens, error_code }) => [audio_output_tokens, error_code])).toEqual([
      [0, null],
      [12, 'client_gone'],
    ]);
  });

  test('a session is resumed at the account that began it, and at no other', async () => {
    const setup = async (sessionResumption: object) => {
      const session = await open();
      session.send({ setup: { model: 'models/in-turn', sessionResumption } });
      await until(() => session.frames.length === 2, 'a handle');
      const { newHandle } = JSON.parse(session.frames[1]!.data.toString()).sessionResumptionUpdate as { newHandle: string };
      session.socket.close(1000);
      await session.closed;
      return newHandle;
    };
    // Both sessions of each account are resumed, whosever turn it is.
    const handles = [await setup({}), await setup({}), await setup({}), await setup({})];
    expect(new Set(handles.map((handle) => handle.split(' ')[1]))).toEqual(new Set(['sk-first', 'sk-second']));
    fake.sessions.length = 0;
    for (const handle of [...handles, ...handles.slice(1)]) await setup({ handle });
    expect(fake.sessions.map(({ key }) => key)).toEqual([...handles, ...handles.slice(1)].map((handle) => handle.split(' ')[1]));
    const rows = await rowsOf('in-turn', 'realtime_session', 11);
    expect(rows.map(({ attempts }) => attempts.length)).toEqual(rows.map(() => 1));
    // What was never given out is for the upstreams to refuse.
    const unknown = await open();
    unknown.send({ setup: { model: 'models/in-turn', sessionResumption: { handle: 'of nobody' } } });
    expect(await unknown.closed).toMatchObject({ code: 1008, reason: 'BidiGenerateContent session not found' });
  });

  test('what is refused before the handshake has the shape of the protocol', async () => {
    expect(await refusedTalk(gateway.url, { path })).toMatchObject({ status: 401 });
    expect(await refusedTalk(gateway.url, { path: `${path}?key=gk-wrong` })).toMatchObject({ status: 401 });
    const plain = await fetch(`${gateway.url}${path}?key=${gateway.key}`);
    expect([plain.status, await plain.json()]).toMatchObject([426, { error: { code: 426, message: 'This path takes WebSockets alone.' } }]);
    for (const other of [`${path}Constrained`, `${path.replace('v1beta', 'v1alpha')}Constrained`, path.replace('Content', 'Music')]) {
      const refused = await refusedTalk(gateway.url, { path: `/${other}?key=${gateway.key}` });
      expect([other, refused.status]).toEqual([other, 404]);
      expect(refused.message).toContain('not served here');
    }
  });

  test('what is refused after it is said by a close', async () => {
    const cases: [unknown, number, string][] = [
      [{ clientContent: { turns: [] } }, 1008, 'Send setup with setup.model first'],
      [{ setup: {} }, 1008, 'Send setup with setup.model first'],
      [{ setup: { model: 'models/nobody' } }, 1008, 'does not exist'],
      [{ setup: { model: 'models/voice' } }, 1008, 'no sessions of this kind'],
      [{ setup: { model: 'models/gem', voice: 'x' } }, 1007, 'Request contains an invalid argument.'],
    ];
    for (const [frame, code, words] of cases) {
      const session = await open();
      session.send(frame);
      const closed = await session.closed;
      expect([frame, closed.code]).toEqual([frame, code]);
      expect(closed.reason).toContain(words);
      expect(session.frames).toEqual([]);
    }
    const full = await open();
    full.send({ setup: { model: 'models/full' } });
    expect((await full.closed).code).not.toBe(1000);
    expect(await refusedTalk(gateway.url, { path: '/v1/realtime?model=gem', key: gateway.key })).toMatchObject({
      status: 400,
      message: 'The model holds no sessions of this kind.',
    });
  });
});
