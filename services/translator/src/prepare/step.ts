/** The two kinds of preparation steps, and what they are given. */
import type { Route } from '@model-gateway/routing';
import type { RequestBody } from '../request/body.ts';
import type { CurrentRequest } from '../request/current.ts';
import type { RequestPlan } from '../request/plan.ts';
import type { PrepareDeps } from './deps.ts';
import type { RequestContent, RequestPatch } from './upstream-request.ts';

/** A request on its way to one route. */
export interface PrepareContext extends CurrentRequest {
  readonly plan: RequestPlan;
  readonly route: Route;
  readonly prepare: PrepareDeps;
}

/** What a route step decides. */
export interface RouteChoice {
  /** Another body in the caller's protocol for this route. */
  readonly body?: RequestBody;
  /** The model or load balancer to reroute to. */
  readonly rerouteTo?: string | undefined;
}

/** Decides, before anything is translated, whether the request goes to this route at all. A promise only where it has to wait. */
export interface RouteStep {
  readonly name: 'switch-route' | 'script-before';
  choose(context: PrepareContext): RouteChoice | undefined | Promise<RouteChoice | undefined>;
}

/** Returns what it changes of the request. A promise only where it has to wait: a request that needs no waiting makes none. */
export interface Step {
  readonly name: 'fetch-media' | 'translate' | 'normalize' | 'body-rules' | 'cache-injection' | 'script-after' | 'retarget';
  run(content: RequestContent, context: PrepareContext): RequestPatch | Promise<RequestPatch>;
}
