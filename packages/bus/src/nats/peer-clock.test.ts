import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { PeerClock, sentNow } from './peer-clock.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** The peer's clock shows this much more than ours, and may be about to begin anew. */
test.each([0, 5_000_000, -5_000_000, 2 ** 31, 2 ** 32 - 100])('with a clock %d ms ahead, what took longer than 250 ms is not fresh', (ahead) => {
  jest.advanceTimersByTime(1000);
  const clock = new PeerClock();
  const theirs = () => (sentNow() + ahead) >>> 0 || 1;
  const arrivesAfter = (ms: number) => {
    const sentAt = theirs();
    jest.advanceTimersByTime(ms);
    return clock.isFresh(sentAt);
  };
  // Nothing is known yet, whatever two openings look like beside one another.
  expect(arrivesAfter(1000)).toBe(false);
  expect(arrivesAfter(10)).toBe(false);
  clock.learn(theirs(), 300);
  expect(arrivesAfter(0)).toBe(false);
  clock.learn(theirs(), 20);
  expect(arrivesAfter(0)).toBe(true);
  expect(arrivesAfter(200)).toBe(true);
  expect(arrivesAfter(300)).toBe(false);
  expect(arrivesAfter(1)).toBe(true);
});

test('a faster opening tells more than the answer did', () => {
  const clock = new PeerClock();
  const sentAt = sentNow();
  jest.advanceTimersByTime(200);
  clock.learn(sentAt, 240);
  expect(clock.isFresh(sentNow() - 300)).toBe(true);
  expect(clock.isFresh(sentNow())).toBe(true);
  expect(clock.isFresh(sentNow() - 300)).toBe(false);
});

test('clocks that drift apart are compared anew by the next answer', () => {
  const clock = new PeerClock();
  clock.learn(sentNow(), 5);
  jest.advanceTimersByTime(1000);
  expect(clock.isFresh(sentNow() - 400)).toBe(false);
  clock.learn(sentNow() - 400, 5);
  expect(clock.isFresh(sentNow() - 400)).toBe(true);
});

test('an opener that does not say when it sent is as fresh as the server', () => {
  expect(new PeerClock().isFresh(0)).toBe(true);
});
