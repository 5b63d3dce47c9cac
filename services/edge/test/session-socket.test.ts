/** How long a realtime session's sides may take to read what was sent before a close, and how a caller that is gone without a word is noticed. */
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { DenseSet } from '@model-gateway/collections';
import { BodyBudget } from '../src/http/read-body.ts';
import { SessionSocket } from '../src/realtime/session-socket.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A caller's WebSocket that never answers a close, with what became of it. */
class SilentSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  isPaused = false;
  readonly calls: string[] = [];
  close(code: number): void {
    this.readyState = 2;
    this.calls.push(`close ${code}`);
  }
  terminate(): void {
    this.calls.push('terminate');
  }
  resume(): void {}
  ping(): void {
    this.calls.push('ping');
  }
  send(): void {}
}

function start() {
  const socket = new SilentSocket();
  const sent: unknown[] = [];
  const context = {
    config: { realtimeIdleMs: 900_000, realtimeLifetimeMs: 7_200_000, drainMs: 10_000 },
    connections: { sockets: new DenseSet(), draining: false },
    admission: { bodyBudget: new BodyBudget(1_000_000) },
  };
  const hold = { entry: { request: { socket: new EventEmitter() } }, presentCaller: () => ({ key: {}, group: {} }), released: () => undefined };
  const session = new SessionSocket(hold as never, context as never);
  const call = {
    send: (bytes: Uint8Array) => sent.push(JSON.parse(Buffer.from(bytes).toString())) > 0,
    onSendable: () => undefined,
    endSend: () => sent.push('end'),
    cancel: (reason: string) => sent.push(reason),
    consumed: () => undefined,
  };
  session.use(call as never);
  session.attach(socket as never);
  return { session, socket, sent };
}

test("after the upstream's own close a slow caller may read on what was sent before", () => {
  const { session, socket } = start();
  session.tail({ close: { code: 1000, reason: '' } });
  jest.advanceTimersByTime(10_000);
  // The library's own limit, of half a minute, is the one that holds.
  expect(socket.calls).toEqual(['close 1000']);
  // But not in a process that shuts down.
  session.drain();
  jest.advanceTimersByTime(1500);
  expect(socket.calls).toEqual(['close 1000', 'terminate']);
});

test('what the gateway closes by itself is cut off a second later', () => {
  const { session, socket, sent } = start();
  session.drain();
  expect(sent).toEqual([{ close: { code: 1001, reason: 'The gateway is shutting down.' }, withinMs: 4000 }]);
  session.tail({ close: { code: 1001, reason: 'The gateway is shutting down.' } });
  jest.advanceTimersByTime(1500);
  expect(socket.calls).toEqual(['close 1001', 'terminate']);
});

test("a caller's close waits for the upstream to read what came before it", () => {
  const { socket, sent } = start();
  socket.emit('close', 1000, Buffer.from('bye'));
  jest.advanceTimersByTime(10_000);
  expect(sent).toEqual([{ close: { code: 1000, reason: 'bye' } }, 'end']);
  jest.advanceTimersByTime(30_000);
  expect(sent.at(-1)).toBe('client gone');
});

test('a caller that answers neither of two pings is gone within 45 seconds, and so is its stream', () => {
  const { socket, sent } = start();
  jest.advanceTimersByTime(44_900);
  expect([socket.calls, sent]).toEqual([['ping', 'ping'], []]);
  jest.advanceTimersByTime(100);
  expect(socket.calls).toEqual(['ping', 'ping', 'terminate']);
  // What the library reports of a connection that was broken off.
  socket.emit('close', 1006, Buffer.alloc(0));
  expect(sent).toEqual(['client gone']);
  jest.advanceTimersByTime(60_000);
  expect(socket.calls).toHaveLength(3);
});

test.each(['a pong', 'a frame'])('%s says that the caller is there', (sign) => {
  const { socket } = start();
  for (let round = 0; round < 5; round++) {
    jest.advanceTimersByTime(30_000);
    if (sign === 'a pong') socket.emit('pong', Buffer.alloc(0));
    else socket.emit('message', Buffer.from('{}'), false);
  }
  expect(socket.calls).toEqual(Array(10).fill('ping'));
});

test('frames of the caller start no timers', () => {
  const { socket, sent } = start();
  const timers = jest.getTimerCount();
  const started = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(globalThis, 'setInterval'), jest.spyOn(globalThis, 'setImmediate')];
  for (let frame = 0; frame < 1000; frame++) socket.emit('message', Buffer.from('{}'), false);
  expect([sent.length, jest.getTimerCount(), ...started.map((one) => one.mock.calls.length)]).toEqual([1000, timers, 0, 0, 0]);
  for (const one of started) one.mockRestore();
});

test('a caller who is not read from is not taken for gone', () => {
  const { socket } = start();
  socket.isPaused = true;
  jest.advanceTimersByTime(120_000);
  expect(socket.calls).not.toContain('terminate');
  socket.isPaused = false;
  jest.advanceTimersByTime(45_000);
  expect(socket.calls.at(-1)).toBe('terminate');
});

test('an upstream that was lost is 1011 to the caller', () => {
  const { session, socket } = start();
  session.tail({ close: { code: 1006, reason: '' } });
  expect(socket.calls).toEqual(['close 1011']);
});
