import type { ProtocolId } from './protocol-id.ts';

/**
 * What a door asks of an upstream. Two only pass between equal protocols: `complete`, legacy completions, text in and text out; and `compact`, a
 * conversation made short, of which the vendor gives a part that only it can read.
 */
export type Operation = 'generate' | 'count-tokens' | 'complete' | 'compact';

/** Everything the router may know of a request to answer where it goes (about 1 KB on the bus). */
export interface PlanRequest {
  requestId: string;
  /** Catalog revision the edge admitted the request with. */
  revision: number;
  /** The name the caller used. */
  model: string;
  accessKey: string;
  keyGroup: string;
  clientProtocol: ProtocolId;
  operation: Operation;
  stream: boolean;
  /** Who issued the newest proof in the request's body (`ownerTag` of packages/signature-envelope), when it holds one. */
  owner?: string;
  /** The gateway's own call, chosen by an admin: hidden names resolve too. */
  internal?: true;
  /** The span that asks, where the request is traced. */
  traceparent?: string;
  /** Routes already left behind in this request (switch-route, useModel), and how many times it was sent on. */
  exclude?: string[];
  hops?: number;
}

/** One place that can serve the request; references into the snapshot of `revision`, never secrets. */
export interface PlannedNode {
  /** Canonical model name, and the upstream's name. */
  model: string;
  upstream: string;
  /** Positions in the upstream's `api_keys`, in the order to be tried; [-1] when it has none. */
  keys: number[];
  /** The one request that may find out whether this node works again. */
  probe?: true;
}

export interface Plan {
  revision: number;
  /** Canonical name of what was asked for: a model, or a load balancer. */
  model: string;
  /** In the order to be tried; at least one, except for a count, which goes without. */
  nodes: PlannedNode[];
  /** Whether a load balancer stands behind the name: decides 503 against 502 when all is spent. */
  balanced: boolean;
  /** Milliseconds until the soonest of the nodes left out because they said so may be asked again. */
  retryAfterMs?: number;
  /** Only the revision and the caller's binding decided: the same caller would be told the same of this model, until an attempt fails somewhere. */
  lasting?: true;
}
