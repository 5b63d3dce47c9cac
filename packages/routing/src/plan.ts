/** The plan of one request: which upstream calls may be made, in which order. */
import type { Model, Plan, PlannedAttempt, PlanRequest, ProtocolId, SealedUpstreamKey, Snapshot, Timeouts, UpstreamRecord } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/errors';
import { findFamily, type ModelFamily } from '@model-gateway/model-families';
import { resolveName } from './names.ts';
import { orderKeys } from './pick-key.ts';

/** One attempt for each key of the one upstream behind the name. 404 for a name nobody may use, 503 for a disabled upstream. */
export function buildPlan(snapshot: Snapshot, request: PlanRequest): Plan {
  const { model } = resolveName(snapshot, request.model);
  const upstream = snapshot.upstreams.get(model.upstream);
  if (!upstream?.enabled) throw new GatewayError('upstream_disabled');
  return { revision: snapshot.revision, model: model.name, attempts: attemptsOf(model, upstream, request.accessKey), balanced: false };
}

function attemptsOf(model: Model, upstream: UpstreamRecord, accessKey: string): PlannedAttempt[] {
  const weights = upstream.api_keys.map((key) => key.weight);
  const order = weights.length === 0 ? [-1] : orderKeys(weights, accessKey, upstream.name);
  return order.map((keyIndex) => ({ model: model.name, upstream: upstream.name, keyIndex }));
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
    neutralHeaders: boolean;
    extraConfig: Record<string, unknown> | null;
    family: ModelFamily;
    kind: string | null;
  };
  tokenCounting: 'upstreamApi' | 'tiktoken';
  timeouts: Timeouts;
}

/** `snapshot` is the one of the plan's revision; 503 when it lacks what the attempt names. */
export function resolveTarget(snapshot: Snapshot, attempt: PlannedAttempt): Route {
  const model = snapshot.models.get(attempt.model);
  const upstream = snapshot.upstreams.get(attempt.upstream);
  if (!model || !upstream) throw new GatewayError('no_upstream');
  const key = upstream.api_keys[attempt.keyIndex] ?? null;
  // A plan that names a key never goes out without one.
  if (attempt.keyIndex >= 0 && !key) throw new GatewayError('no_upstream');
  const upstreamModelId = model.inference_profile ?? model.upstream_model_id;
  return {
    upstream,
    model,
    key,
    protocol: model.protocol ?? upstream.protocol,
    target: {
      baseUrl: model.base_url ?? upstream.base_url,
      directPath: model.direct_path,
      upstreamModelId,
      neutralHeaders: upstream.neutral_headers,
      extraConfig: model.extra_config || upstream.extra_config ? { ...upstream.extra_config, ...model.extra_config } : null,
      family: familyOf(model, upstreamModelId),
      kind: model.kind || null,
    },
    tokenCounting: model.token_counting === 'inherit' ? upstream.token_counting : model.token_counting,
    timeouts: upstream.timeouts,
  };
}

/** Looked up once for each model of a snapshot: its record is the same object in every revision until it is changed. */
const families = new WeakMap<Model, ModelFamily>();

function familyOf(model: Model, upstreamModelId: string): ModelFamily {
  const known = families.get(model);
  if (known) return known;
  const family = findFamily(upstreamModelId, model.name);
  families.set(model, family);
  return family;
}
