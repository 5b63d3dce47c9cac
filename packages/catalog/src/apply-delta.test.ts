import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CatalogDelta, Snapshot } from '@model-gateway/contracts';
import { openStorage, type Storage, toDelta } from '@model-gateway/storage';
import { sampleGroup, sampleKey, sampleModel, sampleUpstream } from '../../storage/test/samples.ts';
import { applyDelta } from './apply-delta.ts';
import { buildSnapshot } from './snapshot.ts';

let storage: Storage;
beforeAll(async () => {
  storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: { info: () => undefined, warn: () => undefined } });
  await storage.migrate();
});
afterAll(() => storage.close());

const plain = (snapshot: Snapshot): unknown =>
  Object.fromEntries(
    Object.entries(snapshot).map(([name, value]) => [
      name,
      value instanceof Map ? [...value].map(([key, row]) => [key, row instanceof Map ? [...row] : row]) : value,
    ]),
  );
/** Keys are found by hash alone: their order means nothing. */
const comparable = (snapshot: Snapshot): unknown => plain({ ...snapshot, accessKeys: new Map([...snapshot.accessKeys].sort()) });

test('commit after commit, the delta leads where a whole load leads', async () => {
  const { change } = storage.catalog;
  const balancer = {
    name: 'both',
    aliases: [],
    enabled: true,
    strategy: 'weighted' as const,
    static_binding: false,
    entries: [{ model: 'fast', weight: 1, enabled: true }],
  };
  const steps: Parameters<typeof change>[0][] = [
    async (writer) => void (await writer.upstreams.insert('u1', sampleUpstream())),
    async (writer) => {
      await writer.models.insert('m2', sampleModel({ name: 'slow', aliases: [] }));
      await writer.models.insert('m1', sampleModel());
      await writer.keyGroups.insert('g1', sampleGroup());
      await writer.accessKeys.insert('a1', sampleKey());
    },
    async (writer) => {
      await writer.loadBalancers.insert('b1', balancer);
      await writer.balancerLinks.setPin('b1', 'ada', 'fast');
    },
    async (writer) => void (await writer.models.update((await writer.models.find('fast'))!, sampleModel({ aliases: ['brisk'] }))),
    async (writer) => void (await writer.accessKeys.update((await writer.accessKeys.find('ada'))!, sampleKey({ hash: 'f'.repeat(64) }))),
    async (writer) => writer.accessKeys.remove((await writer.accessKeys.find('ada'))!),
    async (writer) => writer.loadBalancers.remove((await writer.loadBalancers.find('both'))!),
    async (writer) => writer.models.remove((await writer.models.find('fast'))!),
  ];
  let snapshot = buildSnapshot(await storage.catalog.load());
  for (const step of steps) {
    const { changes } = await change(step);
    const delta = JSON.parse(JSON.stringify(toDelta(changes))) as CatalogDelta;
    snapshot = applyDelta(snapshot, await storage.catalog.state(), delta);
    expect(comparable(snapshot)).toEqual(comparable(buildSnapshot(await storage.catalog.load())));
  }
  expect(snapshot.pins.size + snapshot.accessKeys.size).toBe(0);
});

test('what did not change is shared, what came is frozen', async () => {
  const before = buildSnapshot(await storage.catalog.load());
  const after = applyDelta(before, { revision: before.revision + 1 }, { models: { put: [sampleModel({ name: 'new', aliases: [] })], gone: [] } });
  expect(after.upstreams).toBe(before.upstreams);
  expect(after.accessKeys).toBe(before.accessKeys);
  expect(Object.isFrozen(after.models.get('new')?.aliases)).toBe(true);
  expect(before.models.has('new')).toBe(false);
});
