/** The models that a request for a name may reach, before it is planned. */
import type { Model, ResolvedName, Snapshot } from '@model-gateway/contracts';

/** A snapshot is replaced with each change: what was found in it goes with it. */
const found = new WeakMap<Snapshot, Map<string, readonly Model[]>>();

/** Every enabled entry of a load balancer, and every model that a `switch-route` rule on the way names. Models chosen by scripts are not known. */
export function reachableModels(snapshot: Snapshot, named: ResolvedName): readonly Model[] {
  let known = found.get(snapshot);
  if (!known) {
    known = new Map();
    found.set(snapshot, known);
  }
  let models = known.get(named.canonical);
  if (!models) {
    models = [...walk(snapshot, named)];
    known.set(named.canonical, models);
  }
  return models;
}

function walk(snapshot: Snapshot, named: ResolvedName): Set<Model> {
  const models = new Set<Model>();
  const ways = new Set<string>([named.canonical]);
  const add = (model: Model): void => {
    models.add(model);
    const rules = [...(snapshot.upstreams.get(model.upstream)?.request_body_rules ?? []), ...(model.request_body_rules ?? [])];
    for (const { mode, use_model } of rules) if (mode === 'switch-route' && use_model) ways.add(use_model);
  };
  // A set is walked in order, what is added on the way included.
  for (const way of ways) {
    const { model, balancer } = snapshot.names.get(way) ?? {};
    if (model) add(model);
    for (const entry of balancer?.entries ?? []) {
      const member = entry.enabled ? snapshot.models.get(entry.model) : undefined;
      if (member) add(member);
    }
  }
  return models;
}
