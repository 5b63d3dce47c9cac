import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import type { WebSocket } from 'ws';
import { type InProcessGateway, until } from '../support/in-process.ts';
import { natsAvailable, startNatsServer } from '../support/nats-server.ts';
import { busyMs, dial, fake, forgetSessions, open, refusal, start, startFake, stopFake } from './realtime-stage.ts';

beforeAll(startFake);
afterAll(stopFake);
beforeEach(forgetSessions);

describe('admission', () => {
  let gateway: InProcessGateway;
  beforeAll(async () => {
    gateway = await start({ group: { models: ['talk', 'echo'], header_acl: [{ header: 'x-blocked', match: 'exists', action: 'deny' }] } });
  });
  afterAll(() => gateway?.stop());

  test('a key as a subprotocol: only realtime is selected, and the key goes nowhere', async () => {
    const offered = ['realtime', `openai-insecure-api-key.${gateway.key}`, 'openai-beta.realtime-v1'];
    const talk = await open(gateway, 'talk', { headers: {}, offered });
    expect(talk.socket.protocol).toBe('realtime');
    await until(() => talk.frames.length === 1, 'the session');
    const served = fake.sessions[0]!;
    expect(served.key).toBe('sk-fake-upstream');
    expect(served.headers).not.toHaveProperty('sec-websocket-protocol');
    expect(JSON.stringify([served.headers, gateway.logs, gateway.rows])).not.toContain(gateway.key);
    talk.socket.close();
    const both = await open(gateway, 'talk', { offered });
    both.socket.close();
    const none = await open(gateway, 'talk');
    expect(none.socket.protocol).toBe('');
    none.socket.close();
  });

  test('a key as a subprotocol beside a header: a token of another party is ignored, the same key is one key, another key is refused', async () => {
    const offered = ['realtime', `openai-insecure-api-key.${gateway.key}`];
    for (const authorization of ['Bearer a-token-of-the-vendor', `bearer ${gateway.key}`, `Bearer ${gateway.key}`]) {
      const talk = await open(gateway, 'talk', { headers: { authorization }, offered });
      await until(() => talk.frames.length === 1, `the session beside ${authorization.slice(0, 20)}`);
      expect(JSON.stringify(fake.sessions.at(-1)!.headers)).not.toContain('a-token-of-the-vendor');
      talk.socket.close();
    }
    const two = await refusal(gateway, 'talk', { headers: { authorization: `Bearer ${mintAccessKey()}` }, offered });
    expect([two.status, JSON.parse(two.body).error.message]).toEqual([401, 'Two different access keys were sent.']);
    forgetSessions();
  });

  test('refused over HTTP, in words, with a row', async () => {
    const authorization = `Bearer ${gateway.key}`;
    const cases: [number, string, Parameters<typeof dial>[2]][] = [
      [401, 'talk', { headers: {} }],
      [401, 'talk', { headers: { authorization: 'Bearer sk-wrong' } }],
      [401, 'talk', { offered: ['realtime', `openai-insecure-api-key.${gateway.key}x`] }],
      [404, 'nothing', {}],
      [403, 'second-key', {}],
      [403, 'talk', { headers: { authorization, 'x-blocked': '1' } }],
      [400, '', { query: '' }],
      [400, '', { query: 'model=talk&model=echo' }],
      [400, '', { query: 'call_id=rtc_1' }],
      [400, '', { query: 'intent=other' }],
    ];
    for (const [status, model, options] of cases) {
      const refused = await refusal(gateway, model, options);
      expect([options, refused.status]).toEqual([options, status]);
      expect(JSON.parse(refused.body).error.message).toMatch(/\w+ \w+/);
      expect(await gateway.row(String(refused.headers['x-request-id']))).toMatchObject({ kind: 'realtime_session', status });
    }
    expect(fake.sessions).toEqual([]);
  });

  test('accepted or refused, the answer carries both ids of the request, as every other reply does', async () => {
    const headers = { authorization: `Bearer ${gateway.key}`, 'z-request-id': 'mine-1' };
    const ids = { 'x-request-id': expect.stringMatching(/^[\w-]+$/), 'z-request-id': 'mine-1' };
    const accepted = dial(gateway, 'talk', { headers });
    const [reply] = await once(accepted, 'upgrade');
    expect(reply.headers).toMatchObject(ids);
    accepted.close();
    expect(await refusal(gateway, '', { query: '', headers })).toMatchObject({ status: 400, headers: ids });
    const without = await refusal(gateway, '', { query: '', headers: { ...headers, 'z-request-id': 'not a plain token' } });
    expect(without.headers).not.toHaveProperty('z-request-id');
  });

  test('what opens no WebSocket, and paths that are not served', async () => {
    const headers = { authorization: `Bearer ${gateway.key}` };
    expect((await fetch(`${gateway.url}/v1/realtime?model=talk`, { headers })).status).toBe(426);
    for (const path of ['calls', 'sessions']) {
      const reply = await fetch(`${gateway.url}/v1/realtime/${path}`, { method: 'POST', headers, body: '{}' });
      expect(reply.status).toBe(404);
    }
    const chat = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'talk', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    expect([chat.status, ((await chat.json()) as { error: { message: string } }).error.message]).toEqual([
      400,
      'The model is not served on this path, but on the WebSocket at /v1/realtime.',
    ]);
  });
});

