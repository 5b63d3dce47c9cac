/** How one attempt went, as the loop over the plan needs to know it. */
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { UpstreamFault } from '@model-gateway/protocols';
import type { RequestBody } from '../request/body.ts';
import type { CarriedRequest } from '../request/plan.ts';

/** A rule or a script selected another model. */
export interface Reroute {
  readonly kind: 'reroute';
  readonly model: string;
  /** What the new plan is made for. */
  readonly body: RequestBody;
  /** Set by a script after the translation: the request goes on as it is. */
  readonly carried?: CarriedRequest;
}

/**
 * `done`: the reply is complete · `retry`: `classify.ts` says what may be tried after this fault · `refused`: nothing was sent, since this node cannot
 * serve the request as it has to be served; another may · `limited`: nothing was sent, since the node is at our own limit (0: nobody knows until when).
 */
export type AttemptResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly fault: UpstreamFault; readonly error: GatewayError }
  | Reroute
  | { readonly kind: 'refused'; readonly error: GatewayError }
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

/** How sending one request ended. */
export interface AttemptEnd {
  /** null: the reply is complete. */
  fault: UpstreamFault | null;
  /** The caller has seen content: no other attempt may follow. */
  committed: boolean;
  status: number | null;
  /** The upstream's own error body. */
  body?: string;
  /** A script over the reply failed, and its rule is to reject: what the caller gets. */
  refusal?: GatewayError;
}
