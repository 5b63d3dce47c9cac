/** The bus over a NATS cluster of three: the durable store is on all of them, and one of them may go. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { freePort } from '../../../tests/support/free-port.ts';
import { type NatsServer, startNatsServer } from '../../../tests/support/nats-server.ts';
import { type Bus, connectNatsBus } from '../src/index.ts';
import { NatsBus } from '../src/nats/nats-bus.ts';
import { quiet, row, sleep, until } from './support.ts';
import { ownServerAvailable } from './two-buses.ts';

/** Asks until the store is as described: a cluster settles by itself, within a minute on a busy machine. */
async function untilStore(ask: () => Promise<StreamInfo | null>, met: (info: StreamInfo) => boolean, what: string): Promise<void> {
  for (const end = performance.now() + 60_000; ; await sleep(100)) {
    const info = await ask();
    if (info && met(info)) return;
    if (performance.now() > end) throw new Error(`waited for: ${what}; it is ${JSON.stringify(info)}`);
  }
}

const available = ownServerAvailable('the bus over a NATS cluster');

(available ? describe : describe.skip)('a cluster of three', () => {
  const servers: NatsServer[] = [];
  const buses: Bus[] = [];
  const urls = (): string => servers.map(({ url }) => url).join(',');

  beforeAll(async () => {
    const routes = [await freePort(), await freePort(), await freePort()].map((port) => `nats://127.0.0.1:${port}`);
    const started = routes.map((route, at) =>
      startNatsServer({ extraArguments: ['-n', `server-${at}`, '--cluster_name', 'three', '--cluster', route, '--routes', routes.join(',')] }),
    );
    servers.push(...(await Promise.all(started)));
  });
  afterAll(async () => {
    await Promise.all(buses.map((bus) => bus.drain()));
    await Promise.all(servers.map((server) => server.dispose()));
  });

  const connectBus = async (name: string, eventReplicas?: number): Promise<Bus> => {
    const bus = await connectNatsBus({ url: urls(), name, logger: quiet, drainMs: 1000, ackWaitMs: 2000, ...(eventReplicas && { eventReplicas }) });
    buses.push(bus);
    return bus;
  };

  /** null: there is none that can be asked at this moment. */
  const storeInfo = async (): Promise<StreamInfo | null> => {
    const connection = await connect({ servers: urls().split(',') });
    try {
      return await (await jetstreamManager(connection, { checkAPI: false })).streams.info('gw_news');
    } catch {
      return null;
    } finally {
      await connection.close();
    }
  };

  test('a store that an edge made with one copy has three once the statistics are there, and nothing is lost or doubled when its leader is killed', async () => {
    const publisher = await connectBus('edge');
    await until(() => publisher.connected, 'the edge connects');
    await publisher.publishDurable('stats.request', 'first', row('first'));
    await untilStore(storeInfo, ({ config }) => config.num_replicas === 1, 'a store of one copy');

    const listener = await connectBus('stats', 3);
    const seen = new Set<string>();
    // Those whose acknowledgement died with the leader are delivered again, and say so.
    const firstDeliveries = new Map<string, number>();
    listener.listenDurably(
      'stats.request',
      async (batch) => {
        for (const { id, deliveries } of batch) {
          seen.add(id);
          if (deliveries === 1) firstDeliveries.set(id, (firstDeliveries.get(id) ?? 0) + 1);
        }
      },
      { maxWaitMs: 50 },
    );
    const three = ({ config, cluster }: StreamInfo): boolean =>
      config.num_replicas === 3 && cluster?.leader !== undefined && cluster.replicas?.length === 2 && cluster.replicas.every(({ current }) => current);
    await untilStore(storeInfo, three, 'three copies that are up to date');

    const leader = Number((await storeInfo())?.cluster?.leader?.replace('server-', ''));
    const described: Promise<void>[] = [];
    for (let i = 0; i < 600; i++) {
      described.push(publisher.publishDurable('stats.request', `id${i}`, row(`id${i}`)));
      if (i === 300) await servers[leader]!.kill();
    }
    await Promise.all(described);
    // The server that was killed stays away.
    await until(() => seen.size === 601, 'all events');
    expect([...firstDeliveries].filter(([, times]) => times > 1)).toEqual([]);
  });
});

(available ? describe : describe.skip)('a cluster of two', () => {
  test('a server that hangs is left for the other, also with much that it has not taken', async () => {
    const routes = [await freePort(), await freePort()].map((port) => `nats://127.0.0.1:${port}`);
    const servers = await Promise.all(
      routes.map((route, at) =>
        startNatsServer({ extraArguments: ['-n', `two-${at}`, '--cluster_name', 'two', '--cluster', route, '--routes', routes.join(',')] }),
      ),
    );
    const bus = new NatsBus({ url: servers.map(({ url }) => url).join(','), name: 'router', logger: quiet, drainMs: 1000 });
    await until(() => bus.connected, 'the router connects');
    const hung = servers.find(({ url }) => url.endsWith(bus.link.connection!.getServer()))!;
    await hung.signal('SIGSTOP');
    try {
      // More than the buffers between the two hold.
      for (let part = 0; part < 40; part++) bus.link.publish('gw.v1.router.outcome', Buffer.alloc(500_000));
      await until(() => !bus.connected, 'the router to see that it hangs');
      await until(() => bus.connected, 'the router to be connected to the other server');
      expect(hung.url.endsWith(bus.link.connection!.getServer())).toBe(false);
    } finally {
      await hung.signal('SIGCONT');
      await bus.drain();
      await Promise.all(servers.map((server) => server.dispose()));
    }
  });
});
