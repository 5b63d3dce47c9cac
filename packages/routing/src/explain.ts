/** Explains where a request would go: the plan without its side effects, and the reason for each choice. */

import { switchesOf } from '@model-gateway/body-rules/switches';
import type {
  ExplainedKey,
  ExplainedNode,
  ExplainedSwitch,
  ExplainRequest,
  Explanation,
  KeyGroup,
  LoadBalancer,
  Model,
  Snapshot,
  UpstreamRecord,
} from '@model-gateway/contracts';
import { isGatewayError } from '@model-gateway/contracts/errors';
import { scoreOf } from './balance.ts';
import { isGranted, resolveName } from './names.ts';
import { balancerNodes, conditionOf, type Node, planNode } from './nodes.ts';
import { buildPlan, orderBalancer } from './plan.ts';
import type { RoutingState } from './state.ts';

/** The router's state, which an explanation reads and does not change. */
export interface ExplainContext {
  state: RoutingState;
  /** A monotonic clock in ms. */
  now: number;
}

/** Throws only what a caller would get: a refusal is part of the answer. */
export function explainRoute(snapshot: Snapshot, request: ExplainRequest, context: ExplainContext): Explanation {
  const refusal = refusalOf(() => buildPlan(snapshot, request, { ...context, peek: true }));
  const found = snapshot.names.get(request.model);
  const group = snapshot.keyGroups.get(request.keyGroup);
  const unknown = refusalOf(() => resolveName(snapshot, request.model, request.internal));
  const granted = found !== undefined && (request.internal === true || (group !== undefined && isGranted(group as KeyGroup, found.canonical)));
  const { balancer, model } = found ?? {};
  return {
    requested_model: request.model,
    resolved: found && !unknown ? { name: found.canonical, kind: model ? 'model' : 'load_balancer', via: found.via } : null,
    granted,
    strategy: balancer?.strategy ?? null,
    static_binding: balancer?.static_binding ?? false,
    pinned_to: (balancer && snapshot.pins.get(balancer.name)?.get(request.accessKey)) ?? null,
    switches: unknown
      ? []
      : explainSwitches(snapshot, found?.canonical, model ? [model.name] : (balancer?.entries ?? []).map((entry) => entry.model), request.body),
    nodes: unknown
      ? []
      : balancer
        ? explainBalancer(snapshot, balancer, request.accessKey, context)
        : model
          ? [explainModel(snapshot, model, request.accessKey, context)]
          : [],
    limits: [],
    refusal: unknown ?? (granted ? refusal : { code: 'model_not_granted', status: 403, message: 'The group of this access key does not grant this model.' }),
  };
}

/** Rules of these models and their upstreams that match this body. A rule that names the current target is left out. */
function explainSwitches(snapshot: Snapshot, asked: string | undefined, models: readonly string[], body: string | undefined): ExplainedSwitch[] {
  if (body === undefined) return [];
  const bytes = Buffer.from(body, 'utf8');
  const found = new Map<string, ExplainedSwitch>();
  for (const name of models) {
    const model = snapshot.models.get(name);
    const upstream = model && snapshot.upstreams.get(model.upstream);
    for (const { owner, index, useModel } of (upstream && switchesOf(upstream, model)?.holding(bytes)) ?? [])
      if (useModel !== name && useModel !== asked) found.set(`${index} ${owner}`, { owner, index, use_model: useModel });
  }
  return [...found.values()];
}

function refusalOf(work: () => unknown): Explanation['refusal'] {
  try {
    work();
    return null;
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return { code: error.code, status: error.status, message: error.message };
  }
}

/** What each strategy's figure means; `priority` uses none. */
const scoreKinds = { weighted: 'turn_credit', least_latency: 'fading_cost_ms', static: 'binding_hash', priority: null } as const;

/** The state of a load balancer's nodes, in their own order, and the position each would have for this access key. */
export function explainBalancer(snapshot: Snapshot, balancer: LoadBalancer, accessKey: string, { state, now }: ExplainContext): ExplainedNode[] {
  const nodes = balancerNodes(snapshot, balancer, state.health, now);
  const { order } = orderBalancer(snapshot, { balancer, nodes, accessKey }, { state, now, peek: true });
  const by = balancer.static_binding ? 'static' : balancer.strategy;
  const { health, random } = state;
  const context = { now, random, peek: true, rotation: state.rotationOf(balancer), cost: (model: string, at: number) => health.cost(model, at) };
  return nodes.map((node) => {
    const position = order.indexOf(node) + 1;
    const score = node.state === 'disabled' ? null : scoreOf(node, by, accessKey, context);
    return {
      ...describeNode(node, accessKey, { state, now }),
      reason: node.reason ?? (position === 1 ? null : 'later_in_order'),
      position: position === 0 ? null : position,
      score,
      score_kind: score === null ? null : scoreKinds[by],
    };
  });
}

function explainModel(snapshot: Snapshot, model: Model, accessKey: string, { state, now }: ExplainContext): ExplainedNode {
  const upstream = snapshot.upstreams.get(model.upstream) ?? null;
  const away = upstream?.enabled ? upstream.unavailable : 'upstream_disabled';
  const stands = upstream && away === undefined ? conditionOf(model, upstream, state.health, now) : null;
  const node: Node = {
    ...(stands ?? { state: 'disabled', reason: away ?? 'upstream_disabled', waitMs: 0, due: null, ejectedAt: 0 }),
    model: model.name,
    weight: 1,
    record: model,
    upstream,
  };
  return { ...describeNode(node, accessKey, { state, now }), position: stands ? 1 : null, score: null };
}

function describeNode({ model, weight, state: standsAs, reason, record, upstream, waitMs }: Node, accessKey: string, context: ExplainContext): ExplainedNode {
  return {
    model,
    upstream: upstream?.name ?? record?.upstream ?? null,
    upstream_model_id: record ? (record.inference_profile ?? record.upstream_model_id) : null,
    upstream_protocol: record?.protocol ?? upstream?.protocol ?? null,
    weight,
    state: standsAs,
    reason,
    position: null,
    score: null,
    score_kind: null,
    latency_ms: tenths(context.state.health.lastLatencyMs(model)),
    retry_after_ms: waitMs > 0 ? Math.ceil(waitMs) : null,
    keys: record && upstream && standsAs !== 'disabled' ? explainKeys(record, upstream, accessKey, context) : [],
  };
}

const tenths = (value: number | null): number | null => (value === null ? null : Math.round(value * 10) / 10);

function explainKeys(model: Model, upstream: UpstreamRecord, accessKey: string, { state, now }: ExplainContext): ExplainedKey[] {
  const { keys: order } = planNode(model, upstream, accessKey, { ...state, now, peek: true });
  const bound = state.bindings.peek(upstream.api_keys, accessKey, upstream.name, now);
  return order.flatMap((index, at): ExplainedKey[] => {
    const key = upstream.api_keys[index];
    if (!key) return [];
    const obstacle = state.health.obstacle(model, upstream, key.id, now);
    const why = key.weight === 0 ? 'standby' : index !== bound.index ? 'rotation' : upstream.api_keys.length === 1 ? 'only_key' : bound.source;
    return [
      {
        index,
        id: key.id,
        weight: key.weight,
        position: at + 1,
        why,
        obstacle: obstacle === null ? null : obstacle.kind === 'waiting' ? 'retry_after' : `breaker_${obstacle.scope}`,
      },
    ];
  });
}
