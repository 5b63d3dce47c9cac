/** Callers who were told the last and hold on to their connections: they may for a while, but a process that leaves does not wait for them. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { startInProcess, until } from '../support/in-process.ts';

/** Far beyond the patience of this suite: whoever waits for its end fails. */
const drainMs = 300_000;

/** A caller of the gateway, and what it has heard. `allowHalfOpen`: it never closes its half. */
function reach(url: string, allowHalfOpen = false): { text: string; socket: Socket; closed: Promise<unknown> } {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen });
  const received = { text: '', socket, closed: once(socket, 'close') };
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    received.text += chunk.toString('latin1');
  });
  return received;
}

test('a gateway that leaves closes the connections of refused callers who write on, and they have their answers', async () => {
  const gateway = await startInProcess({ upstreams: [], models: [], edge: { drainMs } });
  const talk = async (path: string, key: string, bytes: number) => {
    const received = reach(gateway.url);
    received.socket.write(
      `POST ${path} HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${bytes}\r\n\r\n{`,
    );
    await until(() => received.text.includes('\r\n\r\n'), 'the answer');
    return received;
  };
  const lingering = [
    await talk('/v1/messages', 'gk-wrong', 1_000_000),
    await talk('/v1/chat/completions', gateway.key, 10_000_000_000),
    await talk('/v1/nothing', gateway.key, 1_000_000),
  ];
  const writing = setInterval(() => {
    for (const { socket } of lingering) if (socket.writable) socket.write('x'.repeat(5000));
  }, 20);
  try {
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(lingering.map(({ socket }) => socket.destroyed)).toEqual([false, false, false]);
    await Promise.all([gateway.stop(), ...lingering.map(({ closed }) => closed)]);
  } finally {
    clearInterval(writing);
    for (const { socket } of lingering) socket.destroy();
  }
  expect(lingering.map(({ text }) => text.slice(9, 12))).toEqual(['401', '413', '404']);
  for (const { text } of lingering) expect(JSON.parse(text.split('\r\n\r\n')[1]!)).toHaveProperty('error');
});

const handshake = (key: string): string =>
  `GET /v1/responses HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

test.each([
  ['whose handshake was refused', 401, () => handshake('gk-wrong')],
  ['whose handshake is none', 400, (key: string) => handshake(key).replace('Version: 13', 'Version: 7')],
  ['with two hosts', 400, (key: string) => handshake(key).replace('Host: gateway', 'Host: gateway\r\nHost: other')],
  ['who speak no HTTP', 400, () => 'SSH-2.0-hello\r\n\r\n'],
])('callers %s and who never close their half are cut off', async (who, status, bytes) => {
  const gateway = await startInProcess({ upstreams: [], models: [], edge: { drainMs } });
  const received = reach(gateway.url, true);
  const { socket } = received;
  try {
    const ended = once(socket, 'end');
    socket.write(bytes(gateway.key));
    await ended;
    const [head = '', body = ''] = received.text.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} (?:Unauthorized|Bad Request)\r\n`));
    expect(head).toMatch(/^x-request-id: [0-9a-f-]{36}$/im);
    expect(/^sec-websocket-version: 13/im.test(head)).toBe(who === 'whose handshake is none');
    expect(JSON.parse(body)).toMatchObject({ error: { message: expect.any(String) } });
    await until(async () => /^gateway_connections\S* 0$/m.test(await gateway.metrics()), 'the connection to be gone');
    await gateway.stop();
  } finally {
    socket.destroy();
  }
});

test('a peer of a WebSocket who does not answer its close holds no drain', async () => {
  const gateway = await startInProcess({ upstreams: [], models: [], edge: { drainMs } });
  const received = reach(gateway.url, true);
  const { socket } = received;
  try {
    socket.write(handshake(gateway.key));
    await until(() => received.text.includes('\r\n\r\n'), 'the handshake');
    expect(received.text).toMatch(/^HTTP\/1\.1 101 /);
    await gateway.stop();
    // A close frame with code 1001.
    expect(received.text).toContain('\x88');
    expect(received.text).toContain('\x03\xe9The gateway is shutting down.');
  } finally {
    socket.destroy();
  }
});
