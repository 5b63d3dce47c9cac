import type { ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Outbound } from '../src/outbound.ts';
import { type Listening, listenHttp, listenRaw, nothingFor, open, send, until } from './calls.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
const use = (outbound: Outbound): Outbound => {
  cleanups.push(() => outbound.close(0));
  return outbound;
};
const serve = async (server: Promise<Listening>): Promise<Listening> => {
  const one = await server;
  cleanups.push(one.close);
  return one;
};
const chunked = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n';

describe('a call', () => {
  test('carries method, path, headers and body, and gives head, bytes, end', async () => {
    let received: unknown;
    const server = await serve(
      listenHttp((request, response) => {
        const parts: Buffer[] = [];
        request.on('data', (part) => parts.push(part));
        request.on('end', () => {
          received = { method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(parts).toString() };
          response.writeHead(201, { 'X-Thing': 'a', 'set-cookie': ['a=1', 'b=2'] });
          response.end('hello');
        });
      }),
    );
    const seen = send(use(open()), {
      url: `${server.url}/v1/x?y=1`,
      headers: { 'x-api-key': 'k', 'Content-Type': 'application/json' },
      body: Buffer.from('{"a":1}'),
    });
    expect(await seen.done).toBe('end');
    expect([seen.status, seen.text(), seen.headers['x-thing'], seen.headers['set-cookie']]).toEqual([201, 'hello', 'a', 'a=1, b=2']);
    expect(received).toMatchObject({
      method: 'POST',
      url: '/v1/x?y=1',
      body: '{"a":1}',
      headers: { 'x-api-key': 'k', 'content-type': 'application/json', 'content-length': '7', 'user-agent': 'tests', 'accept-encoding': 'identity' },
    });
  });

  test('connections are reused', async () => {
    const server = await serve(listenHttp((request, response) => request.resume().on('end', () => response.end('x'))));
    const outbound = use(open());
    for (let i = 0; i < 5; i++) expect(await send(outbound, { url: server.url }).done).toBe('end');
    // A call sent from inside the end of another finds that connection not yet free.
    expect(server.sockets.length).toBeLessThanOrEqual(2);
    expect(outbound.stats()).toEqual({ pools: 1, active: 0 });
  });

  test('beyond the limit of connections a call waits, then says that none was free; one access key holds a share of them', async () => {
    const held: ServerResponse[] = [];
    const server = await serve(
      listenHttp((_request, response) => {
        held.push(response);
        response.flushHeaders();
      }),
    );
    const warnings: string[] = [];
    const logger = { warn: (_fields: object, message: string) => void warnings.push(message), error() {} };
    const outbound = use(open({ maxConnections: 5, logger }));
    const from = (accessKey: string, connect_ms = 30_000) => send(outbound, { url: server.url, accessKey, timeouts: { connect_ms } });
    const calls = Array.from({ length: 4 }, () => from('a'));
    expect(await from('a').done).toMatchObject({ class: 'busy', message: 'All connections to the upstream are in use.' });
    const other = from('b');
    await until(() => held.length === 5, 'five calls to arrive');
    expect(await from('c', 50).done).toMatchObject({ class: 'busy' });
    expect(held).toHaveLength(5);
    expect(warnings).toEqual(['an access key holds its whole share of the connections to an upstream', 'all connections to an upstream are in use']);
    const waiting = from('c');
    held[0]!.end();
    expect(await calls[0]!.done).toBe('end');
    await until(() => held.length === 6, 'the waiting call to arrive');
    const again = from('a');
    held[1]!.end();
    await until(() => held.length === 7, 'the freed place to be taken');
    for (const response of held) response.end();
    expect(await Promise.all([waiting.done, other.done, again.done, ...calls.map(({ done }) => done)])).toEqual(Array(7).fill('end'));
    // What was held is given back.
    const last = Array.from({ length: 4 }, () => from('a'));
    await until(() => held.length === 11, 'four more calls of one key');
    for (const response of held) response.end();
    await Promise.all(last.map(({ done }) => done));
  });

  test('redirects are handed on, not followed', async () => {
    let requests = 0;
    const server = await serve(
      listenHttp((_request, response) => {
        requests++;
        response.writeHead(302, { location: '/elsewhere' }).end();
      }),
    );
    const seen = send(use(open()), { url: server.url });
    expect(await seen.done).toBe('end');
    expect([seen.status, seen.headers['location'], requests]).toEqual([302, '/elsewhere', 1]);
  });

  test.each([
    ['reads on', (socket: Socket) => void socket.resume()],
    ['reads no more', (socket: Socket) => void socket.pause()],
    ['closes', (socket: Socket) => void socket.destroySoon()],
    ['goes', (socket: Socket) => void setTimeout(() => socket.destroy(), 5)],
  ])('an answer to a body that is still on its way is heard in full when the upstream then %s', async (_name, then) => {
    const refusal = '{"error":{"message":"too large"}}';
    const server = await serve(
      listenRaw((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          socket.write(`HTTP/1.1 413 Payload Too Large\r\nconnection: close\r\ncontent-length: ${refusal.length}\r\n\r\n${refusal}`);
          then(socket);
        });
      }),
    );
    for (const size of [200_000, 20_000_000]) {
      const seen = send(use(open()), { method: 'POST', url: server.url, body: Buffer.alloc(size, 'x') });
      expect(await seen.done).toBe('end');
      expect([seen.status, seen.text()]).toEqual([413, refusal]);
    }
  });

  test('headers that cannot be sent are left out and named, never their value', async () => {
    const server = await serve(listenHttp((request, response) => response.end(JSON.stringify(request.headers))));
    const warned: unknown[] = [];
    const outbound = use(open({ logger: { warn: (fields) => void warned.push(fields['header']), error() {} } }));
    const seen = send(outbound, {
      url: server.url,
      headers: { 'x-a': 'a\r\nx-evil: 1', 'x-b': 'clé', 'x-c': '名', 'x-d': 'a\u0000b', Host: 'evil', connection: 'close', 'x e': '1' },
    });
    expect(await seen.done).toBe('end');
    const got = JSON.parse(seen.text());
    expect(got).not.toHaveProperty('x-a');
    expect(got).not.toHaveProperty('x-evil');
    expect(got).not.toHaveProperty('x-c');
    expect(Buffer.from(got['x-b'], 'latin1').toString('latin1')).toBe('clé');
    expect(got.host).toBe(new URL(server.url).host);
    expect(warned.sort()).toEqual(['connection', 'host', 'x e', 'x-a', 'x-c', 'x-d']);
  });

  test('a handler that throws ends the call, and nothing else', async () => {
    const server = await serve(listenHttp((_request, response) => response.end('x')));
    const errors: unknown[] = [];
    const outbound = use(open({ logger: { warn() {}, error: (fields) => void errors.push(fields['error']) } }));
    const bad = send(
      outbound,
      { url: server.url },
      {
        head: () => {
          throw new Error('defect');
        },
      },
    );
    expect(await bad.done).toMatchObject({ class: 'aborted' });
    expect(errors).toHaveLength(1);
    expect(await send(outbound, { url: server.url }).done).toBe('end');
  });
});

