/** Who holds no master key cannot have what it opens: on a real server with the generated users, only translator, stats and console see a sealed value. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bus, connectNatsBus } from '@model-gateway/bus';
import { type CatalogSource, type CatalogWatcher, createCatalogSource, createCatalogWatcher } from '@model-gateway/catalog';
import { holdsMasterKey, type ServiceName, sealedAs, serviceSubjects } from '@model-gateway/contracts';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import { openStorage, type Storage } from '@model-gateway/storage';
import { permissionsOf } from '../../packages/bus/src/nats/permissions.ts';
import { connectRaw, type RawConnection } from '../../packages/bus/test/raw-connection.ts';
import { sampleGroup, sampleKey, sampleUpstream } from '../../packages/storage/test/samples.ts';
import { until } from '../support/in-process.ts';
import { findNatsServer, type NatsServer, natsAvailable, startNatsServer } from '../support/nats-server.ts';
import { type NatsUsers, writeNatsUsers } from '../support/nats-users.ts';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const keyring = createKeyring(generateMasterKey());
const canary = (name: string): string => `sk-CANARY-${name}`;
/** A secret in each place that has one, all sealed as the console seals them. */
const secrets = {
  key: keyring.seal(canary('key'), sealedAs.upstreamKey('u1', 'k1')),
  header: keyring.seal(canary('header'), sealedAs.upstreamHeader('u1', 'x-api-token')),
  proxy: keyring.seal(`me:${canary('proxy')}`, sealedAs.upstreamProxy('u1')),
  tls: keyring.seal(canary('tls'), sealedAs.upstreamClientKey('u1')),
};
const upstream = (url: string) =>
  sampleUpstream({
    base_url: url,
    api_keys: [{ id: 'k1', sealed: secrets.key, weight: 1 }],
    sealed_headers: { 'x-api-token': secrets.header },
    proxy: { url: 'http://proxy.example:3128', sealed: secrets.proxy },
    tls: { ca: null, client_cert: null, min_version: null, server_name: null, sealed_key: secrets.tls },
  });
/** Sealed values that stand in a text. */
const secretsIn = (text: string): string[] => Object.values(secrets).filter((sealed) => text.includes(sealed));

const services = Object.keys(serviceSubjects) as ServiceName[];
const others = services.filter((service) => !holdsMasterKey(service));
/** Services that are given a copy of the configuration without sealed values. The script runner is given none at all. */
const redactedReaders = others.filter((service) => service !== 'script-runner');
const available = natsAvailable('secrets by need over NATS') && findNatsServer() !== null;

test('translator, alone or in a data plane, stats and console hold the master key, and nobody else', () => {
  expect(services.filter(holdsMasterKey).sort()).toEqual(['console', 'data-plane', 'stats', 'translator']);
});

