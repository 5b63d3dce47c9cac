/** A WebSocket whose peer sends and does not read. */
import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { BodyBudget } from '../src/http/read-body.ts';
import { ArrivingBytes } from '../src/socket/arriving-bytes.ts';
import { TurnSocket } from '../src/socket/turn-socket.ts';

/** As much of a WebSocket as answers need; nobody reads what it sends until `read`. */
class UnreadSocket extends EventEmitter {
  readonly OPEN = 1;
  readonly readyState = 1;
  isPaused = false;
  bufferedAmount = 0;
  #flushed: (() => void)[] = [];
  send(frame: string): void {
    this.bufferedAmount += frame.length;
  }
  ping(_data: string, _mask: boolean, done: () => void): void {
    this.#flushed.push(done);
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  read(): void {
    this.bufferedAmount = 0;
    for (const done of this.#flushed.splice(0)) done();
  }
}

function open(): UnreadSocket {
  const socket = new UnreadSocket();
  const context = {
    config: { keepAliveMs: 3_600_000 },
    connections: { sockets: { add: () => undefined, remove: () => undefined }, draining: false },
    admission: { bodyBudget: new BodyBudget(1) },
  };
  const session = { read: () => ({ answer: ['no'.repeat(500)] }), close: () => undefined };
  const upgrade = { socket: new EventEmitter() };
  new TurnSocket(
    socket as never,
    { upgrade: upgrade as never, headers: {} as never, match: {} as never, presentCaller: () => ({ key: {}, group: {} }) as never },
    session as never,
    context as never,
  );
  return socket;
}

test.each(['message', 'ping'])('is not read from while more than a mebibyte of answers waits for it, and is again once it has read (%s)', (kind) => {
  const socket = open();
  const say = () => {
    socket.emit(kind, Buffer.from('x'), false);
    // The library's own answer.
    if (kind === 'ping') socket.bufferedAmount += 1000;
  };
  for (let said = 0; said < 100; said++) say();
  expect(socket.isPaused).toBe(false);
  for (let said = 0; said < 10_000 && !socket.isPaused; said++) say();
  expect(socket.isPaused).toBe(true);
  expect(socket.bufferedAmount).toBeLessThan(1024 * 1024 + 2000);
  socket.read();
  expect(socket.isPaused).toBe(false);
  say();
  expect(socket.isPaused).toBe(false);
  socket.emit('close');
});

test('bytes of a message count until it is complete, whatever pings come between; none stay counted', () => {
  const budget = new BodyBudget(1000);
  const arriving = new ArrivingBytes(budget);
  expect([arriving.take(600), arriving.take(10), arriving.take(500)]).toEqual([true, true, false]);
  arriving.releaseControl(4);
  expect(budget.held).toBe(600);
  arriving.release();
  arriving.releaseControl(4);
  expect(budget.held).toBe(0);
  expect(arriving.take(1000)).toBe(true);
  arriving.close();
  expect([arriving.take(5000), budget.held]).toEqual([true, 0]);
});
