import type { PlanRequest } from '../plan.ts';
import type { ProtocolId } from '../protocol-id.ts';

/** What a router would do with a request: nothing is sent, and no state of the router changes. */
export interface ExplainRequest extends PlanRequest {
  internal?: true;
  /** The request's body as JSON text, for rules that may reroute it; absent: none of them matches. */
  body?: string;
}

/** State of one node of a model or load balancer in one router. `ejected` nodes are tried after the healthy ones, `waiting` and `disabled` ones not at all. */
export type NodeStanding = 'healthy' | 'probing' | 'ejected' | 'waiting' | 'disabled';

/** One upstream key in an explanation: its place in the order, and what holds it back. */
export interface ExplainedKey {
  /** Position in the upstream's `api_keys`, its stable id and weight. */
  index: number;
  id: string;
  weight: number;
  /** Place in the order to be tried, from 1. */
  position: number;
  why: 'binding' | 'prediction' | 'only_key' | 'rotation' | 'standby';
  /** Why it is held back: `retry_after`, `breaker_line`, `breaker_key`, `breaker_node`, `breaker_hang`. */
  obstacle: string | null;
}

export type ScoreKind = 'turn_credit' | 'fading_cost_ms' | 'binding_hash';

/** One node of a load balancer (or a single model) in an explanation, with the figures its place is based on; times in ms. */
export interface ExplainedNode {
  model: string;
  upstream: string | null;
  upstream_model_id: string | null;
  upstream_protocol: ProtocolId | null;
  weight: number;
  state: NodeStanding;
  /** Why it is not healthy, or why it is not the first choice; null for the first choice. */
  reason: string | null;
  /** Place in the order to be tried, from 1; null when it is not tried. */
  position: number | null;
  /** What the strategy goes by, which `score_kind` names. */
  score: number | null;
  /** The credit of the round-robin; the milliseconds expected, which fade while a node is not asked; the hash of a static binding. Absent from older routers. */
  score_kind?: ScoreKind | null;
  /** To the first content of the last answer that was measured. */
  latency_ms: number | null;
  retry_after_ms: number | null;
  keys: ExplainedKey[];
}

/** A limit that applies to the request, and what is left of it. */
export interface ExplainedLimit {
  layer: string;
  name: string;
  limit: number;
  left: number;
  /** Of a budget, whose figures above are micro-units: decimal strings of its currency. */
  money?: { limit: string; left: string; currency: string };
}

/** A rule that would send the request to another model. */
export interface ExplainedSwitch {
  owner: string;
  index: number;
  use_model: string;
}

/** The answer of one router to `explain`: what it would do with the request, and why. */
export interface Explanation {
  requested_model: string;
  resolved: { name: string; kind: 'model' | 'load_balancer'; via: 'canonical' | 'alias' } | null;
  granted: boolean;
  strategy: string | null;
  static_binding: boolean;
  pinned_to: string | null;
  switches: ExplainedSwitch[];
  nodes: ExplainedNode[];
  limits: ExplainedLimit[];
  /** The error the caller would get instead of a reply; null when the request would be sent. */
  refusal: { code: string; status: number; message: string } | null;
}
