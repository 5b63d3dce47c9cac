/** Small resources and snapshots that the suites vary. */
import type { BalancerPin, KeyGroup, LoadBalancer, Model, PlanRequest, ResolvedName, Snapshot, UpstreamRecord } from '@model-gateway/contracts';
import { RoutingState } from '../src/index.ts';

export const model = (name: string, more: Partial<Model> = {}): Model => ({
  name,
  upstream: 'up',
  upstream_model_id: `real-${name}`,
  aliases: [],
  hide_name: false,
  signature_passthrough: false,
  protocol: null,
  base_url: null,
  direct_path: false,
  kind: null,
  inference_profile: null,
  token_counting: 'inherit',
  extra_config: null,
  enabled: true,
  ...more,
});
export const upstream = (name: string, more: Partial<UpstreamRecord> = {}): UpstreamRecord => ({
  id: `id-${name}`,
  name,
  protocol: 'alpha',
  base_url: 'https://h',
  api_keys: [],
  enabled: true,
  custom_headers: {},
  user_agent: null,
  token_counting: 'upstreamApi',
  timeouts: {},
  on_client_abort: 'cancel',
  neutral_headers: false,
  extra_config: null,
  ...more,
});
export function snapshotOf(models: Model[], upstreams: UpstreamRecord[], balancers: LoadBalancer[] = [], pins: BalancerPin[] = []): Snapshot {
  const names = new Map<string, ResolvedName>();
  for (const one of models) {
    names.set(one.name, { model: one, canonical: one.name, via: 'canonical' });
    for (const alias of one.aliases) names.set(alias, { model: one, canonical: one.name, via: 'alias' });
  }
  for (const one of balancers) {
    names.set(one.name, { balancer: one, canonical: one.name, via: 'canonical' });
    for (const alias of one.aliases) names.set(alias, { balancer: one, canonical: one.name, via: 'alias' });
  }
  return {
    revision: 7,
    upstreams: new Map(upstreams.map((one) => [one.name, one])),
    models: new Map(models.map((one) => [one.name, one])),
    loadBalancers: new Map(balancers.map((one) => [one.name, one])),
    pins: new Map(balancers.map(({ name }) => [name, new Map(pins.filter((pin) => pin.load_balancer === name).map((pin) => [pin.access_key, pin.entry]))])),
    names,
    keyGroups: new Map(),
    pricing: new Map(),
    searchProviders: new Map(),
    searchConfig: null,
    mcpServers: new Map(),
    accessKeys: new Map(),
  };
}
export const ask = (name: string, more: Partial<PlanRequest> = {}): PlanRequest => ({
  requestId: 'r',
  revision: 7,
  model: name,
  accessKey: 'k',
  keyGroup: 'g',
  clientProtocol: 'alpha',
  operation: 'generate',
  stream: false,
  ...more,
});
export const group = (models: string[]): KeyGroup => ({ name: 'g', models, header_acl: [], strict_translation: false, enabled: true, description: '' });

export const balancer = (name: string, entries: readonly (readonly [model: string, weight: number])[], more: Partial<LoadBalancer> = {}): LoadBalancer => ({
  name,
  aliases: [],
  enabled: true,
  strategy: 'weighted',
  entries: entries.map(([model, weight]) => ({ model, weight, enabled: true })),
  static_binding: false,
  ...more,
});

/** A state whose random is always the same. */
export const freshState = (random: () => number = () => 0.5): RoutingState => new RoutingState({ bindings: { ttlMs: 1000 }, random });