describe('a call that cannot connect', () => {
  test('refused port', async () => {
    expect(await send(use(open()), { url: 'http://127.0.0.1:1/' }).done).toMatchObject({
      class: 'connect',
      phase: 'connect',
      message: 'The upstream could not be reached.',
    });
  });

  test('unknown name', async () => {
    const fault = await send(use(open()), { url: 'http://no-such-host.invalid/' }).done;
    expect(fault).toMatchObject({ class: 'connect', phase: 'dns' });
    expect((fault as { message: string }).message).not.toContain('invalid/');
  });

  test.each(['http://169.254.169.254/latest/meta-data', 'http://[::ffff:169.254.169.254]/', 'http://0.0.0.0/', 'http://0xa9fea9fe/'])(
    '%s is never reached',
    async (url) => {
      expect(await send(use(open()), { url }).done).toMatchObject({ class: 'refused-address' });
    },
  );

  test('private addresses by policy, also behind a name', async () => {
    const server = await serve(listenHttp((_request, response) => response.end('x')));
    const outbound = use(open({ allowPrivate: false }));
    expect(await send(outbound, { url: server.url }).done).toMatchObject({ class: 'refused-address', phase: 'connect' });
    expect(await send(outbound, { url: server.url.replace('127.0.0.1', 'localhost') }).done).toMatchObject({ class: 'refused-address', phase: 'connect' });
    const named = use(open({ allowPrivate: false, resolve: (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]) }));
    expect(await send(named, { url: server.url.replace('127.0.0.1', 'inside.test') }).done).toMatchObject({ class: 'refused-address', phase: 'dns' });
    expect(server.sockets).toHaveLength(0);
  });

  test('the checked address is the one dialled', async () => {
    const server = await serve(listenHttp((_request, response) => response.end('x')));
    let lookups = 0;
    const outbound = use(
      open({
        resolve: (_host, _options, callback) => {
          lookups++;
          callback(null, [
            { address: '169.254.169.254', family: 4 },
            { address: '127.0.0.1', family: 4 },
          ]);
        },
      }),
    );
    expect(await send(outbound, { url: server.url.replace('127.0.0.1', 'rebind.test') }).done).toBe('end');
    expect(lookups).toBe(1);
  });

  test('no secure connection', async () => {
    const plain = await serve(listenRaw((socket) => socket.on('data', () => socket.end('HTTP/1.1 400 no\r\n\r\n'))));
    expect(await send(use(open()), { url: plain.url.replace('http:', 'https:') }).done).toMatchObject({ class: 'connect', phase: 'tls' });
    const hanging = await serve(listenRaw((socket) => socket.resume()));
    expect(await send(use(open()), { url: hanging.url.replace('http:', 'https:'), timeouts: { connect_ms: 150 } }).done).toMatchObject({
      class: 'timeout',
      phase: 'connect',
    });
    await until(() => hanging.sockets.every((socket) => socket.destroyed || socket.readableEnded), 'the connection to be closed');
  });

  test('an address that is none', async () => {
    for (const url of ['ftp://h/', 'nonsense', 'http://u:p@127.0.0.1/'])
      expect(await send(use(open()), { url }).done).toMatchObject({ class: 'protocol', phase: 'connect' });
  });
});

