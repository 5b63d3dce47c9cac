/** Responses over a WebSocket on the same path, over the same call: turns, memory of the connection, refusals, leaving and draining. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { ResponsesWebSocketSession } from 'openai/lib/responses/responses-websocket-session';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { WebSocket } from 'ws';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { type InProcessGateway, startInProcess, until } from '../support/in-process.ts';
import { send } from '../support/send.ts';

let fake: FakeUpstream;
let gateway: InProcessGateway;
const protocols = ['alpha', 'alpha_response', 'beta', 'gamma'] as const;
const start = (edge: { drainMs?: number; bodyBudgetBytes?: number } = {}) =>
  startInProcess({
    edge,
    upstreams: protocols.map((protocol) => ({ name: protocol, protocol, base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] })),
    models: protocols.flatMap((protocol) => [
      { name: `to-${protocol}`, upstream: protocol, upstream_model_id: 'ok' },
      { name: `slow-${protocol}`, upstream: protocol, upstream_model_id: 'text:200+slow:50' },
      { name: `endless-${protocol}`, upstream: protocol, upstream_model_id: 'pump+slow:50' },
      { name: `broken-${protocol}`, upstream: protocol, upstream_model_id: 'err:500' },
      { name: `limited-${protocol}`, upstream: protocol, upstream_model_id: 'err:429:rate_limited:7' },
      { name: `overloaded-${protocol}`, upstream: protocol, upstream_model_id: 'err:529:overloaded' },
    ]),
  });
beforeAll(async () => {
  fake = await startFakeUpstream();
  gateway = await start();
});
afterAll(async () => {
  await gateway.stop();
  await fake.close();
});
beforeEach(() => {
  fake.requests.length = 0;
});

// biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
type Frame = any;
interface Talk {
  socket: WebSocket;
  frames: Frame[];
  send(frame: unknown): void;
  /** Frames until the end of the present turn, or an error. */
  turn(): Promise<Frame[]>;
}
const ends = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

async function open(
  headers: Record<string, string> = { authorization: `Bearer ${gateway.key}` },
  protocolsOffered: string[] = [],
  at = gateway,
): Promise<Talk> {
  const socket = new WebSocket(`${at.url.replace('http', 'ws')}/v1/responses`, protocolsOffered, { headers });
  const frames: Frame[] = [];
  socket.on('message', (data) => frames.push(JSON.parse(data.toString())));
  await once(socket, 'open');
  let from = 0;
  return {
    socket,
    frames,
    send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    async turn() {
      const end = await until(() => frames.findIndex(({ type }, place) => place >= from && ends.has(type)) + 1 || false, 'the end of a turn');
      const turn = frames.slice(from, end);
      from = end;
      return turn;
    },
  };
}
const create = (model: string | undefined, input: unknown, more: Record<string, unknown> = {}) => ({
  type: 'response.create',
  model,
  input,
  store: false,
  ...more,
});
const textOf = (turn: Frame[]) =>
  turn
    .filter(({ type }) => type === 'response.output_text.delta')
    .map(({ delta }) => delta)
    .join('');

/** The answer to a handshake that is refused. */
async function refusal(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const socket = new WebSocket(gateway.url.replace('http', 'ws') + path, { headers });
  const refused = once(socket, 'unexpected-response');
  // The client reports its own giving up, too.
  socket.on('error', () => socket.terminate());
  const [request, reply] = await refused;
  request.destroy();
  return reply;
}
const refusedStatus = async (path: string, headers: Record<string, string>) => (await refusal(path, headers)).statusCode;

