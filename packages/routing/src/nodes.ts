/** The nodes that could serve a request, and why some are held back: disabled, waiting (`Retry-After`), or ejected for their health. */
import type { LoadBalancer, Model, PlannedNode, SealedUpstreamKey, Snapshot, UpstreamRecord } from '@model-gateway/contracts';
import type { KeyBindings } from './bindings.ts';
import type { Circuit } from './circuit.ts';
import type { Health } from './health.ts';
import { orderKeys } from './pick-key.ts';

/** State of a node. `ejected` nodes are asked only after the healthy ones; `waiting` and `disabled` ones never. */
export type NodeState = 'healthy' | 'probing' | 'ejected' | 'waiting' | 'disabled';

/** A node of a load balancer, or a single model, with its state for this request; times in ms of the router's clock. */
export interface Node {
  model: string;
  weight: number;
  state: NodeState;
  /** Why it is not healthy. */
  reason: string | null;
  record: Model | null;
  upstream: UpstreamRecord | null;
  /** Milliseconds until it may be asked again, when it waits or is ejected. */
  waitMs: number;
  /** The breaker whose probe this request would be. */
  due: Circuit | null;
  ejectedAt: number;
}

const off = (model: string, weight: number, reason: string): Node => ({
  model,
  weight,
  state: 'disabled',
  reason,
  record: null,
  upstream: null,
  waitMs: 0,
  due: null,
  ejectedAt: 0,
});

/** One node for each entry, in their order, with the cap on ejections applied. */
export function balancerNodes(snapshot: Snapshot, balancer: LoadBalancer, health: Health, now: number): Node[] {
  const nodes = balancer.entries.map((entry) => {
    const { model, weight, enabled } = entry;
    return enabled ? nodeOf(snapshot, entry, health, now) : off(model, weight, 'entry_disabled');
  });
  restrictEjections(nodes);
  return nodes;
}

function nodeOf(snapshot: Snapshot, { model: name, weight }: { model: string; weight: number }, health: Health, now: number): Node {
  const record = snapshot.models.get(name);
  if (!record?.enabled) return off(name, weight, record ? 'model_disabled' : 'model_missing');
  const upstream = snapshot.upstreams.get(record.upstream);
  if (!upstream?.enabled) return off(name, weight, 'upstream_disabled');
  if (upstream.unavailable !== undefined) return off(name, weight, upstream.unavailable);
  return { ...conditionOf(record, upstream, health, now), model: name, weight, record, upstream };
}

type Condition = Pick<Node, 'state' | 'reason' | 'waitMs' | 'due' | 'ejectedAt'>;
const healthy: Condition = { state: 'healthy', reason: null, waitMs: 0, due: null, ejectedAt: 0 };

/** The keys under which outcomes are published: an upstream without keys has one that is named ''. */
export const keyIds = ({ api_keys }: UpstreamRecord): readonly { id: string }[] => (api_keys.length > 0 ? api_keys : [{ id: '' }]);

/** A node's state is that of its best key. */
export function conditionOf(model: Model, upstream: UpstreamRecord, health: Health, now: number): Condition {
  if (!health.hasTroubles(upstream.name)) return healthy;
  let best: Condition | undefined;
  for (const { id } of keyIds(upstream)) {
    const obstacle = health.obstacle(model, upstream, id, now);
    if (!obstacle) return healthy;
    const found: Condition =
      obstacle.kind === 'waiting'
        ? { ...healthy, state: 'waiting', reason: 'retry_after', waitMs: obstacle.untilMs - now }
        : byCircuit(obstacle.circuit, `breaker_${obstacle.scope}`, now);
    if (!best || rank[found.state] < rank[best.state] || (found.state === best.state && found.waitMs < best.waitMs)) best = found;
  }
  return best ?? healthy;
}

const rank: Record<NodeState, number> = { healthy: 0, probing: 1, ejected: 2, waiting: 3, disabled: 4 };

function byCircuit(circuit: Circuit, reason: string, now: number): Condition {
  const due = circuit.state(now) === 'half-open';
  return { state: due ? 'probing' : 'ejected', reason, waitMs: circuit.waitMs(now), due: due ? circuit : null, ejectedAt: circuit.openedAt };
}

/** At most half of the nodes are ejected at once, those that failed first; when all failed, the breakers carry no information and all are asked. */
function restrictEjections(nodes: readonly Node[]): void {
  const usable = nodes.filter(({ state }) => state !== 'disabled' && state !== 'waiting');
  const ejected = usable.filter(({ state }) => state === 'ejected');
  if (ejected.length === 0) return;
  const cap = ejected.length === usable.length ? 0 : Math.floor(usable.length / 2);
  if (ejected.length <= cap) return;
  for (const node of ejected.sort((a, b) => a.ejectedAt - b.ejectedAt).slice(cap)) node.state = 'healthy';
}

/** A node with its keys in the order to be tried. `peek`: creates no binding. */
export function planNode(
  model: Model,
  upstream: UpstreamRecord,
  accessKey: string,
  { bindings, health, now, peek }: { bindings: KeyBindings; health: Health; now: number; peek: boolean },
): PlannedNode {
  const keys = upstream.api_keys;
  if (keys.length === 0) return { model: model.name, upstream: upstream.name, keys: [-1] };
  const first = peek ? bindings.peek(keys, accessKey, upstream.name, now).index : bindings.bind(keys, accessKey, upstream.name, now);
  if (keys.length === 1) return { model: model.name, upstream: upstream.name, keys: [0] };
  const late = health.hasTroubles(upstream.name)
    ? (index: number) => health.obstacle(model, upstream, (keys[index] as SealedUpstreamKey).id, now) !== null
    : undefined;
  return { model: model.name, upstream: upstream.name, keys: orderKeys(keys, first, late) };
}
