/** HTTP/2 with upstreams that offer it: what a stream's end means, what a connection's end means, and what stays as it was. */
import { once } from 'node:events';
import { connect as connectHttp2, createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { connect, createServer } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { watchSilence } from '../src/http2-connections.ts';
import type { OutboundOptions } from '../src/index.ts';
import { nothingFor, type Seen, send, until } from './calls.ts';
import { cert, key } from './fixed-certificate.ts';
import { errorCodes, type FrameStream, startFrameServer } from './http2-frames.ts';
import { cleanUp, listen, onCleanUp, startConnectProxy } from './servers.ts';
import { egress, use } from './support.ts';

afterEach(cleanUp);

const resolve: NonNullable<OutboundOptions['resolve']> = (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);
const client = (options: Partial<OutboundOptions> = {}) => use({ http2: true, ca: cert, resolve, ...options });
const at = (port: number, path = '/'): string => `https://upstream.test:${port}${path}`;

/** A server of Node's library; `onStream` answers. */
async function startHttp2(onStream: (stream: ServerHttp2Stream, path: string) => void, options = {}) {
  const server: Http2SecureServer = createSecureServer({ key, cert, ...options });
  const sockets = new Set<Socket>();
  const heads: Record<string, unknown>[] = [];
  let sessions = 0;
  server.on('connection', (socket: Socket) => void sockets.add(socket));
  server.on('session', () => void sessions++);
  server.on('sessionError', () => {});
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    heads.push(headers);
    onStream(stream, String(headers[':path']));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onCleanUp(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((closed) => server.close(() => closed()));
  });
  return {
    port: (server.address() as AddressInfo).port,
    heads,
    get sessions() {
      return sessions;
    },
  };
}
const answer = (stream: ServerHttp2Stream, text = 'hello'): void => {
  stream.respond({ ':status': 200, 'content-type': 'text/plain' });
  stream.end(text);
};