describe.each(protocols)('with %s behind it', (protocol) => {
  test('several turns, each with its events, its row, and what the one before left', async () => {
    const talk = await open();
    talk.send(create(`to-${protocol}`, 'first words'));
    const first = await talk.turn();
    expect(first[0].type).toBe('response.created');
    expect(first.at(-1)).toMatchObject({ type: 'response.completed', response: { model: `to-${protocol}`, status: 'completed' } });
    expect(first.map(({ sequence_number }) => sequence_number)).toEqual(first.map((_, place) => place));
    expect(textOf(first)).toContain('first words');
    // Only what is new, and no model: both are known on this connection.
    talk.send(create(undefined, [{ type: 'message', role: 'user', content: 'second words' }], { previous_response_id: first.at(-1).response.id }));
    const second = await talk.turn();
    expect(second.at(-1).type).toBe('response.completed');
    const [, sent] = fake.requests.map(({ body }) => body.toString('utf8'));
    expect(sent).toContain('first words');
    expect(sent).toContain('second words');
    talk.socket.close();
    await until(() => gateway.rows.filter((row) => row.model === `to-${protocol}`).length >= 2, 'two rows');
  });

  test('a caller who leaves stops the upstream', async () => {
    const talk = await open();
    talk.send(create(`slow-${protocol}`, 'Hi'));
    await until(() => talk.frames.length > 5, 'some events');
    const left = Date.now();
    talk.socket.terminate();
    const row = await until(() => gateway.rows.find(({ model }) => model === `slow-${protocol}`), 'the row');
    expect(row).toMatchObject({ status: 499, error_code: 'client_gone' });
    // Its reply would take ten seconds.
    expect(Date.now() - left).toBeLessThan(5000);
  });
});

describe('lanes', () => {
  const of = (talk: Talk, lane: string | undefined) => talk.frames.filter(({ stream_id }) => stream_id === lane);
  const ended = (talk: Talk, lane: string | undefined, turns = 1) =>
    until(() => of(talk, lane).filter(({ type }) => ends.has(type)).length >= turns && of(talk, lane), `${turns} turns of lane ${lane}`);

  test('requests that name no lane wait for one another', async () => {
    const talk = await open();
    talk.send(create('to-alpha', 'first words'));
    talk.send(create('to-alpha', 'second words'));
    const [first, second] = [await talk.turn(), await talk.turn()];
    expect([first.at(-1).type, second.at(-1).type]).toEqual(['response.completed', 'response.completed']);
    expect(textOf(first)).toContain('first words');
    expect(textOf(second)).toContain('second words');
    talk.socket.close();
  });

  test('named ones run side by side, and each frame says whose it is', async () => {
    const talk = await open();
    talk.send(create('endless-alpha', 'Hi', { stream_id: 'endless' }));
    talk.send(create('to-beta', 'first words', { stream_id: 'quick' }));
    // Its turn comes after the one before it in the same lane.
    talk.send(create('to-gamma', 'second words', { stream_id: 'quick' }));
    talk.send(create('broken-alpha', 'Hi', { stream_id: 'bad.lane_1-2' }));
    const quick = await ended(talk, 'quick', 2);
    expect(textOf(quick)).toMatch(/first words.*second words/s);
    expect((await ended(talk, 'bad.lane_1-2'))[0]).toMatchObject({ type: 'error', status: 502, error: { code: 'upstream_failed' } });
    expect(of(talk, 'endless').some(({ type }) => ends.has(type))).toBe(false);
    expect(of(talk, undefined)).toEqual([]);
    expect(fake.requests.every(({ body }) => !body.toString('utf8').includes('stream_id'))).toBe(true);
    talk.socket.terminate();
    await until(() => fake.requests.every(({ closed }) => closed !== null), 'the endless one to be stopped');
  });

  test('a lane may go on from the last turn of another, which keeps it', async () => {
    const talk = await open();
    talk.send(create('to-alpha', 'early words', { stream_id: 'a' }));
    const { id } = (await ended(talk, 'a')).at(-1).response;
    for (const [at, lane] of ['b', 'c', 'a'].entries()) talk.send(create(undefined, `words ${at}`, { stream_id: lane, previous_response_id: id }));
    await Promise.all([ended(talk, 'b'), ended(talk, 'c'), ended(talk, 'a', 2)]);
    for (const { body } of fake.requests.slice(1)) expect(body.toString('utf8')).toContain('early words');
    // Now the first lane's last turn is another one.
    talk.send(create('to-alpha', 'late', { stream_id: 'd', previous_response_id: id }));
    expect((await ended(talk, 'd'))[0]).toMatchObject({ type: 'error', error: { code: 'previous_response_not_found' } });
    // None at all is what null says.
    talk.send(create('to-alpha', 'Hi', { stream_id: 'd', previous_response_id: null }));
    expect((await ended(talk, 'd', 2)).at(-1).type).toBe('response.completed');
    talk.socket.close();
  });

  test('the official SDK’s lanes', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key });
    const socket = new ResponsesWS(client);
    await once(socket.socket as unknown as WebSocket, 'open');
    const session = new ResponsesWebSocketSession(socket, { maxLanes: 8, maxBufferedEvents: 10_000, maxBufferedBytes: 10_000_000 });
    const lanes = ['one', 'two', undefined].map((name) => session.lane(name));
    for (const [at, lane] of lanes.entries()) lane.create({ model: `to-${protocols[at]}`, input: `words ${at}`, store: false });
    const said = await Promise.all(lanes.map((lane) => lane.finalResponse()));
    for (const [at, { output_text, status }] of said.entries()) expect([output_text, status]).toEqual([expect.stringContaining(`words ${at}`), 'completed']);
    lanes[1]?.create({ model: 'no-such', input: 'Hi' });
    await expect(lanes[1]?.finalResponse()).rejects.toMatchObject({ error: { stream_id: 'two', status: 404, error: { code: 'model_not_found' } } });
    session.close();
    socket.close();
  });
});

