/** A Redis whose connection is gone without a word: nobody closes it, and the server is still, or again, there for new ones. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type HeldConnection, openHeldConnection } from '../../../tests/support/held-connection.ts';
import { type RedisServer, redisAvailable, startRedisServer } from '../../../tests/support/redis-server.ts';
import { keyOf, RedisLink } from '../src/redis/link.ts';
import { until } from './support.ts';

(redisAvailable('Redis whose connection falls silent') ? describe : describe.skip)('Redis whose connection falls silent', () => {
  let server: RedisServer;
  let way: HeldConnection;
  let link: RedisLink | undefined;
  const logger = { info: () => undefined, warn: () => undefined };

  beforeAll(async () => {
    server = await startRedisServer({ own: true });
    way = await openHeldConnection(server.url);
  });
  afterEach(() => link?.close());
  afterAll(async () => {
    way?.close();
    await server?.dispose();
  });

  const write = (to: RedisLink) => to.run('addAttempt', keyOf('attempt', 'test'), 60_000);

  test('another connection is made', async () => {
    link = new RedisLink({ url: way.url, logger, probeMs: 50, commandMs: 200 });
    await link.start();
    const one = link;
    await until(() => one.up, 'Redis to be reached');
    // What is open stays open, and swallows everything; a new connection is served.
    way.hold();
    await expect(write(one)).rejects.toThrow('no answer');
    expect(one.up).toBe(false);
    await until(() => one.up, 'Redis to be reached by a new connection');
    expect(await write(one)).toHaveLength(1);
  });
});
