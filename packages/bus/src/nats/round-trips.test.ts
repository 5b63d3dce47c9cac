import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { RoundTrips } from './round-trips.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function setUp() {
  const answers: (() => void)[] = [];
  const changes: boolean[] = [];
  const given = { up: 0 };
  const trips = new RoundTrips({
    get now() {
      return performance.now();
    },
    ping: () => new Promise((resolve) => answers.push(resolve)),
    hangs: (hung) => changes.push(hung),
    giveUp: () => void given.up++,
  });
  /** A ping that is answered after so long, with ticks meanwhile. */
  const answerAfter = async (ms: number): Promise<void> => {
    trips.flush();
    for (let passed = 0; passed < ms; passed += 100) {
      jest.advanceTimersByTime(Math.min(100, ms - passed));
      trips.tick();
    }
    answers.shift()?.();
    await Promise.resolve();
  };
  return { trips, changes, given, answerAfter };
}

test('what is read within 250 ms of a ping that is answered is fresh', async () => {
  const { trips, answerAfter } = setUp();
  expect(trips.fresh).toBe(false);
  await answerAfter(10);
  expect(trips.fresh).toBe(true);
  jest.advanceTimersByTime(250);
  expect(trips.fresh).toBe(false);
});

test.each([900, 1500])('a ping that is unanswered for a second is one of a server that hangs: %d ms', async (ms) => {
  const { trips, changes, answerAfter } = setUp();
  await answerAfter(10);
  await answerAfter(ms);
  expect(changes).toEqual(ms > 1000 ? [true, false] : []);
  expect(trips.fresh).toBe(false);
  await answerAfter(100);
  expect(trips.fresh).toBe(true);
});

test('a server that leaves a ping unanswered for four seconds is given up, once for each connection', async () => {
  const { trips, given, answerAfter } = setUp();
  await answerAfter(3900);
  expect(given.up).toBe(0);
  await answerAfter(9000);
  expect(given.up).toBe(1);
  trips.reset();
  await answerAfter(3900);
  expect(given.up).toBe(1);
  await answerAfter(4200);
  expect(given.up).toBe(2);
});
