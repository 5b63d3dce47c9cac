import type { ProtocolId } from './protocol-id.ts';

/** What a door asks of an upstream. */
export type Operation = 'generate' | 'count-tokens';

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
  /** Routes already left behind in this request (switch-route, useModel), and how many times it was sent on. */
  exclude?: string[];
  hops?: number;
}

/** One upstream call the translator may make; references into the snapshot of `revision`, never secrets. */
export interface PlannedAttempt {
  /** Canonical model name, and the upstream's name. */
  model: string;
  upstream: string;
  /** Position in the upstream's `api_keys`; -1 when it has none. */
  keyIndex: number;
}

export interface Plan {
  revision: number;
  /** Canonical name of the model that was asked for. */
  model: string;
  /** In the order to be tried. */
  attempts: PlannedAttempt[];
  /** Whether a load balancer stands behind the name: decides 503 against 502 when all is spent. */
  balanced: boolean;
}
