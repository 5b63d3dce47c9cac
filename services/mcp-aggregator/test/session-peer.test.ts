/** Servers with sessions that forget them, break off replies, and leave streams open: what callers see of it is their answer. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createOutbound, type Outbound } from '@model-gateway/upstream-client';
import { until } from '../../../tests/support/in-process.ts';
import { ServerFault } from '../src/servers/http.ts';
import type { OnNotification, PeerReply } from '../src/servers/peer.ts';
import { openSession, type SessionPeer } from '../src/servers/session-peer.ts';

// biome-ignore lint/suspicious/noExplicitAny: messages are read freely.
type Json = any;

/** A server of the revision 2025-11-25 that knows one session at a time, and does with calls what a test says. */
class OneSession {
  session = 0;
  known: string | null = null;
  /** Methods of messages and of streams, in the order in which they came. */
  readonly received: string[] = [];
  /** Refuses handshakes with this status. */
  failing: number | null = null;
  /** Answers handshakes with a page. */
  page = false;
  handshake = (answer: () => void): void => answer();
  onCall: (id: number, response: ServerResponse) => void = (id, response) => end(response, id);
  onStream: (response: ServerResponse, lastEventId: string | undefined) => void = (response) => void response.writeHead(405).end();

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const message: Json = pieces.length > 0 ? JSON.parse(Buffer.concat(pieces).toString()) : {};
    this.received.push(message.method ?? request.method);
    if (request.method === 'GET') return this.onStream(response, request.headers['last-event-id'] as string | undefined);
    if (request.method === 'DELETE') return void response.writeHead(204).end();
    if (message.method === 'initialize' && this.page)
      return void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>Welcome</html>');
    if (message.method === 'initialize' && this.failing !== null) return void response.writeHead(this.failing).end();
    if (message.method === 'initialize')
      return this.handshake(() => {
        this.known = `session-${++this.session}`;
        const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'one', version: '1' } };
        const text = JSON.stringify({ jsonrpc: '2.0', id: message.id, result });
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': this.known }).end(text);
      });
    if (request.headers['mcp-session-id'] !== this.known)
      return void response
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}');
    if (message.id === undefined) return void response.writeHead(202).end();
    this.onCall(message.id, response);
  }

  count(method: string): number {
    return this.received.filter((one) => one === method).length;
  }
}

const result = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, result: { n: id } });
const end = (response: ServerResponse, id: number): void => void response.writeHead(200, { 'content-type': 'application/json' }).end(result(id));
const events = (response: ServerResponse): ServerResponse => response.writeHead(200, { 'content-type': 'text/event-stream' });

let server: OneSession;
let peer: SessionPeer | undefined;
let outbound: Outbound;
const http = createServer((request, response) => void server.handle(request, response));

beforeAll(async () => {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const timeouts = { connect_ms: 20_000, first_byte_ms: 60_000, idle_ms: 60_000, total_ms: 120_000 };
  outbound = createOutbound({ allowPrivate: true, timeouts, userAgent: 'test', logger: { warn: () => {}, error: () => {} } });
});
afterEach(() => peer?.close());
afterAll(async () => {
  await outbound.close();
  http.closeAllConnections();
  http.close();
});

async function open({ listens = false } = {}): Promise<SessionPeer> {
  server = new OneSession();
  return reopen({ listens });
}
async function reopen({ listens = false, withinMs = 20_000, onNotification = (() => undefined) as OnNotification } = {}): Promise<SessionPeer> {
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const options = { outbound, target: () => ({ url, headers: {} }), capabilities: '{}', clientInfo: { name: 'suite', version: '1' } };
  peer = await openSession({ ...options, onNotification, listens }, AbortSignal.timeout(withinMs));
  return peer;
}
const call = (one: SessionPeer, signal = AbortSignal.timeout(30_000)): Promise<PeerReply> =>
  one.request({ method: 'tools/call', params: '{"name":"x"}', signal, silenceMs: 60_000 });

