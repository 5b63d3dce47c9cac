/** Connections that may hold anything of another exchange are closed, not used again: raw TCP servers that misbehave. */
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Seen, send, until } from './calls.ts';
import { cleanUp, listen } from './servers.ts';
import { use } from './support.ts';

afterEach(cleanUp);

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const smuggled = 'HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nSTOLEN!';

/** `first` answers the first request of the first connection; every later request gets `ok`. Gives the texts of two calls and the connections used. */
async function twoCalls(
  first: (socket: Socket, chunk: Buffer) => void,
  between: (seen: Seen, sockets: readonly Socket[]) => Promise<unknown> = (seen) => seen.done,
  body = Buffer.from('{}'),
) {
  let requests = 0;
  const { port, sockets } = await listen(
    createServer((socket) =>
      socket.on('data', (chunk) => {
        if (!chunk.includes('HTTP/1.1\r\n')) return;
        if (requests++ === 0) first(socket, chunk);
        else socket.write(ok);
      }),
    ),
  );
  const outbound = use();
  const one = send(outbound, { url: `http://127.0.0.1:${port}/`, body });
  await between(one, sockets);
  // undici offers a connection to the next call no earlier than a turn of the event loop after its reply.
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
  const two = send(outbound, { url: `http://127.0.0.1:${port}/` });
  const end = await two.done;
  return { one, two, end, connections: sockets.length };
}

describe('a connection is not used again', () => {
  test.each([
    ['extra bytes in the same packet', (socket: Socket) => socket.write(ok + smuggled)],
    [
      'a second reply that nobody asked for, later',
      (socket: Socket) => {
        socket.write(ok);
        setTimeout(() => socket.write(smuggled), 5);
      },
    ],
    ['half a second reply', (socket: Socket) => socket.write(`${ok}HTTP/1.1 200 OK\r\n`)],
    [
      'rubbish after a chunked reply',
      (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n'),
    ],
    ['connection: close', (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok')],
    ['an HTTP/1.0 reply', (socket: Socket) => socket.write('HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok')],
  ])('after %s', async (_what, first) => {
    // Closed before the next call, or what comes unasked could still be taken for its reply.
    const { one, two, end, connections } = await twoCalls(first, async (seen, sockets) => {
      await seen.done;
      await until(() => sockets.every((socket) => socket.destroyed || socket.readableEnded), 'the connection to be closed');
    });
    expect([one.text(), end, two.text(), connections]).toEqual(['ok', 'end', 'ok', 2]);
  });

  test.each([
    ['content-length and transfer-encoding', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'],
    ['transfer-encoding and content-length', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 40\r\n\r\n2\r\nok\r\n0\r\n\r\n'],
    ['two content-lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 9\r\n\r\nok'],
    ['a content-length list', 'HTTP/1.1 200 OK\r\ncontent-length: 2, 9\r\n\r\nok'],
    ['a negative content-length', 'HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nok'],
    ['a chunk that is longer than it says', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nok\r\n0\r\n\r\n'],
    ['a line that is folded', 'HTTP/1.1 200 OK\r\nx-a: b\r\n c\r\ncontent-length: 2\r\n\r\nok'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\ncontent-length : 2\r\n\r\nok'],
    ['an unasked upgrade', `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n${smuggled}`],
  ])('%s is a fault, and closes it', async (_what, reply) => {
    const { one, two, end, connections } = await twoCalls((socket) => socket.write(reply));
    expect(await one.done).not.toBe('end');
    expect([end, two.text(), connections]).toEqual(['end', 'ok', 2]);
  });

  test('after a call that was given up, whatever comes late', async () => {
    const { two, end, connections } = await twoCalls(
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal'),
      async (seen, sockets) => {
        await until(() => seen.chunks.length > 0, 'the begin of the reply');
        seen.call.abort('enough');
        await new Promise((resolve) => sockets[0]!.write(`f-done${smuggled}`, resolve));
      },
    );
    expect([end, two.text(), connections]).toEqual(['end', 'ok', 2]);
  });

  test('after a reply that began before the request was out', async () => {
    // Larger than all buffers on the way, and nobody reads it.
    const { one, two, end, connections } = await twoCalls(
      (socket) => {
        socket.pause();
        socket.write(ok);
      },
      undefined,
      Buffer.alloc(32 * 1024 * 1024, 'a'),
    );
    expect([one.text(), end, two.text(), connections]).toEqual(['ok', 'end', 'ok', 2]);
  });

  test('but after an ordinary reply it is', async () => {
    const body = Buffer.alloc(100_000, 'a');
    body.write('z', body.length - 1);
    const { two, end, connections } = await twoCalls(
      (socket, head) => {
        const answerAtEnd = (chunk: Buffer) => void (chunk.at(-1) === body.at(-1) && socket.write(ok));
        answerAtEnd(head);
        socket.on('data', answerAtEnd);
      },
      undefined,
      body,
    );
    expect([end, two.text(), connections]).toEqual(['end', 'ok', 1]);
  });
});

test('pools that nobody uses are closed by the sweep, busy ones stay', async () => {
  const { createPools } = await import('../src/pools.ts');
  const pools = createPools({ policy: { allowPrivate: true }, maxConnections: 10 });
  const way = {
    id: 'way',
    proxy: null,
    dns: { servers: [{ scheme: 'plain' as const, host: '127.0.0.1', port: 1, path: '' }], ttlSecs: 1 },
    tls: null,
    http2: null,
  };
  const [busy, idle, other] = [pools.get('http://a.test', undefined), pools.get('http://a.test', way), pools.get('http://b.test', way)];
  busy.active = 1;
  pools.sweep();
  expect(pools.size).toBe(3);
  pools.get('http://b.test', way);
  pools.sweep();
  expect([pools.size, busy.transport.closed, idle.transport.closed, other.transport.closed]).toEqual([2, false, true, false]);
  await pools.close();
});
