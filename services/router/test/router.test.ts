/** The router on the memory bus: plans, refusals, and its readiness. */
import { afterEach, expect, test } from '@jest/globals';
import { type Bus, createMemoryBus } from '@model-gateway/bus';
import { buildSnapshot, type CatalogWatcher } from '@model-gateway/catalog';
import { type KeyGroup, modelSchema, type PlanRequest, type UpstreamRecord, upstreamSchema } from '@model-gateway/contracts';
import type { Service } from '@model-gateway/service-runtime';
import { createLogger } from '@model-gateway/telemetry';
import { createRouter } from '../src/index.ts';

const group: KeyGroup = { name: 'group', models: ['*'], header_acl: [], strict_translation: false, enabled: true, description: '' };
const key = (id: string, weight: number) => ({ id, weight, sealed: 'sealed' });
const upstream = (name: string, weights: number[], enabled = true): UpstreamRecord => ({
  ...upstreamSchema.parse({ name, protocol: 'alpha', base_url: 'https://u.test', api_keys: [], enabled }),
  proxy: undefined,
  dns: undefined,
  tls: undefined,
  id: name,
  api_keys: weights.map((weight, at) => key(`k${at}`, weight)),
});
const snapshot = (revision: number, weights: number[]) =>
  buildSnapshot({
    revision,
    upstreams: [upstream('up', weights), upstream('off', [1], false), upstream('open', [])],
    models: [
      modelSchema.parse({ name: 'real', upstream: 'up', upstream_model_id: 'x', aliases: ['nick'] }),
      modelSchema.parse({ name: 'hidden', upstream: 'up', upstream_model_id: 'x', aliases: ['shown'], hide_name: true }),
      modelSchema.parse({ name: 'resting', upstream: 'off', upstream_model_id: 'x' }),
      modelSchema.parse({ name: 'gone', upstream: 'up', upstream_model_id: 'x', enabled: false }),
      modelSchema.parse({ name: 'keyless', upstream: 'open', upstream_model_id: 'x' }),
    ],
    key_groups: [group],
    access_keys: [],
  });

let bus: Bus;
let router: Service;
const asked: number[] = [];
async function start(ready = true): Promise<void> {
  bus = createMemoryBus({ logger: createLogger({ level: 'silent', name: 'test' }), strict: true });
  const snapshots = new Map([
    [1, snapshot(1, [0, 3, 1])],
    [2, snapshot(2, [1])],
  ]);
  const catalog = {
    start: async () => {},
    stop: async () => {},
    ready,
    onChange: () => () => {},
    current: () => snapshots.get(1) ?? null,
    at: async (revision: number) => {
      asked.push(revision);
      return snapshots.get(revision);
    },
  } as unknown as CatalogWatcher;
  router = createRouter({ bus, catalog, config: { keyBindingTtlMs: 60_000 } });
  await router.start();
}
afterEach(async () => {
  await router.stop();
  await bus.drain();
});

const ask = (model: string, more: Partial<PlanRequest> = {}) =>
  bus.ask('router.plan', {
    requestId: 'r',
    revision: 1,
    model,
    accessKey: 'caller',
    keyGroup: 'group',
    clientProtocol: 'beta',
    operation: 'generate',
    stream: false,
    ...more,
  });

test('every key once, weighted ones first, standbys last; the same order for the same caller', async () => {
  await start();
  const plan = await ask('nick');
  expect(plan).toMatchObject({ revision: 1, model: 'real', balanced: false });
  const order = plan.nodes[0]!.keys;
  expect([...order].sort()).toEqual([0, 1, 2]);
  expect(order[2]).toBe(0);
  expect(await ask('nick')).toEqual(plan);
});

test('callers spread over keys by weight', async () => {
  await start();
  const first = new Map<number, number>();
  for (let caller = 0; caller < 400; caller++) {
    const index = (await ask('real', { accessKey: `caller-${caller}` })).nodes[0]!.keys[0]!;
    first.set(index, (first.get(index) ?? 0) + 1);
  }
  expect(first.get(0)).toBeUndefined();
  expect(first.get(1)).toBeGreaterThan(250);
  expect(first.get(2)).toBeGreaterThan(50);
});

test('an upstream without keys gets one attempt without one', async () => {
  await start();
  expect((await ask('keyless')).nodes).toEqual([{ model: 'keyless', upstream: 'open', keys: [-1] }]);
});

test('plans against the revision that the edge admitted the request with', async () => {
  await start();
  asked.length = 0;
  expect((await ask('real', { revision: 2 })).nodes[0]!.keys).toHaveLength(1);
  expect(asked).toEqual([2]);
});

test.each([
  ['unknown', 'model_not_found', 404],
  ['gone', 'model_not_found', 404],
  ['hidden', 'model_not_found', 404],
  ['resting', 'upstream_disabled', 503],
  ['__proto__', 'model_not_found', 404],
])('%s: %s', async (model, code, status) => {
  await start();
  await expect(ask(model)).rejects.toMatchObject({ code, status });
});

test('a hidden model answers to its alias', async () => {
  await start();
  expect((await ask('shown')).model).toBe('hidden');
});

test('ready when the bus and the catalog are; once stopped, draining and out of the queue', async () => {
  await start(false);
  expect(router.health()).toEqual({ ready: false, reasons: ['catalog'] });
  await router.stop();
  expect(router.health().reasons).toContain('draining');
  await expect(ask('real')).rejects.toMatchObject({ code: 'service_unavailable' });
});
