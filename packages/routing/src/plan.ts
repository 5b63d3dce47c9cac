/** The plan of one request: which nodes may be asked, in which order, and with which keys. */
import type {
  LoadBalancer,
  Model,
  Plan,
  PlannedNode,
  PlanRequest,
  ProtocolId,
  SealedUpstreamKey,
  Snapshot,
  Timeouts,
  UpstreamRecord,
} from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import type { ModelFamily } from '@model-gateway/model-catalog';
import { bindStatically, orderNodes } from './balance.ts';
import type { Circuit } from './circuit.ts';
import { familyOfModel } from './family.ts';
import { resolveName } from './names.ts';
import { balancerNodes, keyIds, type Node, planNode } from './nodes.ts';
import { type FindOwner, isOwner, ownerKey, putKeyFirst } from './owner.ts';
import type { RoutingState } from './state.ts';

/** The router's state, and how the plan may use it. */
export interface PlanContext {
  state: RoutingState;
  /** A monotonic clock in ms. */
  now: number;
  /** Binds nothing, takes no round-robin turn and no probe: for explanations and dry runs. */
  peek?: boolean;
  /** Set when the request carries thinking signatures: their issuer is asked first, if it may be asked at all. */
  findOwner?: FindOwner | undefined;
}

/**
 * Throws 404 for an unknown name, 503 `upstream_disabled`, 502 `upstream_unavailable` for a single upstream whose breaker is open, and 503
 * `no_upstream` for a balancer of which no node can be asked, with the earliest `Retry-After` known.
 */
export function buildPlan(snapshot: Snapshot, request: PlanRequest, context: PlanContext): Plan {
  const { model, balancer } = resolveName(snapshot, request.model, request.internal);
  if (request.operation === 'count-tokens') return planCount(snapshot, model ?? balancer, request, context);
  return model ? planModel(snapshot, model, request, context) : planBalancer(snapshot, balancer, request, context);
}

/** Counting tokens takes no round-robin turn, and works without an upstream when none can be asked. */
function planCount(snapshot: Snapshot, what: Model | LoadBalancer, request: PlanRequest, context: PlanContext): Plan {
  const peeking = { ...context, peek: true };
  try {
    return 'upstream' in what ? planModel(snapshot, what, request, peeking) : planBalancer(snapshot, what, request, peeking);
  } catch (error) {
    if (!isGatewayError(error) || (error.code !== 'upstream_unavailable' && error.code !== 'no_upstream')) throw error;
    return { revision: snapshot.revision, model: what.name, nodes: [], balanced: 'entries' in what };
  }
}

function planModel(snapshot: Snapshot, model: Model, { accessKey }: PlanRequest, { state, now, peek = false, findOwner }: PlanContext): Plan {
  const upstream = snapshot.upstreams.get(model.upstream);
  if (!upstream?.enabled) throw new GatewayError('upstream_disabled');
  if (upstream.unavailable !== undefined) throw new GatewayError('upstream_unavailable', { cause: new Error(upstream.unavailable) });
  const node = planNode(model, upstream, accessKey, { ...state, now, peek });
  if (findOwner) putKeyFirst(node, ownerKey(model, upstream, findOwner, { health: state.health, now }));
  const plan: Plan = { revision: snapshot.revision, model: model.name, nodes: [node], balanced: false };
  if (state.health.hasTroubles(upstream.name)) failFast(node, { model, upstream }, { state, now, peek });
  else if (!findOwner && !peek) plan.lasting = true;
  return plan;
}

/** A single upstream that cannot be reached, or accepts requests and hangs, is not tried again for every caller. One that answers, however badly, is. */
function failFast(node: PlannedNode, { model, upstream }: { model: Model; upstream: UpstreamRecord }, { state, now, peek }: PlanContext): void {
  let due: Circuit | null = null;
  for (const { id } of keyIds(upstream)) {
    const circuit = state.health.deadCircuit(model, upstream, id, now);
    if (!circuit) return;
    if (circuit.state(now) === 'half-open') due ??= circuit;
  }
  if (due && (peek || due.takeProbe(now))) node.probe = true;
  else throw new GatewayError('upstream_unavailable');
}