(available ? describe : describe.skip)('on a server with the generated users', () => {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-by-need-'));
  const external = process.env['NATS_URL'];
  const buses: Bus[] = [];
  const connections: RawConnection['connection'][] = [];
  const watchers: CatalogWatcher[] = [];
  let users: NatsUsers;
  let server: NatsServer;
  let storage: Storage;
  let source: CatalogSource;

  const busOf = async (service: ServiceName): Promise<Bus> => {
    const url = users.urlFor(server.url, service);
    const bus = await connectNatsBus({ url, name: service, logger: quiet, drainMs: 200, permissions: { service, required: true } });
    buses.push(bus);
    await until(() => bus.connected, `${service} to be connected`);
    return bus;
  };
  const rawOf = async (service: ServiceName): Promise<RawConnection> => {
    const raw = await connectRaw(users.urlFor(server.url, service), service);
    connections.push(raw.connection);
    return raw;
  };
  const watcherOf = async (service: ServiceName, redacted: boolean): Promise<CatalogWatcher> => {
    const watcher = createCatalogWatcher({ bus: await busOf(service), logger: quiet, redacted, pollMs: 50 });
    watchers.push(watcher);
    await watcher.start();
    return watcher;
  };
  const rotate = (url: string) =>
    storage.catalog.change(async (writer) => {
      const row = (await writer.upstreams.find('main'))!;
      await writer.upstreams.update(row, upstream(url));
    });

  beforeAll(async () => {
    // This suite is about a server of its own.
    delete process.env['NATS_URL'];
    users = writeNatsUsers(folder);
    server = await startNatsServer(users.server);
    storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: quiet });
    await storage.migrate();
    await storage.catalog.change((writer) => writer.upstreams.insert('u1', upstream('https://one.example')));
    source = createCatalogSource({ storage, bus: await busOf('console'), logger: quiet });
    source.start();
  });
  afterAll(async () => {
    await Promise.all(watchers.map((watcher) => watcher.stop()));
    await source?.stop();
    await Promise.all([...buses.map((bus) => bus.drain()), ...connections.map((connection) => connection.close())]);
    await storage?.close();
    await server?.dispose();
    rmSync(folder, { recursive: true, force: true });
    if (external !== undefined) process.env['NATS_URL'] = external;
  });

  test.each(others)('%s: neither the subject of the whole configuration nor its news can be used', async (service) => {
    // As it would ask who took the process over.
    const greedy = await watcherOf(service, false);
    expect(greedy.ready).toBe(false);
    const { connection: raw, refused } = await rawOf(service);
    for (const subject of ['gw.v1.catalog.load', 'gw.v1.catalog.changed', 'gw.v1.inbox.translator.>', 'gw.v1.inbox.stats.>', 'gw.v1.inbox.console.>'])
      raw.subscribe(subject, { callback: () => undefined });
    raw.publish('gw.v1.catalog.load', '{}');
    await raw.flush();
    await until(() => refused.length >= 6, 'six refusals');
    expect(refused.filter((text) => text.includes('Publish to "gw.v1.catalog.load"'))).toHaveLength(1);
    expect(greedy.ready).toBe(false);
  });

  test.each(redactedReaders)('%s: nothing that it may hear, load or be told holds a sealed value', async (service) => {
    const watcher = await watcherOf(service, true);
    expect(watcher.current()?.upstreams.get('main')?.api_keys).toEqual([{ id: 'k1', weight: 1 }]);
    const { connection: raw } = await rawOf(service);
    let received = '';
    for (const subject of permissionsOf(service).subscribe)
      raw.subscribe(subject, {
        callback: (_error, message) => {
          received += `${message.subject} ${Buffer.from(message.data).toString('latin1')}\n`;
        },
      });
    await raw.flush();
    const url = `https://${service}.example`;
    const { revision } = await rotate(url);
    await until(() => watcher.current()?.revision === revision && received.includes(url), 'the news');
    // Whole, as a late one loads it: its frames pass through an inbox that this user may listen to.
    const late = await watcherOf(service, true);
    await until(() => received.includes('"access_keys"'), 'the frames of the whole configuration');
    expect(late.current()?.upstreams.get('main')?.base_url).toBe(url);
    const all = received + JSON.stringify([...late.current()!.upstreams.values(), ...watcher.current()!.upstreams.values()]);
    expect(secretsIn(all)).toEqual([]);
    expect(all).not.toMatch(/"sealed|CANARY/);
  });

  test('script-runner: learns how many scripts there are, and can obtain no hash of an access key', async () => {
    const hash = 'c0ffee'.padEnd(64, '7');
    const { connection: raw, refused } = await rawOf('script-runner');
    let received = '';
    const onMessage = (error: unknown, message: { subject: string; data: Uint8Array }) => {
      if (!error) received += `${message.subject} ${Buffer.from(message.data).toString('latin1')}\n`;
    };
    for (const subject of [...permissionsOf('script-runner').subscribe, 'gw.v1.catalog.changed-redacted']) raw.subscribe(subject, { callback: onMessage });
    await raw.flush();
    const bus = await busOf('script-runner');
    const before = await bus.ask('catalog.scripts', {});
    await storage.catalog.change(async (writer) => {
      await writer.keyGroups.insert('g1', sampleGroup());
      await writer.accessKeys.insert('a1', sampleKey({ hash }));
      const row = (await writer.upstreams.find('main'))!;
      await writer.upstreams.update(row, { ...upstream('https://scripted.example'), request_transform_after: 'function transform(body) { return body }' });
    });
    await until(() => refused.length >= 1, 'the refusal of the news');
    await expect(bus.ask('catalog.scripts', {})).resolves.toEqual({ scripts: before.scripts + 1 });
    // As it would ask who took the process over: the whole configuration, and the copy without sealed values, which has the hashes too.
    for (const redacted of [false, true]) {
      const greedy = await watcherOf('script-runner', redacted);
      expect(greedy.ready).toBe(false);
    }
    for (const subject of ['gw.v1.catalog.load', 'gw.v1.catalog.load-redacted', 'gw.v1.catalog.revision']) raw.publish(subject, '{}');
    await raw.flush();
    await until(() => refused.length >= 4, 'four refusals');
    // An edge does hear it: the hash went over this server while the script runner listened.
    const edge = await watcherOf('edge', true);
    expect(edge.current()?.accessKeys.has(hash)).toBe(true);
    expect(received).not.toContain(hash);
    expect(received).not.toContain('access_keys');
  });

  test.each(['translator', 'stats'] as const)('%s: holds the key, and what it opens', async (service) => {
    const watcher = await watcherOf(service, false);
    const { revision } = await rotate(`https://${service}.example`);
    await until(() => watcher.current()?.revision === revision, 'the news');
    const seen = watcher.current()!.upstreams.get('main')!;
    expect(secretsIn(JSON.stringify(seen))).toHaveLength(4);
    expect(keyring.open(seen.api_keys[0]!.sealed, sealedAs.upstreamKey('u1', 'k1'))).toBe(canary('key'));
  });
});
