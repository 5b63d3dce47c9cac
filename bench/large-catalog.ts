/**
 * What routing costs with 2,000 models, 200 upstreams, 20,000 access keys: loading such a catalog (time, heap) and planning a request (CPU).
 * `node --expose-gc bench/large-catalog.ts`; ends with 1 when a promise is broken (≤ 1 s, ≤ 150 MiB, ≤ 60 µs).
 */

import { buildSnapshot } from '@model-gateway/catalog';
import type { AccessKeyRecord, CatalogRows, LoadBalancer, Model, PlanRequest, UpstreamRecord } from '@model-gateway/contracts';
import { keyGroupSchema, loadBalancerSchema, modelSchema, upstreamSchema } from '@model-gateway/contracts';
import { buildPlan, isGranted, RoutingState, resolveName } from '@model-gateway/routing';

const count = { upstreams: 200, models: 2000, keys: 20_000, groups: 50, balancers: 100 };
const list = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));

const {
  proxy: _proxy,
  tls: _tls,
  dns: _dns,
  ...plain
} = upstreamSchema.parse({ name: 'any', protocol: 'alpha', base_url: 'https://any.example.com/v1', api_keys: [] });
const upstreams: UpstreamRecord[] = list(count.upstreams, (index) => ({
  ...plain,
  name: `upstream-${index}`,
  base_url: `https://host-${index}.example.com/v1`,
  id: `id-${index}`,
  api_keys: list(1 + (index % 8), (key) => ({ id: `key-${index}-${key}`, sealed: 'x'.repeat(120), weight: key % 4 })),
}));
const models: Model[] = list(count.models, (index) =>
  modelSchema.parse({
    name: `model-${index}`,
    upstream: `upstream-${index % count.upstreams}`,
    upstream_model_id: `vendor-${index}`,
    aliases: [`alias-${index}`],
  }),
);
const load_balancers: LoadBalancer[] = list(count.balancers, (index) =>
  loadBalancerSchema.parse({
    name: `pool-${index}`,
    strategy: (['weighted', 'priority', 'least_latency'] as const)[index % 3],
    static_binding: index % 4 === 0,
    entries: list(8, (entry) => ({ model: `model-${(index * 8 + entry) % count.models}`, weight: 1 + entry })),
  }),
);
const key_groups = list(count.groups, (index) =>
  keyGroupSchema.parse({ name: `group-${index}`, models: list(400, (model) => `model-${(index * 37 + model) % count.models}`).concat('pool-*', 'alias-*') }),
);
const access_keys: AccessKeyRecord[] = list(count.keys, (index) => ({
  name: `access-key-${index}`,
  group: `group-${index % count.groups}`,
  enabled: true,
  expires_at: null,
  hash: index.toString(16).padStart(64, '0'),
}));
const rows: CatalogRows = { revision: 1, upstreams, models, load_balancers, load_balancer_pins: [], key_groups, access_keys };

const bytes = Buffer.from(JSON.stringify(rows));
const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined);
const load = () => buildSnapshot(JSON.parse(bytes.toString('utf8')) as CatalogRows);
load();
collect();
const heapBefore = process.memoryUsage().heapUsed;
const began = performance.now();
const snapshot = load();
const loadMs = performance.now() - began;
// One alone drowns in what the collector gives back meanwhile.
const several = [snapshot, load(), load(), load()];
collect();
const heapMiB = (process.memoryUsage().heapUsed - heapBefore) / 2 ** 20 / several.length;

const edited = JSON.parse(bytes.toString('utf8')) as CatalogRows;
edited.revision = 2;
const editBegan = performance.now();
buildSnapshot(edited, snapshot);
const editMs = performance.now() - editBegan;

const state = new RoutingState({ bindings: { ttlMs: 1_800_000 }, random: Math.random });
const groups = [...snapshot.keyGroups.values()];
let clock = 0;
const request = (model: string, index: number): PlanRequest => ({
  requestId: 'r',
  revision: 1,
  model,
  accessKey: `access-key-${index % count.keys}`,
  keyGroup: `group-${index % count.groups}`,
  clientProtocol: 'alpha',
  operation: 'generate',
  stream: false,
});

/** Microseconds of CPU a request: what the edge and the router do together. */
function measure(name: string, nameOf: (index: number) => string): number {
  const turns = 100_000;
  const run = (times: number) => {
    for (let index = 0; index < times; index++) {
      const asked = nameOf(index);
      isGranted(groups[index % groups.length]!, resolveName(snapshot, asked).canonical);
      clock += 0.1;
      buildPlan(snapshot, request(asked, index), { state, now: clock });
    }
  };
  run(turns / 5);
  const before = process.cpuUsage();
  run(turns);
  const { user, system } = process.cpuUsage(before);
  const cost = (user + system) / turns;
  process.stdout.write(`${name.padEnd(34)} ${cost.toFixed(2).padStart(7)} µs\n`);
  return cost;
}

process.stdout.write(
  `catalog of ${(bytes.length / 2 ** 20).toFixed(1)} MiB: loaded in ${loadMs.toFixed(0)} ms, ${heapMiB.toFixed(0)} MiB of heap; the next revision ${editMs.toFixed(0)} ms\n`,
);
const costs = [
  measure('a model', (index) => `model-${index % count.models}`),
  measure('an alias', (index) => `alias-${index % count.models}`),
  measure('a load balancer of eight', (index) => `pool-${index % count.balancers}`),
];
for (const { name } of upstreams.slice(0, 50))
  for (const model of models.filter(({ upstream }) => upstream === name).slice(0, 3))
    for (let failure = 0; failure < 6; failure++)
      state.health.record({ model: model.name, upstream: name, key: `key-${name.slice(9)}-0`, sign: 'node', ok: 0 }, model, clock);
costs.push(measure('a load balancer, with failures', (index) => `pool-${index % count.balancers}`));
const kept = several.every(({ revision }) => revision === 1) && loadMs <= 1000 && heapMiB <= 150 && costs.every((cost) => cost <= 60);
process.exit(kept ? 0 : 1);
