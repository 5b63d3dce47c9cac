/** How the relay of a realtime session notices an upstream that is gone without a word, and what both sides are told. */
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Relay, type RelayEnd } from '../src/realtime/relay.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** An upstream's WebSocket that answers nothing, with what was done to it. */
class SilentSocket extends EventEmitter {
  isPaused = false;
  readonly calls: string[] = [];
  close(code: number, reason: string): void {
    this.calls.push(`close ${code} ${reason}`);
  }
  /** As the library does: its end is reported as a broken connection. */
  terminate(): void {
    this.calls.push('terminate');
    this.emit('close', 1006, Buffer.alloc(0));
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  ping(): void {
    this.calls.push('ping');
  }
}

function start({ responding = false } = {}) {
  const socket = new SilentSocket();
  const ends: RelayEnd[] = [];
  let writable = (): void => undefined;
  let hasCredit = true;
  const stream = {
    onWritable: (resumed: () => void) => {
      writable = resumed;
    },
    data: () => hasCredit,
    consumed: () => undefined,
  };
  const begun = { socket, takeOver: () => [], realtime: { readNotice: () => null } };
  const record = { downBytes: 0, responding };
  const relay = new Relay(begun as never, stream as never, { record: record as never, keepHandle: () => {} }, (end) => ends.push(end));
  relay.start([]);
  const giveCredit = (given: boolean): void => {
    hasCredit = given;
    if (given) writable();
  };
  return { relay, socket, ends, giveCredit };
}

test('an upstream that answers neither of two pings is gone within 45 seconds', () => {
  const { socket, ends } = start();
  jest.advanceTimersByTime(44_900);
  expect([socket.calls, ends]).toEqual([['ping', 'ping'], []]);
  jest.advanceTimersByTime(100);
  expect(socket.calls).toEqual(['ping', 'ping', 'terminate']);
  expect(ends).toEqual([{ close: { code: 1006, reason: '' }, errorCode: 'upstream_broken' }]);
  jest.advanceTimersByTime(60_000);
  expect([socket.calls.length, ends.length]).toEqual([3, 1]);
});

test.each(['a pong', 'a frame'])('%s says that the upstream is there', (sign) => {
  const { socket, ends } = start();
  for (let round = 0; round < 5; round++) {
    jest.advanceTimersByTime(30_000);
    if (sign === 'a pong') socket.emit('pong', Buffer.alloc(0));
    else socket.emit('message', Buffer.from('{}'), false);
  }
  expect([socket.calls, ends]).toEqual([Array(10).fill('ping'), []]);
});

test('frames of the upstream start no timers', () => {
  const { socket } = start();
  const timers = jest.getTimerCount();
  const started = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(globalThis, 'setInterval'), jest.spyOn(globalThis, 'setImmediate')];
  for (let frame = 0; frame < 1000; frame++) socket.emit('message', Buffer.from('{}'), false);
  expect([jest.getTimerCount(), ...started.map((one) => one.mock.calls.length)]).toEqual([timers, 0, 0, 0]);
  for (const one of started) one.mockRestore();
});

test('an upstream that is not read from, since the caller does not read, is not taken for gone', () => {
  const { socket, ends, giveCredit } = start();
  giveCredit(false);
  socket.emit('message', Buffer.from('{}'), false);
  expect(socket.isPaused).toBe(true);
  jest.advanceTimersByTime(120_000);
  expect(ends).toEqual([]);
  giveCredit(true);
  jest.advanceTimersByTime(45_000);
  expect(ends).toMatchObject([{ errorCode: 'upstream_broken' }]);
});

test('a caller that is gone without a word is 1011 to the upstream, which is cut off a second later', () => {
  const { relay, socket, ends } = start();
  relay.abandon('client_gone');
  expect(socket.calls).toEqual(['close 1011 The client connection was lost.']);
  jest.advanceTimersByTime(1000);
  expect(socket.calls.at(-1)).toBe('terminate');
  expect(ends).toEqual([{ close: { code: 1006, reason: '' }, errorCode: 'client_gone' }]);
});

test.each([
  [{ code: 1008, reason: 'The model of this session is disabled or deleted.' }, 'timeout'],
  [{ code: 1001, reason: 'The gateway is shutting down.' }, 'draining'],
])('a response that runs longer than the gateway waits for is cut by it: %j', (close, cutBy) => {
  const { relay, socket, ends } = start({ responding: true });
  relay.leave(close, 4000, 'model_not_found');
  jest.advanceTimersByTime(3999);
  expect(ends).toEqual([]);
  jest.advanceTimersByTime(1);
  expect([socket.calls, ends]).toEqual([['close 1000 '], [{ close, errorCode: 'model_not_found', cutBy }]]);
});