describe('what is negotiated', () => {
  test('an upstream that offers HTTP/2 gets it: many calls at once on one connection, with their own bodies', async () => {
    const upstream = await startHttp2((stream) => {
      const got: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => got.push(chunk)).on('end', () => answer(stream, Buffer.concat(got).toString()));
    });
    const outbound = client();
    await send(outbound, { url: at(upstream.port) }).done;
    const calls = Array.from({ length: 40 }, (_, i) =>
      send(outbound, { url: at(upstream.port, `/c${i}`), body: [Buffer.from('piece '), Buffer.from(String(i))] }),
    );
    expect(await Promise.all(calls.map(({ done }) => done))).toEqual(calls.map(() => 'end'));
    expect(calls.map((call) => call.text())).toEqual(calls.map((_, i) => `piece ${i}`));
    expect(calls.every(({ status, headers }) => status === 200 && headers['content-type'] === 'text/plain' && !(':status' in headers))).toBe(true);
    expect(upstream.sessions).toBe(1);
  });

  test('the host of the URL is the authority; names of the connection are not sent', async () => {
    const upstream = await startHttp2((stream) => answer(stream));
    const headers = { 'x-mine': 'yes', connection: 'close', 'keep-alive': '1', 'http2-settings': 'AAA', 'transfer-encoding': 'chunked', host: 'other' };
    expect(await send(client(), { url: at(upstream.port), headers }).done).toBe('end');
    expect(upstream.heads[0]).toMatchObject({ ':authority': `upstream.test:${upstream.port}`, 'x-mine': 'yes', ':scheme': 'https', 'content-length': '2' });
    for (const name of ['connection', 'keep-alive', 'http2-settings', 'transfer-encoding', 'host']) expect(upstream.heads[0]).not.toHaveProperty(name);
  });

  test.each([
    ['switched off', { http2: false }, undefined],
    ['switched off for the upstream', {}, 'off'],
  ] as const)('%s: HTTP/1.1 as ever', async (_, options, own) => {
    const upstream = await startHttp2(() => {}, { allowHTTP1: true });
    const server = await startBoth();
    const way = own && egress({ http2: own });
    expect(await send(client(options), { url: at(server.port), egress: way }).done).toBe('end');
    expect([server.versions, upstream.sessions]).toEqual([['1.1'], 0]);
  });

  test('switched on for one upstream alone', async () => {
    const server = await startBoth();
    const outbound = client({ http2: false });
    expect(await send(outbound, { url: at(server.port), egress: egress({ http2: 'on' }) }).done).toBe('end');
    expect(await send(outbound, { url: at(server.port) }).done).toBe('end');
    expect(server.versions).toEqual(['2.0', '1.1']);
    expect(outbound.stats().pools).toBe(2);
  });

  test('an upstream that knows HTTP/1.1 alone, with and without ALPN, gets a connection for each call', async () => {
    for (const ALPNProtocols of [['http/1.1'], undefined]) {
      const server = createServer({ key, cert, ...(ALPNProtocols && { ALPNProtocols }) }, (socket) => {
        socket.on('error', () => {});
        socket.once('data', (bytes) => socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 8\r\n\r\n${bytes.subarray(0, 4)} 1.1`));
      });
      const { port, sockets } = await listen(server);
      const outbound = client();
      const calls = Array.from({ length: 3 }, () => send(outbound, { url: at(port) }));
      expect(await Promise.all(calls.map(({ done }) => done))).toEqual(['end', 'end', 'end']);
      expect([calls.map((call) => call.text()), sockets.length]).toEqual([['POST 1.1', 'POST 1.1', 'POST 1.1'], 3]);
    }
  });

  test('origins with one certificate and one address do not share a connection', async () => {
    const upstream = await startHttp2((stream) => answer(stream));
    const other = await startHttp2((stream) => answer(stream));
    const outbound = client();
    for (const { port } of [upstream, other, upstream]) expect(await send(outbound, { url: at(port) }).done).toBe('end');
    expect([upstream.sessions, other.sessions]).toEqual([1, 1]);
  });

  test('addresses are checked and TLS is verified as over HTTP/1.1', async () => {
    const upstream = await startHttp2((stream) => answer(stream));
    expect(await send(client({ allowPrivate: false }), { url: at(upstream.port) }).done).toMatchObject({ class: 'refused-address' });
    const metadata: typeof resolve = (_name, _options, done) => done(null, [{ address: '169.254.169.254', family: 4 }]);
    expect(await send(client({ resolve: metadata }), { url: at(upstream.port) }).done).toMatchObject({ class: 'refused-address' });
    expect(await send(client(), { url: `https://wrong.test:${upstream.port}/` }).done).toMatchObject({
      class: 'connect',
      phase: 'tls',
      detail: expect.stringMatching(/^connection failed: ERR_TLS_CERT_ALTNAME_INVALID, /),
    });
    expect(upstream.heads).toEqual([]);
  });

  test('through a proxy', async () => {
    const upstream = await startHttp2((stream) => answer(stream));
    const proxy = await startConnectProxy();
    const outbound = client();
    const call = send(outbound, {
      url: `https://127.0.0.1:${upstream.port}/`,
      egress: egress({ proxy: `http://127.0.0.1:${proxy.port}`, tls: { server_name: 'upstream.test' } }),
    });
    expect([await call.done, call.text(), upstream.sessions]).toEqual(['end', 'hello', 1]);
  });
});

describe('how a stream ends', () => {
  test('a reply without a body, and one that comes before the request was read', async () => {
    const upstream = await startHttp2((stream, path) => {
      stream.pause();
      stream.respond({ ':status': path === '/none' ? 204 : 413 }, { endStream: path === '/none' });
      if (path !== '/none') stream.end('too large');
    });
    const outbound = client();
    const none = send(outbound, { url: at(upstream.port, '/none') });
    expect([await none.done, none.status, none.text()]).toEqual(['end', 204, '']);
    const early = send(outbound, { url: at(upstream.port, '/early'), body: Buffer.alloc(8 * 1024 * 1024) });
    expect([await early.done, early.status, early.text()]).toEqual(['end', 413, 'too large']);
    expect([await send(outbound, { url: at(upstream.port, '/none') }).done, upstream.sessions]).toEqual(['end', 1]);
  });

  const part = (then: (stream: FrameStream) => void) => (stream: FrameStream) => {
    stream.head();
    stream.data('part');
    setImmediate(() => then(stream));
  };

  test.each(Object.entries(errorCodes))('a reset within the reply (%s) is a broken reply, never a whole one', async (_, code) => {
    const upstream = await startFrameServer(part((stream) => stream.reset(code)));
    const call = send(client(), { url: at(upstream.port) });
    expect(await call.done).toMatchObject({ class: 'reset', phase: 'body' });
    expect([call.text(), call.endings]).toEqual(['part', 1]);
  });

  test('a reset after the whole reply changes nothing, and other calls go on', async () => {
    const waiting: FrameStream[] = [];
    const upstream = await startFrameServer((stream) => {
      if (stream.id === 1) return void waiting.push(stream);
      stream.head();
      stream.data('whole', true);
      stream.reset(errorCodes.none);
    });
    const outbound = client();
    const first = send(outbound, { url: at(upstream.port) });
    await until(() => waiting.length === 1, 'the first call is there');
    const second = send(outbound, { url: at(upstream.port) });
    expect([await second.done, second.text()]).toEqual(['end', 'whole']);
    waiting[0]?.head();
    waiting[0]?.data('late', true);
    expect([await first.done, first.text(), upstream.connections]).toEqual(['end', 'late', 1]);
  });

  test('a head of many lines, in several frames, and empty pieces by the thousand, as servers send them that flush', async () => {
    const upstream = await startFrameServer((stream) => {
      stream.longHead(300);
      for (let i = 0; i < 3000; i++) stream.data('');
      stream.data('whole', true);
    });
    const call = send(client(), { url: at(upstream.port) });
    expect([await call.done, call.text(), Object.keys(call.headers).length]).toEqual(['end', 'whole', 300]);
  });

  test('a caller that leaves cancels its stream alone', async () => {
    const upstream = await startFrameServer((stream) => {
      stream.head();
      stream.data('part');
    });
    const outbound = client();
    const leaver = send(outbound, { url: at(upstream.port) });
    await until(() => leaver.chunks.length > 0, 'the first part');
    const other = send(outbound, { url: at(upstream.port) });
    await until(() => other.chunks.length > 0, 'the other part');
    leaver.call.abort(new Error('left'));
    expect(await leaver.done).toMatchObject({ class: 'aborted' });
    await until(() => upstream.resets.length > 0, 'the reset');
    expect(upstream.resets).toEqual([errorCodes.cancel]);
    upstream.streams[1]?.data(' and rest', true);
    expect([await other.done, other.text(), upstream.connections]).toEqual(['end', 'part and rest', 1]);
  });

  test('a limit of ours cancels its stream alone', async () => {
    const upstream = await startFrameServer((stream) => {
      if (stream.id > 1) return;
      stream.head();
      stream.data('part');
    });
    const outbound = client();
    const patient = send(outbound, { url: at(upstream.port) });
    await until(() => patient.chunks.length > 0, 'the first part');
    expect(await send(outbound, { url: at(upstream.port), timeouts: { first_byte_ms: 50 } }).done).toMatchObject({ class: 'timeout', phase: 'first-byte' });
    upstream.streams[0]?.data('!', true);
    expect([await patient.done, patient.text(), upstream.connections]).toEqual(['end', 'part!', 1]);
  });

  test('a request that the server refused unread is sent again, once', async () => {
    const upstream = await startFrameServer((stream) => {
      if (upstream.streams.length === 1) return stream.reset(errorCodes.refused);
      stream.head();
      stream.data('second', true);
    });
    const call = send(client(), { url: at(upstream.port) });
    expect([await call.done, call.text(), upstream.streams.length]).toEqual(['end', 'second', 2]);

    const stubborn = await startFrameServer((stream) => stream.reset(errorCodes.refused));
    expect(await send(client(), { url: at(stubborn.port) }).done).toMatchObject({ class: 'reset', phase: 'first-byte' });
    expect(stubborn.streams.length).toBe(2);
  });

  test('any other reset before the reply is not tried again', async () => {
    const upstream = await startFrameServer((stream) => stream.reset(errorCodes.internal));
    expect(await send(client(), { url: at(upstream.port) }).done).toMatchObject({ class: 'reset', phase: 'first-byte' });
    expect(upstream.streams.length).toBe(1);
  });
});

describe('how a connection ends', () => {
  test('GOAWAY: replies under way are finished, new calls get a new connection', async () => {
    const upstream = await startFrameServer((stream) => {
      stream.head();
      stream.data('part', stream.connection > 0);
    });
    const outbound = client();
    const under = send(outbound, { url: at(upstream.port) });
    await until(() => under.chunks.length > 0, 'the first part');
    upstream.streams[0]?.goaway(errorCodes.none, 1);
    await nothingFor(50);
    const next = send(outbound, { url: at(upstream.port) });
    expect([await next.done, next.text(), upstream.connections]).toEqual(['end', 'part', 2]);
    upstream.streams[0]?.data(' and rest', true);
    expect([await under.done, under.text()]).toEqual(['end', 'part and rest']);
  });

  test.each(['none', 'internal', 'calm'] as const)('GOAWAY (%s) that leaves a request out: it is sent again, since nobody read it', async (code) => {
    const upstream = await startFrameServer((stream) => {
      if (stream.connection === 0) return stream.goaway(errorCodes[code], 0);
      stream.head();
      stream.data('again', true);
    });
    const call = send(client(), { url: at(upstream.port) });
    expect([await call.done, call.text(), upstream.connections]).toEqual(['end', 'again', 2]);
  });

  test.each(['lost', 'given up by GOAWAY'])('a reply that has come whole is whole, though its connection is %s before a slow reader has it', async (how) => {
    const text = 'x'.repeat(16_000);
    const upstream = await startFrameServer((stream) => {
      if (stream.id === 1) stream.head();
      if (stream.id === 1) for (let i = 0; i < 10; i++) stream.data(text, i === 9);
      else if (how === 'lost') stream.destroy();
      else stream.goaway(errorCodes.internal, 1);
    });
    const outbound = client();
    const slow = send(outbound, { url: at(upstream.port) }, { head: ({ call }) => call.pause() });
    await until(() => slow.status === 200, 'the reply begins');
    await send(outbound, { url: at(upstream.port) }).done;
    slow.call.resume();
    expect([await slow.done, slow.text().length]).toEqual(['end', 10 * text.length]);
  });

  test('a connection that is lost breaks all its replies, and counts once', async () => {
    const upstream = await startFrameServer((stream) => {
      stream.head();
      stream.data('part', stream.connection > 0);
    });
    const outbound = client();
    const calls: Seen[] = [];
    for (let i = 0; i < 8; i++) {
      calls.push(send(outbound, { url: at(upstream.port) }));
      await until(() => (calls[i]?.chunks.length ?? 0) > 0, 'its first part');
    }
    expect(upstream.connections).toBe(1);
    upstream.streams[0]?.destroy();
    const faults = await Promise.all(calls.map(({ done }) => done));
    expect(faults.every((fault) => fault !== 'end' && fault.class === 'reset' && fault.phase === 'body')).toBe(true);
    expect(faults.filter((fault) => fault !== 'end' && !fault.shared)).toHaveLength(1);
    expect(await send(outbound, { url: at(upstream.port) }).done).toBe('end');
  });

  test('bytes that are no frames break the reply; the next call gets a connection of its own', async () => {
    const upstream = await startFrameServer((stream) => {
      if (stream.connection === 0) return stream.raw(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
      stream.head();
      stream.data('fine', true);
    });
    const outbound = client();
    expect(await send(outbound, { url: at(upstream.port) }).done).toMatchObject({ phase: 'first-byte' });
    expect(await send(outbound, { url: at(upstream.port) }).done).toBe('end');
  });

  test("beyond the server's limit of streams a call gets another connection", async () => {
    const upstream = await startFrameServer((stream) => stream.head(), { maxStreams: 2 });
    const outbound = client();
    const calls = [send(outbound, { url: at(upstream.port) })];
    await until(() => calls[0]?.status === 200, 'the first is answered');
    for (let i = 0; i < 4; i++) calls.push(send(outbound, { url: at(upstream.port) }));
    await until(() => upstream.streams.length === 5, 'all are there');
    expect(upstream.connections).toBe(3);
    for (const stream of upstream.streams) stream.data('x', true);
    expect(await Promise.all(calls.map(({ done }) => done))).toEqual(calls.map(() => 'end'));
  });

  test('to a server that takes few streams at once, as many connections as are needed are dialled at the same time', async () => {
    const upstream = await startFrameServer((stream) => stream.head(), { maxStreams: 1 });
    // What stands before it accepts further connections only four at a time.
    let [atOnce, held] = [1, [] as Socket[]];
    const front = createTcpServer((socket) => {
      held.push(socket.on('error', () => {}));
      if (held.length < atOnce) return;
      for (const one of held.splice(0)) one.pipe(connectTcp(upstream.port, '127.0.0.1').on('error', () => one.destroy())).pipe(one);
    });
    const { port } = await listen(front);
    const outbound = client();
    const first = send(outbound, { url: at(port) });
    await until(() => first.status === 200, 'the first is answered');
    [atOnce, held] = [4, []];
    const calls = Array.from({ length: 8 }, () => send(outbound, { url: at(port) }));
    await until(() => upstream.streams.length === 9, 'all are there');
    for (const stream of upstream.streams) stream.data('x', true);
    expect(await Promise.all([first, ...calls].map(({ done }) => done))).toEqual(Array.from({ length: 9 }, () => 'end'));
  });

  test('a server that allows no stream: a call ends at its limit', async () => {
    const upstream = await startFrameServer(() => {}, { maxStreams: 0 });
    const outbound = client();
    const calls = [0, 1].map(() => send(outbound, { url: at(upstream.port), timeouts: { connect_ms: 200, first_byte_ms: 200 } }));
    for (const { done } of calls) expect(await done).toMatchObject({ class: 'timeout' });
  });

  test('a server that never closes its half holds no connection, and no end of this process', async () => {
    const upstream = await startFrameServer(
      (stream) => {
        stream.head();
        stream.data('x', true);
        if (stream.connection === 0) stream.goaway(errorCodes.none, stream.id);
      },
      { staysOpen: true },
    );
    const outbound = client();
    for (let i = 0; i < 2; i++) expect(await send(outbound, { url: at(upstream.port) }).done).toBe('end');
    await until(() => upstream.streams[0]!.isGone(), 'the connection that was given up');
    await outbound.close(0);
    await until(() => upstream.streams[1]!.isGone(), 'the other connection');
  });

  test('a connection on which not even pings are acknowledged is given up', async () => {
    const upstream = await startFrameServer(() => {});
    const upstreamOf = (awake: boolean) => {
      upstream.awake = awake;
      const socket = connect({ host: '127.0.0.1', port: upstream.port, ca: cert, servername: 'upstream.test', ALPNProtocols: ['h2'] });
      const session = connectHttp2('https://upstream.test', { createConnection: () => socket });
      session.on('error', () => {});
      watchSilence(session, socket, 30);
      return session;
    };
    const alive = upstreamOf(true);
    await once(alive, 'remoteSettings');
    await nothingFor(400);
    expect(alive.destroyed).toBe(false);
    upstream.awake = false;
    await until(() => alive.destroyed, 'the silent connection is closed');
  });
});

describe('back-pressure', () => {
  test('a paused call does not stop the others, and no more of it is sent than its window holds', async () => {
    let written = 0;
    const upstream = await startHttp2((stream, path) => {
      stream.resume().respond({ ':status': 200 });
      if (path === '/small') return void stream.end('small');
      const block = Buffer.alloc(64 * 1024, 1);
      const more = (): void => {
        while (written < 64 * 1024 * 1024) {
          written += block.length;
          if (!stream.write(block)) return void stream.once('drain', more);
        }
        stream.end();
      };
      more();
    });
    const outbound = client();
    const big = send(outbound, { url: at(upstream.port, '/big') }, { head: ({ call }) => call.pause() });
    await until(() => big.status === 200, 'the big reply begins');
    const small = send(outbound, { url: at(upstream.port, '/small') });
    expect([await small.done, small.text()]).toEqual(['end', 'small']);
    await nothingFor(100);
    expect(written).toBeLessThan(2 * 1024 * 1024);
    big.call.resume();
    expect(await big.done).toBe('end');
    expect(big.chunks.reduce((sum, { length }) => sum + length, 0)).toBe(64 * 1024 * 1024);
    expect(upstream.sessions).toBe(1);
  });
});

/** Answers over either version with the one that was spoken. */
async function startBoth() {
  const versions: string[] = [];
  const server = createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
    versions.push(request.httpVersion);
    response.end();
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => void sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onCleanUp(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((closed) => server.close(() => closed()));
  });
  return { port: (server.address() as AddressInfo).port, versions };
}