describe('limits', () => {
  async function ends(answer: (socket: import('node:net').Socket) => void, limits: Record<string, number>) {
    const server = await serve(listenRaw((socket) => socket.once('data', () => answer(socket))));
    const started = performance.now();
    const seen = send(use(open()), { url: server.url, timeouts: limits });
    const end = await seen.done;
    return { end, ms: performance.now() - started, seen, server };
  }

  test('no head', async () => {
    const { end, ms, server } = await ends(() => {}, { first_byte_ms: 200 });
    expect(end).toMatchObject({ class: 'timeout', phase: 'first-byte' });
    expect(ms).toBeGreaterThan(190);
    // The next limit would be met after 30 s.
    expect(ms).toBeLessThan(10_000);
    await until(() => server.sockets.length > 0 && server.sockets.every((socket) => socket.destroyed || socket.readableEnded), 'the connection to be closed');
  });

  test('silence inside the reply', async () => {
    const { end, seen } = await ends((socket) => socket.write(`${chunked}5\r\nhello\r\n`), { idle_ms: 200 });
    expect(end).toMatchObject({ class: 'timeout', phase: 'idle' });
    expect(seen.text()).toBe('hello');
  });

  test('total, though bytes keep coming', async () => {
    let timer: NodeJS.Timeout | undefined;
    const { end } = await ends(
      (socket) => {
        socket.write(chunked);
        timer = setInterval(() => socket.write('1\r\nx\r\n'), 20);
      },
      { total_ms: 1500, idle_ms: 1000 },
    );
    clearInterval(timer);
    expect(end).toMatchObject({ class: 'timeout', phase: 'total' });
  });

  test('idle rests while we hold the call back', async () => {
    const server = await serve(listenRaw((socket) => socket.once('data', () => socket.write(`${chunked}5\r\nhello\r\n`))));
    const seen = send(use(open()), { url: server.url, timeouts: { idle_ms: 150 } }, { data: (one) => one.call.pause() });
    await nothingFor(500);
    expect(seen.endings).toBe(0);
    seen.call.resume();
    expect(await seen.done).toMatchObject({ class: 'timeout', phase: 'idle' });
  });
});

