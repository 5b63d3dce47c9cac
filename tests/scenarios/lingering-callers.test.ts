/** Callers who were answered before they had sent all, and write on: they may, but a process that leaves does not wait for them. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { startInProcess, until } from '../support/in-process.ts';

/** Far beyond the patience of this suite: whoever waits for its end fails. */
const drainMs = 300_000;

test('a gateway that leaves closes the connections of refused callers who write on, and they have their answers', async () => {
  const gateway = await startInProcess({ upstreams: [], models: [], edge: { drainMs } });
  const talk = async (path: string, key: string, bytes: number) => {
    const socket: Socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1' });
    const heard = { text: '', socket, closed: once(socket, 'close') };
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard.text += chunk.toString('latin1');
    });
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${bytes}\r\n\r\n{`,
    );
    await until(() => heard.text.includes('\r\n\r\n'), 'the answer');
    return heard;
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
