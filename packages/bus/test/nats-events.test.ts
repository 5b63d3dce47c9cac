/** Durable events over a real JetStream: once by id, whatever happens to the server, its store and the listeners. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type NatsServer, startNatsServer } from '../../../tests/support/nats-server.ts';
import { type Bus, connectNatsBus } from '../src/index.ts';
import { startLateConnection } from './late-connection.ts';
import { inPlace, nothingFor, openRecorded, pastWindow, pattern, quiet, row, sleep, until } from './support.ts';
import { ownServerAvailable } from './two-buses.ts';

const available = ownServerAvailable('durable events over NATS');

(available ? describe : describe.skip)('durable events over NATS', () => {
  let server: NatsServer;
  const buses: Bus[] = [];
  const toClose: { close(): void }[] = [];

  const connectBus = async (name: string, options: { outbox?: { items: number }; ackWaitMs?: number; logger?: typeof quiet } = {}) => {
    const bus = await connectNatsBus({ url: server.url, name, logger: quiet, drainMs: 1000, ackWaitMs: 2000, ...options });
    buses.push(bus);
    return bus;
  };

  const listenInto = (bus: Bus, seen: Map<string, number>, options?: { maxBatch?: number; maxWaitMs?: number }) =>
    bus.listenDurably(
      'stats.request',
      async (batch) => {
        for (const { id } of batch) seen.set(id, (seen.get(id) ?? 0) + 1);
      },
      { maxWaitMs: 50, ...options },
    );

  const eventMessages = async () => {
    const connection = await connect({ servers: server.url });
    const { state } = await (await jetstreamManager(connection)).streams.info('gw_news');
    await connection.close();
    return { waiting: state.messages, last: state.last_seq };
  };

  /** Resolves when the consumers hold this many messages that are not acknowledged. */
  const delivered = async (count: number) => {
    const connection = await connect({ servers: server.url });
    const { consumers } = await jetstreamManager(connection);
    const pending = async () => (await consumers.list('gw_news').next()).reduce((sum, { num_ack_pending }) => sum + num_ack_pending, 0);
    for (const deadline = Date.now() + 30_000; (await pending()) < count; ) {
      if (Date.now() > deadline) throw new Error('nothing was delivered within 30 s');
      await sleep(20);
    }
    await connection.close();
  };

  /** What is committed is gone from the store a moment later. */
  const storeIsEmpty = async () => {
    for (const deadline = Date.now() + 30_000; (await eventMessages()).waiting > 0; ) {
      if (Date.now() > deadline) throw new Error('the store is not empty after 30 s');
      await sleep(20);
    }
  };

  beforeEach(async () => {
    server = await startNatsServer();
  });
  afterEach(async () => {
    await Promise.all(buses.splice(0).map((bus) => bus.drain()));
    for (const one of toClose.splice(0)) one.close();
    await server.dispose();
  });

  test('2,000 items with the server killed in the middle: each arrives, once by id', async () => {
    const publisher = await connectBus('edge');
    const listener = await connectBus('stats');
    const seen = new Map<string, number>();
    listenInto(listener, seen);
    await until(() => publisher.connected && listener.connected, 'both connect');
    const described: Promise<void>[] = [];
    for (let i = 0; i < 2000; i++) {
      described.push(publisher.publishDurable('stats.request', `id${i}`, row(`id${i}`)));
      if (i % 50 === 0) await sleep(5);
      if (i === 800) await server.kill();
      if (i === 1400) await server.start();
    }
    await Promise.all(described);
    await until(() => seen.size === 2000, 'all items');
    expect(publisher.stats().outboxItems).toBe(0);
  });

  test('what is on its way to a listener that leaves goes to the next one, long before its acknowledgement is missed', async () => {
    const late = await startLateConnection(server.url, 300);
    toClose.push(late);
    const publisher = await connectBus('edge');
    const leaving = await connectNatsBus({ url: late.url, name: 'stats', logger: quiet, drainMs: 5000, ackWaitMs: 120_000 });
    const seen = new Map<string, number>();
    listenInto(leaving, seen);
    await until(() => publisher.connected && leaving.connected, 'both connect');
    await publisher.publishDurable('stats.request', 'first', row('first'));
    await until(() => seen.size === 1, 'it listens');
    const described = Array.from({ length: 20 }, (_, at) => publisher.publishDurable('stats.request', `id${at}`, row(`id${at}`)));
    await delivered(1);
    await leaving.drain();
    const next = await connectBus('stats-2', { ackWaitMs: 120_000 });
    listenInto(next, seen);
    await Promise.all(described);
    await until(() => seen.size === 21, 'all of them');
  });

  test('many waiting items share a message', async () => {
    const publisher = await connectBus('edge');
    await until(() => publisher.connected, 'it connects');
    await Promise.all(Array.from({ length: 1000 }, (_, i) => publisher.publishDurable('stats.request', `b${i}`, row(`b${i}`))));
    expect((await eventMessages()).last).toBeLessThanOrEqual(20);
  });

  test('events published while the server is away wait in the outbox, which is bounded', async () => {
    await server.kill();
    const publisher = await connectBus('edge', { outbox: { items: 10 } });
    const described = Promise.all(Array.from({ length: 10 }, (_, i) => publisher.publishDurable('stats.request', `w${i}`, row(`w${i}`))));
    await expect(publisher.publishDurable('stats.request', 'w10', row('w10'))).rejects.toMatchObject({ code: 'overloaded' });
    expect(publisher.stats().outboxItems).toBe(10);
    await server.start();
    await described;
    const seen = new Map<string, number>();
    listenInto(await connectBus('stats'), seen);
    await until(() => seen.size === 10, 'all items');
    await storeIsEmpty();
  });

  test('a lost store is made again, for publishers and listeners', async () => {
    const publisher = await connectBus('edge');
    const listener = await connectBus('stats');
    const seen = new Map<string, number>();
    listenInto(listener, seen);
    await publisher.publishDurable('stats.request', 'before', row('before'));
    await until(() => seen.has('before'), 'the first item');
    await server.restart({ loseStore: true });
    await publisher.publishDurable('stats.request', 'after', row('after'));
    await until(() => seen.has('after'), 'the second item');
    expect([...seen.values()]).toEqual([1, 1]);
  });

  test('a stream deleted under a running listener is made again', async () => {
    const publisher = await connectBus('edge');
    const seen = new Map<string, number>();
    listenInto(await connectBus('stats'), seen);
    await publisher.publishDurable('stats.request', 'before', row('before'));
    await until(() => seen.has('before'), 'the first item');
    const connection = await connect({ servers: server.url });
    await (await jetstreamManager(connection)).streams.delete('gw_news');
    await connection.close();
    // A server acknowledges what is published in the middle of a deletion, and then deletes it.
    await pastWindow(300);
    await publisher.publishDurable('stats.request', 'after', row('after'));
    await until(() => seen.has('after'), 'the second item');
  });

  test('handle never gets more than maxBatch items, and a refused batch comes again', async () => {
    const publisher = await connectBus('edge');
    const told: string[] = [];
    const tell = (_facts: Record<string, unknown>, message: string) => void told.push(message);
    const listener = await connectBus('stats', { logger: { info: tell, warn: tell, error: tell } });
    await until(() => publisher.connected && listener.connected, 'both connect');
    await Promise.all(Array.from({ length: 300 }, (_, i) => publisher.publishDurable('stats.request', `m${i}`, row(`m${i}`))));
    const sizes: number[] = [];
    const seen = new Set<string>();
    let refuse = 3;
    listener.listenDurably(
      'stats.request',
      async (batch) => {
        sizes.push(batch.length);
        if (refuse-- > 0) throw new Error('no');
        for (const { id } of batch) seen.add(id);
      },
      { maxBatch: 70, maxWaitMs: 50 },
    );
    await until(() => seen.size === 300, 'all items');
    expect(Math.max(...sizes)).toBeLessThanOrEqual(70);
    // However often a reason is met, it is one line.
    expect(told.filter((line) => /were refused|are taken/.test(line))).toEqual([
      'durable events were refused and will be delivered again',
      'durable events are taken again',
    ]);
    await storeIsEmpty();
  });

  test('what a leaving listener holds goes to the next one at once', async () => {
    const publisher = await connectBus('edge');
    // Longer than the test waits: what comes was given back.
    const first = await connectBus('stats', { ackWaitMs: 300_000 });
    await until(() => publisher.connected && first.connected, 'both connect');
    const ear = first.listenDurably('stats.request', async () => {}, { maxWaitMs: 60_000 });
    await publisher.publishDurable('stats.request', 'h', row('h'));
    await delivered(1);
    await ear.dispose();
    const seen = new Map<string, number>();
    listenInto(await connectBus('stats-two', { ackWaitMs: 300_000 }), seen);
    await until(() => seen.size === 1, 'the item');
  });

  test('a listener that takes longer than an acknowledgement may is not passed over', async () => {
    const publisher = await connectBus('edge');
    const slow = await connectBus('stats', { ackWaitMs: 1000 });
    await until(() => publisher.connected && slow.connected, 'both connect');
    let ended = false;
    const handled: number[] = [];
    slow.listenDurably(
      'stats.request',
      async (batch) => {
        handled.push(...batch.map(({ deliveries }) => deliveries));
        await pastWindow(4000);
        ended = true;
      },
      { maxWaitMs: 10 },
    );
    await publisher.publishDurable('stats.request', 'slow', row('slow'));
    await until(() => handled.length === 1, 'it is being handled');
    const seen = new Map<string, number>();
    listenInto(await connectBus('stats-two', { ackWaitMs: 1000 }), seen);
    await until(() => ended, 'it is handled');
    await storeIsEmpty();
    expect(handled).toEqual([1]);
    expect(seen.size).toBe(0);
  });

  test('what a listener held when it died is delivered to the next one without the wait of an earlier version', async () => {
    const connection = await connect({ servers: server.url });
    const manager = await jetstreamManager(connection);
    const publisher = await connectBus('edge');
    await until(() => publisher.connected, 'it connects');
    await publisher.publishDurable('stats.request', 'held', row('held'));
    await manager.consumers.add('gw_news', {
      durable_name: 'stats-request',
      filter_subject: 'gw.v1.stats.request',
      ack_policy: AckPolicy.Explicit,
      ack_wait: 300_000 * 1_000_000,
      max_ack_pending: 128,
    });
    const dead = await jetstream(connection).consumers.get('gw_news', 'stats-request');
    await dead.next();
    await connection.close();
    const seen = new Map<string, number>();
    listenInto(await connectBus('stats'), seen);
    await until(() => seen.size === 1, 'the event');
    await storeIsEmpty();
  });

  test('a full store refuses events, which wait and arrive once it has space', async () => {
    const publisher = await connectBus('edge');
    await until(() => publisher.connected, 'it connects');
    await publisher.publishDurable('stats.request', 'first', row('first'));
    const connection = await connect({ servers: server.url });
    const manager = await jetstreamManager(connection);
    await manager.streams.update('gw_news', { max_bytes: 2000 });
    const seen = new Map<string, number>();
    let described = false;
    const big = publisher.publishDurable('stats.request', 'big', row('x'.repeat(5000))).then(() => {
      described = true;
    });
    await nothingFor(700);
    expect(described).toBe(false);
    await manager.streams.update('gw_news', { max_bytes: 10_000_000 });
    await big;
    await connection.close();
    listenInto(await connectBus('stats'), seen);
    await until(() => seen.size === 2, 'both items');
  });

  test('while JetStream is away a publisher logs each reason once, and once that it is over', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nats-bare-'));
    const file = join(folder, 'nats.conf');
    const write = (jetstream: string): void =>
      writeFileSync(file, `accounts { app { jetstream: ${jetstream}, users: [{ user: app, password: app }] } }\nno_auth_user: app`);
    write('disabled');
    const bare = await startNatsServer({ extraArguments: ['-c', file], storeDirectory: folder });
    const lines: string[] = [];
    const tell = (facts: Record<string, unknown>, text: string) => void lines.push(`${text}: ${facts['refusal'] ?? facts['error'] ?? ''}`);
    const publisher = await connectNatsBus({ url: bare.url, name: 'edge', logger: { info: tell, warn: tell, error: tell }, drainMs: 1000 });
    try {
      const published: Promise<void>[] = [];
      const publish = (): void => {
        for (let i = 0; i < 400; i++) published.push(publisher.publishDurable('stats.request', `j${published.length}`, row('j')));
      };
      await until(() => publisher.connected, 'it connects');
      for (let round = 0; round < 40; round++) {
        publish();
        await pastWindow(50);
      }
      const told = (text: string) => lines.filter((line) => line.includes(text)).length;
      expect(told('durable events wait for the JetStream stream')).toBeGreaterThan(0);
      expect(told('the event stream cannot be configured')).toBeGreaterThan(0);
      expect(lines).toEqual([...new Set(lines)]);
      await bare.kill();
      write('enabled');
      await bare.start();
      await Promise.all(published);
      await until(() => told('the JetStream stream takes durable events again') > 0, 'the end to be logged');
      expect(told('the JetStream stream takes durable events again')).toBe(1);
    } finally {
      await publisher.drain();
      await bare.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('a server with a small max_payload: bodies and replies of 1 MB pass in parts', async () => {
    await server.dispose();
    const directory = mkdtempSync(join(tmpdir(), 'nats-conf-'));
    const file = join(directory, 'nats.conf');
    writeFileSync(file, 'max_payload: 65536\n');
    server = await startNatsServer({ extraArguments: ['-c', file] });
    const near = await connectBus('near');
    const far = await connectBus('far');
    await until(() => near.connected && far.connected, 'both connect');
    far.serve({ open: { 'console.http': (_request, body, stream) => stream.whole({}, body, {}) } });
    await inPlace(far);
    const body = pattern(1_000_000);
    const got = openRecorded(near, 'console.http', { remoteAddress: 'a'.repeat(100_000) }, { body });
    await got.ended;
    expect(got.error).toBeNull();
    expect(Buffer.compare(Buffer.concat(got.chunks), body)).toBe(0);
    rmSync(directory, { recursive: true });
  });
});