describe('replies that break', () => {
  const answers = async (bytes: string | Buffer, how: 'end' | 'reset' | 'keep' = 'end') => {
    const server = await serve(
      listenRaw((socket) =>
        socket.once('data', () => {
          socket.write(bytes, () => {
            if (how === 'end') socket.end();
            else if (how === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
          });
        }),
      ),
    );
    const seen = send(use(open()), { url: server.url });
    return { seen, end: await seen.done };
  };
  const length = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n';

  test.each([
    ['closed before the head', '', 'end', 'reset', 'first-byte'],
    ['reset before the head', 'HTTP/1.1 20', 'reset', 'reset', 'first-byte'],
    ['reset inside a chunked body', `${chunked}5\r\nhello\r\n`, 'reset', 'reset', 'body'],
    ['closed inside a chunked body', `${chunked}5\r\nhello\r\n`, 'end', 'reset', 'body'],
    ['closed before the content-length', `${length}hello`, 'end', 'reset', 'body'],
    ['not HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', 'keep', 'protocol', 'first-byte'],
    ['a broken chunk', `${chunked}zz\r\nhello\r\n`, 'keep', 'protocol', 'body'],
    ['a head without end', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}`, 'keep', 'protocol', 'first-byte'],
  ] as const)('%s', async (_name, bytes, how, kind, phase) => {
    const { end, seen } = await answers(bytes, how);
    expect(end).toMatchObject({ class: kind, phase });
    expect(seen.endings).toBe(1);
  });

  test('a body that ends with the connection is whole', async () => {
    const { end, seen } = await answers('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello');
    expect([end, seen.text()]).toEqual(['end', 'hello']);
  });

  test("a head above the call's own limit", async () => {
    const server = await serve(listenHttp((_request, response) => response.writeHead(200, { x: 'a'.repeat(5000) }).end('x')));
    expect(await send(use(open()), { url: server.url, maxHeaderBytes: 1000 }).done).toMatchObject({ class: 'protocol', phase: 'first-byte' });
  });
});

describe('back-pressure and abort', () => {
  test("a paused call stops the upstream's writes, a resumed one gets every byte", async () => {
    const total = 32 * 1024 * 1024;
    let written = 0;
    const server = await serve(
      listenHttp((_request, response) => {
        const chunk = Buffer.alloc(64 * 1024, 'x');
        const more = (): void => {
          while (written < total) {
            written += chunk.length;
            if (!response.write(chunk)) return void response.once('drain', more);
          }
          response.end();
        };
        more();
      }),
    );
    const seen = send(
      use(open()),
      { url: server.url },
      {
        data: (one) => {
          if (one.chunks.length === 1) one.call.pause();
        },
      },
    );
    let stopped = -1;
    // The buffers on the way are filled first.
    while (written === 0 || written !== stopped) {
      stopped = written;
      await nothingFor(300);
    }
    expect(stopped).toBeLessThan(total);
    seen.call.resume();
    expect(await seen.done).toBe('end');
    expect(seen.chunks.reduce((sum, chunk) => sum + chunk.length, 0)).toBe(total);
  });

  test('abort closes the connection at once and is the only ending', async () => {
    let closedAt = 0;
    const server = await serve(
      listenHttp((_request, response) => {
        response.write('x');
        response.on('close', () => {
          closedAt = performance.now();
        });
      }),
    );
    const seen = send(use(open()), { url: server.url }, { data: (one) => one.call.abort('left') });
    expect(await seen.done).toMatchObject({ class: 'aborted', phase: 'body', cause: 'left' });
    const abortedAt = performance.now();
    seen.call.abort('again');
    seen.call.pause();
    seen.call.resume();
    await until(() => closedAt > 0, 'the connection to be closed');
    expect(closedAt - abortedAt).toBeLessThan(2000);
    expect(seen.endings).toBe(1);
  });

  test('abort before the connection exists', async () => {
    const server = await serve(listenRaw(() => {}));
    const outbound = use(open());
    const seen = send(outbound, { url: server.url });
    expect(seen.endings).toBe(0);
    seen.call.abort('left');
    expect(seen.endings).toBe(1);
    expect(await seen.done).toMatchObject({ class: 'aborted', phase: 'connect' });
    expect(outbound.stats().active).toBe(0);
  });

  test('close lets calls end, then aborts them, and refuses new ones', async () => {
    const responses: ServerResponse[] = [];
    const server = await serve(listenHttp((_request, response) => void responses.push(response)));
    const outbound = open();
    const slow = send(outbound, { url: `${server.url}/slow` });
    const endless = send(outbound, { url: `${server.url}/endless` });
    await until(() => responses.length === 2, 'both calls');
    const closed = outbound.close(2000);
    for (const response of responses) response.write('x');
    responses.find(({ req }) => req.url === '/slow')?.end();
    await closed;
    expect(await slow.done).toBe('end');
    expect(await endless.done).toMatchObject({ class: 'aborted' });
    expect(await send(outbound, { url: server.url }).done).toMatchObject({ class: 'aborted' });
  });
});

describe('TLS', () => {
  test('the certificate is checked against the host name, whatever the address', async () => {
    const { key, cert } = await import('./fixed-certificate.ts');
    const server = createHttpsServer({ key, cert }, (_request, response) => response.end('secure'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(
      () =>
        new Promise((resolve) => {
          server.close(resolve);
          server.closeAllConnections();
        }),
    );
    const { port } = server.address() as AddressInfo;
    const resolve = (_host: string, _options: unknown, callback: (error: null, all: { address: string; family: number }[]) => void) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    const trusting = use(open({ resolve, ca: cert }));
    const seen = send(trusting, { url: `https://upstream.test:${port}/` });
    expect(await seen.done).toBe('end');
    expect(seen.text()).toBe('secure');
    expect(await send(trusting, { url: `https://other.test:${port}/` }).done).toMatchObject({ class: 'connect', phase: 'tls' });
    expect(await send(use(open({ resolve })), { url: `https://upstream.test:${port}/` }).done).toMatchObject({ class: 'connect', phase: 'tls' });
  });
});
