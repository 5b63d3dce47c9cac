import type { ProtocolId } from './protocol-id.ts';

/**
 * What a client route asks of an upstream. Four operations only pass between equal protocols: `complete`, legacy completions (text in, text out);
 * `compact`, a shortened conversation, part of which only its vendor can read; `moderate`, a judgement of contents; and `decide`, answers to questions with
 * given choices. `realtime` is a session over a WebSocket.
 */
export type Operation = (typeof operations)[number];

/**
 * One question and one answer, without a conversation: vectors of texts, the order of documents, a judgement of contents, a decision, pictures, sound and its words.
 * `native` and `passthrough` are calls in the upstream's own terms, which nobody translates.
 */
export type UnaryOperation = (typeof unaryOperations)[number];
export const unaryOperations = [
  'embed',
  'rerank',
  'moderate',
  'decide',
  'image',
  'image-edit',
  'image-variation',
  'speech',
  'transcribe',
  'translate-speech',
  'native',
  'passthrough',
] as const;

export const operations = ['generate', 'count-tokens', 'complete', 'compact', 'realtime', ...unaryOperations] as const;

export const isUnary = (operation: Operation): operation is UnaryOperation => (unaryOperations as readonly string[]).includes(operation);

/** Calls in the upstream's own terms, which nobody translates. */
export const isInUpstreamTerms = (operation: Operation): boolean => operation === 'native' || operation === 'passthrough';

/** Everything the router needs to know about a request to plan it (about 1 KB on the bus). */
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
  /** Issuer of the newest thinking signature in the request's body (`ownerTag` of packages/signature-envelope), when it holds one. */
  owner?: string;
  /** The body names a history that the store holds: the translator asks again when it has it. No turn, binding or probe is taken. */
  tentative?: true;
  /** The gateway's own call, chosen by an admin: hidden names resolve too. */
  internal?: true;
  /** The span that asks, where the request is traced. */
  traceparent?: string;
  /** Models already left in this request (switch-route, useModel), and the number of reroutes so far. */
  exclude?: string[];
  hops?: number;
}

/** One target that can serve the request; references into the snapshot of `revision`, never secrets. */
export interface PlannedNode {
  /** Canonical model name, and the upstream's name. */
  model: string;
  upstream: string;
  /** Positions in the upstream's `api_keys`, in the order to be tried; [-1] when it has none. */
  keys: number[];
  /** This request is the probe that finds out whether the node works again. */
  probe?: true;
}

/** The router's answer: where to try a request, in order. */
export interface Plan {
  revision: number;
  /** Canonical name of what was asked for: a model, or a load balancer. */
  model: string;
  /** In the order to be tried; at least one, except for a token count, which may go without. */
  nodes: PlannedNode[];
  /** Whether the name is a load balancer's: decides between 503 and 502 when all attempts are used up. */
  balanced: boolean;
  /** Milliseconds until the first of the nodes left out because of a `Retry-After` may be asked again. */
  retryAfterMs?: number;
  /**
   * The plan depends on nothing but the revision and the caller's binding: the same caller would get the same plan for this model until an attempt
   * fails somewhere.
   */
  lasting?: true;
  /** It was asked for so, and is replaced before anybody is called. */
  tentative?: true;
}
