/** One plan of a request, and what its attempts begin with. */
import type { Loss, Plan, Snapshot } from '@model-gateway/contracts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { RequestBody } from './body.ts';

/** One plan of a request: the router's first, or one that a reroute made. Nothing in it changes. */
export interface RequestPlan {
  readonly plan: Plan;
  /** Of the plan's revision. */
  readonly snapshot: Snapshot;
  /** The body that the plan was made for. */
  readonly body: RequestBody;
  /** Canonical names of the requested model and of the reroute targets up to this plan, in order. */
  readonly routes: readonly string[];
  /** Names of the upstreams that the request was rerouted from. */
  readonly leftUpstreams: readonly string[];
  /** Names of the pipeline steps that led to this plan. */
  readonly steps: readonly string[];
  /** Set where a script after the translation rerouted the request: the next upstream gets it as it is. */
  readonly carried: CarriedRequest | undefined;
}

/** A translated request on its way to another upstream of the same protocol. */
export interface CarriedRequest {
  readonly request: UpstreamRequest;
  /** What the preparation lost stays lost on every route that gets it. */
  readonly losses: readonly Loss[];
}