describe('a session that the server has forgotten', () => {
  test('is opened once more for all calls that find out, and each is made again', async () => {
    const one = await open();
    server.known = null;
    const replies = await Promise.all(Array.from({ length: 10 }, () => call(one)));
    expect(replies.map(({ kind }) => kind)).toEqual(Array.from({ length: 10 }, () => 'result'));
    expect(server.count('initialize')).toBe(2);
  });

  test('calls that come while it is opened wait for it', async () => {
    const one = await open();
    server.known = null;
    let answer = (): void => undefined;
    server.handshake = (next) => {
      answer = next;
    };
    const first = call(one);
    await until(() => server.count('initialize') === 2, 'the handshake');
    const second = call(one);
    answer();
    expect([(await first).kind, (await second).kind]).toEqual(['result', 'result']);
    // The first was made twice.
    expect([server.count('initialize'), server.count('tools/call')]).toEqual([2, 3]);
  });

  test('is opened all the same when the caller who found out leaves', async () => {
    const one = await open();
    server.known = null;
    let answer = (): void => undefined;
    server.handshake = (next) => {
      answer = next;
    };
    const gone = new AbortController();
    const first = call(one, gone.signal);
    await until(() => server.count('initialize') === 2, 'the handshake');
    const second = call(one);
    gone.abort();
    await expect(first).rejects.toThrow(ServerFault);
    answer();
    expect((await second).kind).toBe('result');
    expect(server.count('initialize')).toBe(2);
  });

  test('is opened by the next call where that failed', async () => {
    const one = await open();
    server.known = null;
    server.failing = 503;
    await expect(call(one)).rejects.toThrow('503');
    server.failing = null;
    expect((await call(one)).kind).toBe('result');
    expect(server.count('initialize')).toBe(3);
  });

  test('that is forgotten at once again is an error, and no endless loop', async () => {
    const one = await open();
    server.handshake = (answer) => {
      answer();
      server.known = null;
    };
    server.known = null;
    await expect(call(one)).rejects.toThrow(ServerFault);
    expect(server.count('initialize')).toBe(2);
  });
});

describe('a handshake', () => {
  test.each([301, 302, 307, 308])('that is answered %i says that the endpoint is another address', async (status) => {
    server = new OneSession();
    server.failing = status;
    await expect(reopen()).rejects.toThrow(
      `The server answered ${status}, a redirect, which is not followed: its endpoint must be the address that this leads to.`,
    );
  });

  test('that is answered with a page says so', async () => {
    server = new OneSession();
    server.page = true;
    await expect(reopen()).rejects.toThrow('The server sent text/html, which is not a message of MCP: its endpoint may have another path.');
  });

  test('that is not answered in time says so', async () => {
    server = new OneSession();
    server.handshake = () => undefined;
    await expect(reopen({ withinMs: 200 })).rejects.toThrow('The server did not answer in time.');
  });
});

describe('streams', () => {
  test('an answer counts though its stream stays open, and the connection is closed', async () => {
    const one = await open();
    let closed = false;
    server.onCall = (id, response) => {
      events(response).write(`data: ${result(id)}\n\n`);
      response.on('close', () => {
        closed = true;
      });
    };
    expect((await call(one)).kind).toBe('result');
    await until(() => closed, 'the connection to be closed');
  });

  test('a reply that was broken off is gone on with no sooner than the server said, though that stream stays open', async () => {
    const one = await open();
    let [id, endedAt, askedAt] = [0, 0, 0];
    server.onCall = (asked, response) => {
      id = asked;
      endedAt = performance.now();
      events(response).end('id: event-1\nretry: 300\ndata: \n\n');
    };
    const resumed: (string | undefined)[] = [];
    server.onStream = (response, lastEventId) => {
      resumed.push(lastEventId);
      askedAt = performance.now();
      events(response).write(`id: event-2\ndata: \n\nid: event-3\ndata: ${result(id)}\n\n`);
    };
    expect((await call(one)).kind).toBe('result');
    expect(resumed).toEqual(['event-1']);
    expect(askedAt - endedAt).toBeGreaterThan(295);
  });

  test('an answer on the stream of the server’s own messages counts too', async () => {
    server = new OneSession();
    let stream: ServerResponse | undefined;
    server.onStream = (response) => {
      stream ??= events(response);
      stream.write(': open\n\n');
    };
    const one = await reopen({ listens: true });
    await until(() => stream !== undefined, 'the stream');
    server.onCall = (id, response) => {
      events(response).end('id: event-1\nretry: 60000\ndata: \n\n');
      stream?.write(`data: ${result(id)}\n\n`);
    };
    expect((await call(one)).kind).toBe('result');
  });

  test('the server’s own messages are listened to again after an outage, from where they stopped', async () => {
    server = new OneSession();
    const asked: (string | undefined)[] = [];
    server.onStream = (response, lastEventId) => {
      asked.push(lastEventId);
      if (asked.length === 1) return void events(response).end('id: event-1\ndata: {"jsonrpc":"2.0","method":"notifications/one"}\n\n');
      if (asked.length === 2) return void response.writeHead(503).end();
      // It lost what it had kept.
      if (asked.length === 3) return void response.writeHead(400).end();
      events(response).write('id: event-2\ndata: {"jsonrpc":"2.0","method":"notifications/two"}\n\n');
    };
    const received: string[] = [];
    await reopen({ listens: true, onNotification: ({ method }) => void received.push(method) });
    await until(() => received.length === 2, 'both messages');
    expect(received).toEqual(['notifications/one', 'notifications/two']);
    expect(asked).toEqual([undefined, 'event-1', 'event-1', undefined]);
  });
});
