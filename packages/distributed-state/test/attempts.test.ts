/** Counters and bans of sign-ins: one suite over both, and what a lost Redis may not take away. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type RedisServer, redisAvailable, startRedisServer } from '../../../tests/support/redis-server.ts';
import { type Attempts, MemoryAttempts, RedisAttempts } from '../src/index.ts';
import { until } from './support.ts';

const silent = { info: () => undefined, warn: () => undefined };
const withRedis = redisAvailable('attempts');

describe.each(['memory', ...(withRedis ? ['redis'] : [])])('attempts in %s', (engine) => {
  let server: RedisServer | undefined;
  let attempts: Attempts;
  const open: RedisAttempts[] = [];
  const connect = async (): Promise<RedisAttempts> => {
    const one = new RedisAttempts({ url: server!.url, logger: silent, commandMs: 30_000 });
    await one.start();
    open.push(one);
    return one;
  };
  beforeAll(async () => {
    if (engine === 'redis') server = await startRedisServer();
  });
  afterAll(() => server?.dispose());
  beforeEach(async () => {
    attempts = server ? await connect() : new MemoryAttempts();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
  });
  const name = () => `address:${Math.random()}`;

  test('count, forget, and end after their time', async () => {
    const key = name();
    expect([await attempts.count(key), await attempts.add(key, 60_000), await attempts.add(key, 60_000), await attempts.count(key)]).toEqual([0, 1, 2, 2]);
    await attempts.clear(key);
    expect([await attempts.count(key), await attempts.add(key, 40)]).toEqual([0, 1]);
    await until(async () => (await attempts.count(key)) === 0, 'the count is forgotten');
    expect(await attempts.add(key, 60_000)).toBe(1);
  });

  test('a part is forgiven, the rest stays with the time that it has', async () => {
    const [whole, part] = [name(), name()];
    for (let count = 0; count < 5; count++) await attempts.add(whole, 60_000);
    for (let count = 0; count < 2; count++) await attempts.add(part, 60_000);
    await attempts.forgive(whole, part);
    expect([await attempts.count(whole), await attempts.count(part)]).toEqual([3, 0]);
    await attempts.forgive(whole, part);
    await attempts.forgive(name(), name());
    expect([await attempts.count(whole), await attempts.add(whole, 60_000)]).toEqual([3, 4]);
    for (let count = 0; count < 9; count++) await attempts.add(part, 60_000);
    await attempts.forgive(whole, part);
    expect([await attempts.count(whole), await attempts.add(whole, 60_000)]).toEqual([0, 1]);
    const brief = name();
    for (let count = 0; count < 3; count++) await attempts.add(brief, 150);
    await attempts.add(part, 60_000);
    await attempts.forgive(brief, part);
    await until(async () => (await attempts.count(brief)) === 0, 'the rest is forgotten at its own time');
  });

  test('many at once are all counted', async () => {
    const key = name();
    const counts = await Promise.all(Array.from({ length: 40 }, () => attempts.add(key, 60_000)));
    expect(Math.max(...counts)).toBe(40);
  });

  test('a ban lasts its time', async () => {
    const key = name();
    expect(await attempts.bannedMs(key)).toBe(0);
    await attempts.ban(key, 60_000);
    expect(await attempts.bannedMs(key)).toBeGreaterThan(0);
    expect(await attempts.bannedMs(name())).toBe(0);
    const brief = name();
    await attempts.ban(brief, 60);
    await until(async () => (await attempts.bannedMs(brief)) === 0, 'the ban ends');
  });

  if (engine === 'redis') {
    test('another process knows of counts and bans, and a ban it has seen outlives the server', async () => {
      const [other, key] = [await connect(), name()];
      await attempts.add(key, 60_000);
      expect(await other.add(key, 60_000)).toBe(2);
      await attempts.ban(key, 60_000);
      expect(await other.bannedMs(key)).toBeGreaterThan(50_000);
      await server!.dispose();
      for (const one of [attempts, other]) {
        expect(await one.bannedMs(key)).toBeGreaterThan(50_000);
        expect(await one.add(name(), 60_000)).toBe(1);
      }
    });
  }
});

test('a flood of names pushes out old counters, never a ban', async () => {
  const attempts = new MemoryAttempts({ capacity: 100 });
  await attempts.ban('ban:one', 60_000);
  await attempts.add('first', 60_000);
  for (let count = 0; count < 1_000; count++) await attempts.add(`name:${count}`, 60_000);
  expect([await attempts.count('first'), await attempts.count('name:999'), (await attempts.bannedMs('ban:one')) > 0]).toEqual([0, 1, true]);
});

test('setting the clock of the machine lifts no ban and makes none longer', async () => {
  const attempts = new MemoryAttempts();
  const right = Date.now;
  await attempts.ban('ban:one', 60_000);
  await attempts.add('name', 60_000);
  try {
    for (const jump of [-3_600_000, 3_600_000]) {
      Date.now = () => right() + jump;
      expect([(await attempts.bannedMs('ban:one')) > 0, (await attempts.bannedMs('ban:one')) <= 60_000, await attempts.count('name')]).toEqual([true, true, 1]);
    }
  } finally {
    Date.now = right;
  }
});