describe('refusals', () => {
  test.each([
    ['nothing', {}],
    ['a wrong key', { authorization: 'Bearer gk-wrong' }],
  ])('a handshake with %s is 401', async (_what, headers) => expect(await refusedStatus('/v1/responses', headers)).toBe(401));

  test('accepted or refused, the handshake is answered with both ids of the request', async () => {
    const ids = { 'x-request-id': expect.stringMatching(/^[\w-]+$/), 'z-request-id': 'mine-1' };
    const headers = { authorization: `Bearer ${gateway.key}`, 'z-request-id': 'mine-1' };
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, { headers });
    const [reply] = await once(socket, 'upgrade');
    expect(reply.headers).toMatchObject(ids);
    socket.close();
    expect((await refusal('/v1/responses', { 'z-request-id': 'mine-1' })).headers).toMatchObject(ids);
  });

  test('a key among the subprotocols opens it, and is never echoed', async () => {
    const talk = await open({}, ['realtime', `openai-insecure-api-key.${gateway.key}`]);
    expect(talk.socket.protocol).toBe('realtime');
    talk.send(create('to-alpha', 'Hi'));
    expect((await talk.turn()).at(-1).type).toBe('response.completed');
    talk.socket.close();
  });

  test('each fault is one frame, and the connection goes on', async () => {
    const talk = await open();
    const refused = async (frame: unknown) => {
      talk.send(frame);
      const [error] = await talk.turn();
      return [error.type, error.status, error.error.code];
    };
    expect(await refused('{')).toEqual(['error', 400, 'invalid_json']);
    expect(await refused({ type: 'session.update' })).toEqual(['error', 400, 'invalid_request']);
    expect(await refused(create('to-alpha', 7))).toEqual(['error', 400, 'invalid_request']);
    // Once it was parsed it could not be printed again.
    expect(await refused(`{"type":"response.create","model":"to-alpha","input":${'['.repeat(9000)}${']'.repeat(9000)}}`)).toEqual([
      'error',
      400,
      'invalid_request',
    ]);
    expect(await refused(create('no-such', 'Hi'))).toEqual(['error', 404, 'model_not_found']);
    expect(await refused(create('broken-alpha', 'Hi'))).toEqual(['error', 502, 'upstream_failed']);
    expect(await refused(create('to-alpha', 'Hi', { previous_response_id: 'resp_of_another_connection' }))).toEqual([
      'error',
      400,
      'previous_response_not_found',
    ]);
    talk.send({ type: 'response.processed', response_id: 'x' });
    talk.send(create('to-alpha', 'Hi'));
    expect((await talk.turn()).at(-1).type).toBe('response.completed');
    talk.socket.close();
  });

  test.each(protocols)('Codex asks again after a limit and an overload of %s', async (protocol) => {
    const own = { authorization: `Bearer ${gateway.key}` };
    const codex = await open({ ...own, originator: 'codex_exec' });
    codex.send(create(`limited-${protocol}`, 'Hi'));
    expect(await codex.turn()).toEqual([
      expect.objectContaining({
        type: 'response.failed',
        response: expect.objectContaining({ error: { code: 'rate_limit_exceeded', message: expect.stringMatching(/try again in 7s/) } }),
      }),
    ]);
    codex.send(create(`overloaded-${protocol}`, 'Hi'));
    expect((await codex.turn()).map(({ type }) => type)).toEqual(['response.failed']);
    codex.send(create(`to-${protocol}`, 'Hi'));
    expect((await codex.turn()).at(-1).type).toBe('response.completed');
    codex.socket.close();
    const other = await open(own);
    other.send(create(`limited-${protocol}`, 'Hi'));
    expect(await other.turn()).toEqual([expect.objectContaining({ type: 'error', status: 429 })]);
    other.socket.close();
  });

  test('a line of requests has an end; no binary frames', async () => {
    const talk = await open();
    // One that is under way, 32 that wait, and one too many.
    for (let at = 0; at < 34; at++) talk.send(create('endless-alpha', 'Hi'));
    expect((await talk.turn()).at(-1)).toMatchObject({ type: 'error', error: { code: 'response_in_progress' } });
    expect(talk.frames.filter(({ type }) => type === 'error')).toHaveLength(1);
    await until(() => fake.requests.length > 0, 'the one that is under way');
    expect(fake.requests).toHaveLength(1);
    talk.socket.send(Buffer.from('{}'));
    const [code] = await once(talk.socket, 'close');
    expect(code).toBe(1003);
  });

  test('other paths and other upgrades are ordinary requests', async () => {
    const headers = { authorization: `Bearer ${gateway.key}` };
    expect(await refusedStatus('/v1/chat/completions', headers)).toBe(405);
    const reply = await send(gateway.url, '/v1/responses', {
      headers: { ...headers, 'content-type': 'application/json', connection: 'upgrade', upgrade: 'h2c' },
      body: JSON.stringify({ model: 'to-alpha', input: 'Hi' }),
    });
    expect(reply.status).toBe(200);
  });
});