function planBalancer(snapshot: Snapshot, balancer: LoadBalancer, { accessKey, exclude }: PlanRequest, context: PlanContext): Plan {
  const { state, now, peek = false, findOwner } = context;
  const nodes = balancerNodes(snapshot, balancer, state.health, now);
  const { order, retryAfterMs } = orderBalancer(snapshot, { balancer, nodes, accessKey }, context);
  const planned: PlannedNode[] = [];
  for (const { model, record, upstream } of order) {
    if (!record || !upstream || exclude?.includes(model)) continue;
    // Only the first node binds the caller: the others may never be asked.
    const node = planNode(record, upstream, accessKey, { ...state, now, peek: peek || planned.length > 0 });
    if (findOwner) putKeyFirst(node, ownerKey(record, upstream, findOwner, { health: state.health, now }));
    planned.push(node);
  }
  const [first] = planned;
  if (!first) throw new GatewayError('no_upstream', retryAfterMs === undefined ? {} : { retryAfter: Math.max(1, Math.ceil(retryAfterMs / 1000)) });
  const due = order.find(({ model }) => model === first.model)?.due;
  if (due && !peek && due.takeProbe(now)) first.probe = true;
  if (!peek) state.health.begin(first.model, now);
  return { revision: snapshot.revision, model: balancer.name, nodes: planned, balanced: true, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/**
 * Order: pins, then the issuer of the request's thinking signatures, then the strategy over the healthy nodes, then the ejected ones; waiting and
 * disabled ones are left out.
 */
export function orderBalancer(
  snapshot: Snapshot,
  { balancer, nodes, accessKey }: { balancer: LoadBalancer; nodes: readonly Node[]; accessKey: string },
  { state, now, peek = false, findOwner }: PlanContext,
): { order: Node[]; retryAfterMs: number | undefined } {
  const eligible: Node[] = [];
  const ejected: Node[] = [];
  let retryAfterMs: number | undefined;
  for (const node of nodes) {
    if (node.state === 'healthy' || node.state === 'probing') eligible.push(node);
    else if (node.state === 'ejected') ejected.push(node);
    else if (node.state === 'waiting') retryAfterMs = Math.min(retryAfterMs ?? Number.POSITIVE_INFINITY, node.waitMs);
  }
  const pinned = snapshot.pins.get(balancer.name)?.get(accessKey);
  const favoured = [
    ...(pinned === undefined ? [] : eligible.filter(({ model }) => model === pinned)),
    ...(findOwner === undefined ? [] : eligible.filter((node) => isOwner(node, findOwner)).slice(0, 1)),
  ];
  const { health, random } = state;
  // Pinned requests do not advance the round-robin: otherwise the others would find their turn always taken.
  const looks = peek || favoured.length > 0;
  const order = balancer.static_binding
    ? bindStatically(eligible, accessKey)
    : orderNodes(balancer.strategy, eligible, {
        now,
        random,
        peek: looks,
        rotation: state.rotationOf(balancer),
        cost: (model, at) => health.cost(model, at),
      });
  return { order: [...(favoured.length === 0 ? order : new Set([...favoured, ...order])), ...ejected], retryAfterMs };
}

/** One attempt at a planned node, with one of its keys. */
export interface PlannedAttempt {
  model: string;
  upstream: string;
  /** Position in the upstream's `api_keys`; -1 when it has none. */
  keyIndex: number;
}

/** A planned attempt with everything it refers to, resolved in the plan's own snapshot. */
export interface Route {
  upstream: UpstreamRecord;
  model: Model;
  key: SealedUpstreamKey | null;
  /** The model's override, else the upstream's. */
  protocol: ProtocolId;
  target: {
    baseUrl: string;
    directPath: boolean;
    upstreamModelId: string;
    modelId: string;
    neutralHeaders: boolean;
    extraConfig: Record<string, unknown> | null;
    family: ModelFamily;
    kind: string | null;
  };
  tokenCounting: 'upstreamApi' | 'tiktoken';
  timeouts: Timeouts;
}

/** Records are the same objects in every revision until they are changed, and so is what is made of them. */
const resolved = new WeakMap<Model, { upstream: UpstreamRecord; byKey: Route[] }>();

/** `snapshot` is the one of the plan's revision; 503 when it lacks what the attempt names. Returns the same object for the same records. */
export function resolveTarget(snapshot: Snapshot, attempt: PlannedAttempt): Route {
  const model = snapshot.models.get(attempt.model);
  const upstream = snapshot.upstreams.get(attempt.upstream);
  if (!model || !upstream) throw new GatewayError('no_upstream');
  const known = resolved.get(model);
  const made = known?.upstream === upstream ? known : { upstream, byKey: [] };
  if (made !== known) resolved.set(model, made);
  const key = upstream.api_keys[attempt.keyIndex] ?? null;
  // A plan that names a key never goes out without one.
  if (attempt.keyIndex >= 0 && !key) throw new GatewayError('no_upstream');
  const place = attempt.keyIndex + 1;
  made.byKey[place] ??= makeRoute(model, upstream, key);
  return made.byKey[place];
}

/** What a call of a model is made to: of each setting, the model's own, else the upstream's. */
export function describeTarget(
  model: Omit<Model, 'created_at'>,
  upstream: Pick<UpstreamRecord, 'protocol' | 'base_url' | 'neutral_headers' | 'extra_config'>,
): Pick<Route, 'protocol' | 'target'> {
  return {
    protocol: model.protocol ?? upstream.protocol,
    target: {
      baseUrl: model.base_url ?? upstream.base_url,
      directPath: model.direct_path,
      upstreamModelId: model.inference_profile ?? model.upstream_model_id,
      modelId: model.upstream_model_id,
      neutralHeaders: upstream.neutral_headers,
      extraConfig: model.extra_config || upstream.extra_config ? { ...upstream.extra_config, ...model.extra_config } : null,
      family: familyOfModel(model),
      kind: model.kind || null,
    },
  };
}

/** What a model says of the way to its upstream. A task, or a stored response, may still be at one that the model has left: its keys must not go to the address of another. */
const elsewhere = { protocol: null, base_url: null, direct_path: false, extra_config: null } satisfies Partial<Model>;

function makeRoute(model: Model, upstream: UpstreamRecord, key: SealedUpstreamKey | null): Route {
  return {
    upstream,
    model,
    key,
    ...describeTarget(model.upstream === upstream.name ? model : { ...model, ...elsewhere }, upstream),
    tokenCounting: model.token_counting === 'inherit' ? upstream.token_counting : model.token_counting,
    timeouts: upstream.timeouts,
  };
}
