/** A Redis server that answers and takes nothing: full, or replaced by another and now that one's replica. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../../../tests/support/free-port.ts';
import { type RedisServer, redisAvailable, startRedisServer } from '../../../tests/support/redis-server.ts';
import { keyOf, RedisLink } from '../src/redis/link.ts';
import { nothingFor, until } from './support.ts';

const probeMs = 50;

(redisAvailable('Redis that refuses writes') ? describe : describe.skip)('Redis that refuses writes', () => {
  let server: RedisServer;
  let link: RedisLink | undefined;
  const lines: string[] = [];
  const changes: boolean[] = [];
  const reasons: string[] = [];
  const note = (fields: { error?: Error }, text: string): void => {
    lines.push(text);
    if (fields.error) reasons.push(fields.error.message);
  };

  beforeAll(async () => {
    server = await startRedisServer({ own: true });
  });
  afterEach(async () => {
    await link?.close();
    lines.length = changes.length = reasons.length = 0;
  });
  afterAll(() => server.dispose());

  const open = async (url: string): Promise<RedisLink> => {
    link = new RedisLink({ url, logger: { info: note, warn: note }, probeMs, commandMs: 30_000 });
    link.onChange((up) => changes.push(up));
    await link.start();
    return link;
  };
  const write = (to: RedisLink) => to.run('addAttempt', keyOf('attempt', 'test'), 60_000);

  test('is away, said once, until there is space again', async () => {
    const one = await open(server.url);
    await write(one);
    expect(await server.command('CONFIG SET maxmemory 1')).toBe('+OK');
    await expect(write(one)).rejects.toThrow('OOM');
    await nothingFor(probeMs * 6);
    expect([one.up, changes, lines.slice(1)]).toEqual([false, [true, false], [expect.stringContaining('cannot be used')]]);
    await server.command('CONFIG SET maxmemory 0');
    await until(() => one.up, 'Redis to take writes');
    await write(one);
  });

  test('has another password after its restart: it is said once that it wants one', async () => {
    const one = await open(server.url);
    await write(one);
    await server.command('CONFIG SET requirepass another');
    // Whoever is connected stays so.
    await write(one);
    await server.command('AUTH another\r\nCLIENT KILL TYPE normal SKIPME yes');
    await until(() => reasons.some((why) => why.includes('NOAUTH')), 'the reason');
    await nothingFor(probeMs * 6);
    expect(reasons.filter((why) => why.includes('NOAUTH'))).toHaveLength(1);
    expect(one.up).toBe(false);
    await server.command('AUTH another\r\nCONFIG SET requirepass ""');
    await until(() => one.up, 'Redis to take no password again');
  });

  test('has a user who lacks a right that the check does not need: it is tried more and more seldom', async () => {
    const one = await open(server.url);
    await write(one);
    try {
      expect(await server.command('ACL SETUSER default -hset -hincrby -zadd -incr -sadd -lpush -expire -pexpire -incrby')).toBe('+OK');
      const tries = 40;
      for (let at = 0; at < tries; at++) {
        await write(one).catch(() => undefined);
        await nothingFor(probeMs);
      }
      expect(lines.filter((line) => line.includes('cannot be used')).length).toBeLessThan(tries / 4);
    } finally {
      expect(await server.command('ACL SETUSER default +@all')).toBe('+OK');
    }
    await until(() => one.up, 'it to be tried again');
    await write(one);
  });

  test('is one of a cluster, and has a part of the keys: it is away, said once with what to do', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'redis-cluster-'));
    // Its bus would listen 10,000 ports above its own, where another suite may.
    const cluster = ['--cluster-enabled', 'yes', '--cluster-port', `${await freePort()}`, '--cluster-config-file', join(folder, 'nodes.conf')];
    const member = await startRedisServer({ own: true, extraArguments: cluster });
    try {
      // That of the first check, and none of another's.
      const slot = (await member.command(`CLUSTER KEYSLOT ${keyOf('probe', 'writes')}`)).slice(1);
      expect(await member.command('CONFIG SET cluster-require-full-coverage no')).toBe('+OK');
      expect(await member.command(`CLUSTER ADDSLOTS ${slot}`)).toBe('+OK');
      const one = await open(member.url);
      await until(() => one.up, 'the cluster to be there');
      lines.length = 0;
      await expect(write(one)).rejects.toThrow('CLUSTERDOWN');
      await nothingFor(probeMs * 6);
      expect(one.up).toBe(false);
      expect(lines.filter((line) => line.includes('without cluster mode'))).toHaveLength(1);
      const other = (await member.command(`CLUSTER KEYSLOT ${keyOf('attempt', 'test')}`)).slice(1);
      expect(await member.command(`CLUSTER ADDSLOTS ${other}`)).toBe('+OK');
      await until(() => one.up, 'the key to be there');
      expect(await write(one)).toEqual([1]);
    } finally {
      await link?.close();
      await member.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('has a successor at the same address: it is connected to', async () => {
    const successor = await startRedisServer({ own: true });
    let behind = server;
    const sockets = new Set<Socket>();
    const address = createServer((socket) => {
      const further = connect(Number(new URL(behind.url).port), '127.0.0.1');
      for (const one of [socket, further]) {
        sockets.add(one);
        one.on('error', () => one.destroy());
      }
      socket.pipe(further).pipe(socket);
    });
    await new Promise<void>((resolve) => void address.listen(0, '127.0.0.1', resolve));
    try {
      const one = await open(`redis://127.0.0.1:${(address.address() as { port: number }).port}`);
      await write(one);
      behind = successor;
      await server.command(`REPLICAOF 127.0.0.1 ${new URL(successor.url).port}`);
      await expect(write(one)).rejects.toThrow('READONLY');
      await until(() => one.up, 'the successor to be found');
      expect(await write(one)).toEqual([1]);
    } finally {
      await link?.close();
      for (const one of sockets) one.destroy();
      address.close();
      await server.command('REPLICAOF NO ONE');
      await successor.dispose();
    }
  });
});
