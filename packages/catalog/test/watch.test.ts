import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Bus, createMemoryBus } from '@model-gateway/bus';
import { openStorage, type Storage, type UpstreamDocument } from '@model-gateway/storage';
import { sampleGroup, sampleKey, sampleModel, sampleUpstream } from '../../storage/test/samples.ts';
import { type CatalogSource, type CatalogWatcher, createCatalogSource, createCatalogWatcher } from '../src/index.ts';

const logger = { info: () => undefined, warn: () => undefined };

/** The same bus, whose news can be lost. */
function lossyBus(bus: Bus): Bus & { losing: boolean } {
  const lossy = Object.create(bus) as Bus & { losing: boolean };
  lossy.losing = false;
  lossy.publish = (subject, event) => {
    if (!lossy.losing) bus.publish(subject, event);
  };
  lossy.serve = (handlers) => bus.serve(handlers);
  return lossy;
}

const until = async (condition: () => boolean, limitMs = 30_000): Promise<number> => {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > limitMs) throw new Error(`not within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - start;
};

describe('catalog over the bus', () => {
  let bus: Bus;
  let sourceBus: ReturnType<typeof lossyBus>;
  let storage: Storage;
  let source: CatalogSource;
  let watcher: CatalogWatcher;
  const addGroup = (name: string) => storage.catalog.change((writer) => writer.keyGroups.insert(`id-${name}`, sampleGroup({ name })));

  beforeEach(async () => {
    bus = createMemoryBus({ strict: true });
    sourceBus = lossyBus(bus);
    storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger });
    await storage.migrate();
    source = createCatalogSource({ storage, bus: sourceBus, logger });
    watcher = createCatalogWatcher({ bus, logger, pollMs: 150 });
  });
  afterEach(async () => {
    await watcher.stop();
    await source.stop();
    await storage.close();
    await bus.drain();
  });

  test('a console that is not there yet is waited for quietly, one that went is warned of once', async () => {
    const said: string[] = [];
    const received = { info: (_: object, text: string) => said.push(`info ${text}`), warn: (_: object, text: string) => said.push(`warn ${text}`) };
    const early = createCatalogWatcher({ bus, logger: received, pollMs: 20 });
    await early.start();
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(said).toEqual(['info waiting for the console to send the configuration']);
    source.start();
    await until(() => early.ready);
    await source.stop();
    await until(() => said.length === 3);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(said.slice(1)).toEqual(['info the configuration can be read', 'warn the console does not answer, continuing with the last known configuration']);
    await early.stop();
  });

  test('holds everything after the start, and applies a write when its event arrives', async () => {
    await storage.catalog.change(async (writer) => {
      await writer.upstreams.insert('u1', sampleUpstream());
      await writer.models.insert('m1', sampleModel({ aliases: ['quick'] }));
      await writer.keyGroups.insert('g1', sampleGroup());
      await writer.accessKeys.insert('a1', sampleKey());
    });
    source.start();
    watcher = createCatalogWatcher({ bus, logger, pollMs: 60_000 });
    await watcher.start();
    expect(watcher.ready).toBe(true);
    expect(watcher.current()?.names.get('quick')?.canonical).toBe('fast');
    expect(watcher.current()?.accessKeys.get('a'.repeat(64))?.name).toBe('ada');
    const received: number[] = [];
    watcher.onChange(({ revision }) => received.push(revision));
    const { revision } = await addGroup('second');
    // By the news: the next poll is a minute away.
    expect(await until(() => watcher.current()?.keyGroups.has('second') ?? false)).toBeLessThan(20_000);
    expect(received).toEqual([revision]);
    expect(watcher.current()?.models).toBe((await watcher.at(revision - 1)).models);
  });

  test('lost news is repaired by the poll', async () => {
    source.start();
    await watcher.start();
    sourceBus.losing = true;
    const { revision } = await addGroup('unheard');
    await until(() => watcher.current()?.revision === revision);
  });

  test('waits for a console that comes later', async () => {
    await watcher.start();
    expect(watcher.ready).toBe(false);
    expect(watcher.current()).toBeNull();
    source.start();
    await until(() => watcher.ready);
  });

  test('goes on with what it knows while console or database are away', async () => {
    await addGroup('known');
    source.start();
    await watcher.start();
    await source.stop();
    await addGroup('later');
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(watcher.ready).toBe(true);
    expect(watcher.current()?.keyGroups.has('known')).toBe(true);
    expect(watcher.current()?.keyGroups.has('later')).toBe(false);
    source = createCatalogSource({ storage, bus: sourceBus, logger });
    source.start();
    await until(() => watcher.current()?.keyGroups.has('later') ?? false);
  });

  test('gives pinned revisions, fetches a newer one, refuses what is gone', async () => {
    source.start();
    await watcher.start();
    const first = watcher.current()!;
    await addGroup('one');
    await until(() => watcher.current() !== first);
    expect(watcher.at(first.revision)).toBe(first);
    sourceBus.losing = true;
    const { revision } = await addGroup('two');
    const asked = [watcher.at(revision), watcher.at(revision)];
    const [a, b] = await Promise.all(asked);
    expect(a?.keyGroups.has('two')).toBe(true);
    expect(a).toBe(b);
    await expect(watcher.at(first.revision - 1)).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(watcher.at(revision + 10)).rejects.toMatchObject({ code: 'service_unavailable' });
  });

  test('a revision that another service already holds can be had although a newer one exists', async () => {
    source.start();
    await watcher.start();
    const late = createCatalogWatcher({ bus, logger, pollMs: 60_000 });
    await late.start();
    const { revision } = await addGroup('one');
    await until(() => watcher.current()?.revision === revision);
    sourceBus.losing = true;
    await addGroup('two');
    expect((await late.at(revision)).keyGroups.has('two')).toBe(false);
    await late.stop();
  });

  test('a revision that was passed over here, and that another service loaded, can be had', async () => {
    source.start();
    await watcher.start();
    sourceBus.losing = true;
    const { revision } = await addGroup('one');
    const other = createCatalogWatcher({ bus, logger, pollMs: 60_000 });
    await other.start();
    await addGroup('two');
    await until(() => watcher.current()?.revision === revision + 1);
    // This watcher's poll may have fallen between the two.
    const passed = await watcher.at(revision);
    expect(passed.keyGroups.has('one')).toBe(true);
    expect(passed.keyGroups.has('two')).toBe(false);
    expect(watcher.current()?.revision).toBe(revision + 1);
    await other.stop();
  });

  test('a revision that nobody loaded can be had while the history has it', async () => {
    source.start();
    await watcher.start();
    const follower = createCatalogWatcher({ bus, logger, pollMs: 60_000 });
    await follower.start();
    await storage.catalog.change(async (writer) => {
      await writer.upstreams.insert('u1', sampleUpstream());
      await writer.models.insert('m1', sampleModel({ aliases: ['quick'] }));
      await writer.keyGroups.insert('g1', sampleGroup());
      await writer.accessKeys.insert('a1', sampleKey());
    });
    const { revision } = await addGroup('one');
    await until(() => follower.current()?.revision === revision);
    sourceBus.losing = true;
    await storage.catalog.change(async (writer) => {
      await writer.accessKeys.remove((await writer.accessKeys.find('ada'))!);
      const model = (await writer.models.find('fast'))!;
      await writer.models.update(model, { ...model.document, enabled: false });
    });
    await addGroup('two');
    const late = createCatalogWatcher({ bus, logger, pollMs: 60_000 });
    await late.start();
    expect(late.current()?.revision).toBe(revision + 2);
    const had = await late.at(revision);
    const { names: _, ...expected } = follower.current()!;
    expect(had).toMatchObject(expected);
    expect([...had.names.keys()]).toEqual([...follower.current()!.names.keys()]);
    expect(late.current()?.revision).toBe(revision + 2);
    await Promise.all([late.stop(), follower.stop()]);
  });

  test('a database that was set back is followed', async () => {
    await addGroup('one');
    await addGroup('two');
    source.start();
    await watcher.start();
    await source.stop();
    const older = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger });
    await older.migrate();
    const olderSource = createCatalogSource({ storage: older, bus: sourceBus, logger });
    olderSource.start();
    await until(() => watcher.current()?.keyGroups.size === 0);
    await olderSource.stop();
    await older.close();
  });

  test.each([
    ['by the poll', 50],
    ['by the next commit', 60_000],
  ])('a database that was set back, and has the number of the revision again, is followed %s', async (_, pollMs) => {
    await addGroup('one');
    await addGroup('two');
    source.start();
    watcher = createCatalogWatcher({ bus, logger, pollMs });
    await watcher.start();
    const before = watcher.current()!.revision;
    await source.stop();
    let time = Date.now() + 1000;
    const restored = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger, now: () => time++ });
    await restored.migrate();
    const add = (name: string) => restored.catalog.change((writer) => writer.keyGroups.insert(`id-${name}`, sampleGroup({ name })));
    await add('three');
    await add('four');
    expect(await restored.catalog.revision()).toBe(before);
    const restoredSource = createCatalogSource({ storage: restored, bus: sourceBus, logger });
    restoredSource.start();
    const has = (...names: string[]) => JSON.stringify([...watcher.current()!.keyGroups.keys()]) === JSON.stringify(names);
    if (pollMs < 1000) await until(() => has('four', 'three'));
    await add('five');
    await until(() => has('five', 'four', 'three'));
    expect(watcher.current()?.revision).toBe(before + 1);
    await restoredSource.stop();
    await restored.close();
  });

  /** An upstream with something secret in every place, also where earlier versions or a careless admin put it in the clear. */
  const guarded = (over: Partial<UpstreamDocument> = {}) =>
    sampleUpstream({
      api_keys: [{ id: 'k1', sealed: 'CANARY-key', weight: 3, account: 'acme' }],
      custom_headers: { authorization: 'Bearer CANARY-header' },
      sealed_headers: { 'x-api-token': 'CANARY-sealed-header' },
      proxy: { url: 'http://proxy.example:3128', sealed: 'CANARY-proxy' },
      dns: { servers: ['https://dns.example/CANARY-dns'], ttl_secs: null },
      tls: { ca: null, client_cert: null, min_version: null, server_name: null, sealed_key: 'CANARY-tls' },
      extra_config: { api_key: 'CANARY-config', max_output_tokens: 4096, nested: { token: 'CANARY-nested' } },
      request_transform_before: 'set("x", "CANARY-script")',
      ...over,
    });
  const deepPrint = (value: unknown): string => JSON.stringify(value, (_, part) => (part instanceof Map ? [...part] : part));

  test('a service without the master key gets no secrets: neither in a full load, nor in events, nor in earlier revisions', async () => {
    const received: string[] = [];
    bus.listen('catalog.changed-redacted', (event) => received.push(JSON.stringify(event)));
    source.start();
    const redacted = createCatalogWatcher({ bus, logger, redacted: true, pollMs: 60_000 });
    await redacted.start();
    await watcher.start();
    const { revision } = await storage.catalog.change(async (writer) => {
      await writer.upstreams.insert('u1', guarded());
      await writer.models.insert(
        'm1',
        sampleModel({ direct_path: true, base_url: 'https://h/v1?key=CANARY-query', extra_config: { context_window: 9000, k: 'CANARY-model' } }),
      );
      await writer.keyGroups.insert('g1', sampleGroup());
      await writer.accessKeys.insert('a1', sampleKey({ sealed: 'CANARY-access-key' }));
    });
    const late = createCatalogWatcher({ bus, logger, redacted: true, pollMs: 60_000 });
    await late.start();
    await until(() => watcher.current()?.revision === revision && redacted.current()?.revision === revision);
    await addGroup('more');
    const historic = createCatalogWatcher({ bus, logger, redacted: true, pollMs: 60_000 });
    await historic.start();
    await source.stop();
    source = createCatalogSource({ storage, bus: sourceBus, logger });
    source.start();
    for (const snapshot of [redacted.current()!, late.current()!, historic.current()!, await historic.at(revision)]) {
      expect(deepPrint(snapshot)).not.toContain('CANARY');
      expect(deepPrint(snapshot)).not.toContain('"sealed');
      expect(snapshot.upstreams.get('main')).toMatchObject({ api_keys: [{ id: 'k1', weight: 3, account: 'acme' }], extra_config: { max_output_tokens: 4096 } });
      expect(snapshot.upstreams.get('main')?.request_transform_before).toBeTruthy();
      expect(snapshot.models.get('fast')).toMatchObject({ base_url: 'https://h/v1', extra_config: { context_window: 9000 } });
      expect(snapshot.accessKeys.get('a'.repeat(64))).toEqual(watcher.current()?.accessKeys.get('a'.repeat(64)));
    }
    expect(received.join()).toContain('"k1"');
    expect(received.join()).not.toContain('CANARY');
    expect(watcher.current()?.upstreams.get('main')).toMatchObject({ api_keys: [{ sealed: 'CANARY-key' }] });
    await Promise.all([redacted.stop(), late.stop(), historic.stop()]);
  });

  test('a rotated key is a changed upstream without it too', async () => {
    const { revision } = await storage.catalog.change((writer) => writer.upstreams.insert('u1', guarded()));
    source.start();
    const redacted = createCatalogWatcher({ bus, logger, redacted: true, pollMs: 20 });
    await redacted.start();
    const before = redacted.current()!.upstreams.get('main');
    sourceBus.losing = true;
    await addGroup('other');
    await until(() => redacted.current()!.revision > revision);
    expect(redacted.current()!.upstreams.get('main')).toBe(before);
    await storage.catalog.change(async (writer) => {
      const row = (await writer.upstreams.find('main'))!;
      await writer.upstreams.update(row, { ...row.document, api_keys: [{ id: 'k1', sealed: 'CANARY-next', weight: 3, account: 'acme' }] });
    });
    await until(() => redacted.current()!.upstreams.get('main') !== before);
    await redacted.stop();
  });

  test('carries twenty thousand keys under credit', async () => {
    await storage.catalog.change(async (writer) => {
      await writer.keyGroups.insert('g1', sampleGroup());
      for (let index = 0; index < 20_000; index++) {
        await writer.accessKeys.insert(`a${index}`, sampleKey({ name: `key-${index}`, hash: index.toString(16).padStart(64, '0') }));
      }
    });
    source.start();
    await watcher.start();
    expect(watcher.current()?.accessKeys.size).toBe(20_000);
    await addGroup('more');
    await until(() => watcher.current()?.keyGroups.has('more') ?? false);
  });
});