test('a warm-up asks nobody, and the next turn goes on from it', async () => {
  const talk = await open();
  talk.send(create('to-beta', [{ type: 'message', role: 'user', content: 'early words' }], { generate: false }));
  const warm = await talk.turn();
  expect(warm.map(({ type }) => type)).toEqual(['response.created', 'response.completed']);
  expect(fake.requests).toHaveLength(0);
  talk.send(create('to-beta', [], { previous_response_id: warm[1].response.id }));
  expect(textOf(await talk.turn())).toContain('early words');
  talk.socket.close();
});

test('a gateway that leaves lets the turn end, then says so', async () => {
  const other = await start({ drainMs: 20_000 });
  const idle = await open({ authorization: `Bearer ${other.key}` }, [], other);
  const busy = await open({ authorization: `Bearer ${other.key}` }, [], other);
  busy.send(create('to-alpha', 'Hi'));
  await until(() => busy.frames.length > 0, 'the turn to begin');
  const closes = [once(idle.socket, 'close'), once(busy.socket, 'close')];
  await other.stop();
  for (const close of closes) expect((await close)[0]).toBe(1001);
  expect(busy.frames.at(-1).type).toBe('response.completed');
});

const heldBytes = async (of: InProcessGateway): Promise<number> => Number(/^gateway_request_body_bytes\S* (\d+)$/m.exec(await of.metrics())?.[1] ?? -1);

test('bytes of messages that are still arriving count among those of request bodies; who finds no room is told so, and others go on', async () => {
  const other = await start({ bodyBudgetBytes: 300_000 });
  const connect = () => open({ authorization: `Bearer ${other.key}` }, [], other);
  const [slow, hostile, neighbour] = [await connect(), await connect(), await connect()];
  try {
    const words = JSON.stringify(create('to-alpha', `slow words ${'x'.repeat(200_000)}`));
    slow.socket.send(words.slice(0, 120_000), { fin: false });
    await until(async () => (await heldBytes(other)) > 120_000, 'the first half to be counted');
    hostile.socket.ping('between two fragments');
    hostile.socket.send('x'.repeat(200_000), { fin: false });
    const [code, reason] = await once(hostile.socket, 'close');
    expect([code, String(reason)]).toEqual([1013, 'The gateway holds too many request bodies.']);
    await until(async () => (await heldBytes(other)) < 150_000, 'what the other sent to be let go of');
    neighbour.send(create('to-alpha', 'Hi'));
    expect((await neighbour.turn()).at(-1).type).toBe('response.completed');
    slow.socket.ping('between two fragments');
    slow.socket.send(words.slice(120_000), { fin: true });
    expect(textOf(await slow.turn())).toContain('slow words');
    await until(async () => (await heldBytes(other)) === 0, 'nothing to be held');
  } finally {
    for (const { socket } of [slow, hostile, neighbour]) socket.terminate();
    await other.stop();
  }
});
