/** Every service that publishes durable events may make their stream where there is none: made otherwise, it shows nobody what its permissions keep from it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { durableSubjects } from '@model-gateway/contracts';
import { jetstreamManager, RetentionPolicy, type StreamConfig } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type NatsServer, startNatsServer } from '../../../tests/support/nats-server.ts';
import { type NatsUsers, tester, writeNatsUsers } from '../../../tests/support/nats-users.ts';
import { type Bus, connectNatsBus } from '../src/index.ts';
import { connectRaw } from './raw-connection.ts';
import { quiet, sleep, until } from './support.ts';
import { ownServerAvailable } from './two-buses.ts';

const available = ownServerAvailable('a stream of durable events that was made by others');
const durable = durableSubjects.map((subject) => `gw.v1.${subject}`);
const stolen = 'gw.v1.inbox.edge.stolen';

(available ? describe : describe.skip)('a stream of durable events that an edge made otherwise', () => {
  let folder: string;
  let users: NatsUsers;
  let server: NatsServer;
  let errors: string[];
  const open: (Bus | NatsConnection)[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'foreign-stream-'));
    users = writeNatsUsers(folder);
    server = await startNatsServer(users.server);
    errors = [];
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.drain()));
    await server.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const rawOf = async (user: string): Promise<NatsConnection> => {
    const { connection } = await connectRaw(users.urlFor(server.url, user), user);
    open.push(connection);
    return connection;
  };
  const edgeMakes = async (config: Partial<StreamConfig>): Promise<NatsConnection> => {
    const edge = await rawOf('edge');
    const manager = await jetstreamManager(edge, { checkAPI: false });
    await manager.streams.add({ name: 'gw_news', retention: RetentionPolicy.Workqueue, ...config });
    return edge;
  };
  const startStatistics = async (): Promise<void> => {
    const note = (facts: object, text: string): void => void errors.push(`${text} ${(facts as { error?: Error }).error?.message ?? ''}`);
    const logger = { ...quiet, warn: note, error: note };
    const bus = await connectNatsBus({ url: users.urlFor(server.url, 'stats'), name: 'stats', logger, permissions: { service: 'stats', required: true } });
    open.push(bus);
    bus.listenDurably('audit.record', async () => undefined);
  };
  const untilItTakes = async (subjects: readonly string[]): Promise<void> => {
    const { streams } = await jetstreamManager(await rawOf(tester), { checkAPI: false });
    const wanted = subjects.toSorted().join();
    for (const deadline = Date.now() + 30_000; ; await sleep(20)) {
      const taken = (await streams.info('gw_news')).config.subjects.toSorted().join();
      if (taken === wanted) return;
      if (Date.now() > deadline) throw new Error(`after 30 s the stream takes ${taken}`);
    }
  };

  test.each([
    ['requests', { subjects: ['gw.v1.audit.*', 'gw.v1.console.http', 'gw.v1.translator.run.*', 'gw.v1.later.news'] }, ['gw.v1.later.news']],
    ['everything', { subjects: ['gw.v1.>'] }, []],
  ])('takes %s: statistics lets it take durable events alone', async (_what, config, kept) => {
    await edgeMakes(config);
    await startStatistics();
    await untilItTakes([...durable, ...kept]);
    await until(() => errors.some((error) => error.includes('took gw.v1.') && error.includes('nats stream purge gw_news')), 'the log names what it took');
  });

  test.each([
    ['>', `${stolen}.>`],
    ['gw.v1.console.http', `${stolen}.one`],
  ])('republishes %s: it hands on no requests any more, or the log says what to do', async (src, dest) => {
    const edge = await edgeMakes({ subjects: [...durable, 'gw.v1.console.http'], republish: { src, dest } });
    const received: string[] = [];
    edge.subscribe(`${stolen}.>`, { callback: (_error, { subject }) => void received.push(subject) });
    await edge.flush();
    const anybody = await rawOf(tester);
    const send = () => anybody.publish('gw.v1.console.http', 'authorization: Bearer secret');
    send();
    await until(() => received.length === 1, 'the edge reads it');
    await startStatistics();
    await until(() => errors.some((error) => error.includes('republishes to ')), 'the log names it');
    const { streams } = await jetstreamManager(await rawOf(tester), { checkAPI: false });
    const { config } = await streams.info('gw_news');
    const saysDelete = errors.some((error) => error.includes('nats stream rm gw_news'));
    // Servers before 2.10 let nobody stop it.
    expect(saysDelete).toBe(config.republish !== undefined);
    if (saysDelete) return;
    await untilItTakes(durable);
    send();
    await anybody.request('$JS.API.STREAM.INFO.gw_news');
    await edge.flush();
    expect(received).toHaveLength(1);
  });
});