describe('ends', () => {
  test('a quiet session, an old one, one too many', async () => {
    const gateway = await start({ edge: { realtimeIdleMs: 400, realtimeMaxSessions: 1 } });
    const talk = await open(gateway, 'talk');
    expect((await refusal(gateway, 'talk')).status).toBe(503);
    expect(await talk.closed).toEqual({ code: 1000, reason: 'The session was idle for too long.' });
    await gateway.stop();
    const other = await start({ edge: { realtimeLifetimeMs: 300 } });
    expect(await (await open(other, 'talk')).closed).toEqual({ code: 1000, reason: 'The session has reached its age.' });
    await until(() => fake.sessions.every(({ closed }) => closed?.code === 1000), 'the upstreams to be closed');
    await other.stop();
  });

  test('a gateway that leaves closes every session with 1001, in time', async () => {
    const gateway = await start();
    const talks = await Promise.all([open(gateway, 'talk'), open(gateway, 'talk')]);
    talks[1]!.send({ type: 'response.create', response: { instructions: 'wait' } });
    await until(() => talks[1]!.events().some(({ type }) => type === 'response.created'), 'the response');
    const [first, second] = [talks[0]!.closed, talks[1]!.closed];
    await gateway.stop();
    expect([(await first).code, (await second).code]).toEqual([1001, 1001]);
    expect(gateway.rows.filter(({ kind }) => kind === 'realtime_session')).toHaveLength(2);
  });
});

if (natsAvailable('realtime')) {
  test('a bus that is lost ends its sessions with 1011 and an error that the client can read', async () => {
    const nats = await startNatsServer();
    if (!nats.managed) return;
    const gateway = await start({ natsUrl: nats.url });
    const talk = await open(gateway, 'talk');
    await until(() => talk.frames.length === 1, 'the session');
    const killed = performance.now();
    await nats.kill();
    expect((await talk.closed).code).toBe(1011);
    expect(performance.now() - killed).toBeLessThan(3000 + busyMs);
    expect(talk.events().at(-1)).toMatchObject({ type: 'error' });
    await until(() => fake.sessions[0]?.closed, 'the upstream to be closed');
    // The gateway publishes what is left when it stops.
    await nats.start();
    await gateway.stop();
    await nats.dispose();
  });

  test('handshakes at once open no more sessions than may be open, and refused ones take no place', async () => {
    const nats = await startNatsServer();
    const gateway = await start({ edge: { realtimeMaxSessions: 2 }, natsUrl: nats.url });
    const shakeHands = async () => {
      const socket = dial(gateway, 'talk');
      socket.on('error', () => socket.terminate());
      const refused = once(socket, 'unexpected-response').then(([, reply]) => reply.statusCode as number);
      return { socket, status: await Promise.race([once(socket, 'open').then(() => 101), refused]) };
    };
    const answers = await Promise.all(Array.from({ length: 8 }, shakeHands));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([101, 101, 503, 503, 503, 503, 503, 503]);
    for (const { socket } of answers) socket.close();
    const again: WebSocket[] = [];
    await until(async () => {
      const { socket, status } = await shakeHands();
      if (status === 101) again.push(socket);
      else socket.close();
      return again.length === 2;
    }, 'the places to come back');
    const last = await shakeHands();
    expect(last.status).toBe(503);
    for (const socket of [...again, last.socket]) socket.close();
    await gateway.stop();
    await nats.dispose();
  });
}
