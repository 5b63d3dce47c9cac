import type { ErrorWire } from './error-wire.ts';
import type { Operation, Plan } from './plan.ts';
import type { ProtocolId } from './protocol-id.ts';
import type { RequestRow } from './row.ts';
import type { Usage } from './usage.ts';

/** The name under which the console calls upstreams for an admin's test; no access key may begin with its prefix. */
export const internalPrefix = 'console:';
export const testIdentity = `${internalPrefix}models-test`;

/** How the reply is framed to the caller. */
export type StreamForm = 'whole' | 'sse' | 'json-array';

/** What the edge hands the translator with the body's bytes. The body itself travels beside it, once. */
export interface Job {
  id: string;
  clientRequestId: string | null;
  startedAt: number;
  accessKey: string;
  keyGroup: string;
  clientProtocol: ProtocolId;
  operation: Operation;
  /** The client door's path, for doors that have several (`/v1/chat/completions`). */
  path: string;
  /** Raw query string without `?` and without a credential. */
  query: string;
  requestedModel: string;
  stream: boolean;
  streamForm: StreamForm;
  /** Request headers that may matter further in: lower case, credentials and hop-by-hop names removed. */
  headers: Record<string, string>;
  clientIp: string | null;
  /** Of the coding agent or chat that asks; absent when it says nothing. */
  sessionId?: string;
  plan: Plan;
  /** Time left for the whole request when the message was sent. */
  deadlineMs: number;
  /** Time between arrival and this job, for the row. */
  queueMs: number;
  /** The span of the edge, where the request is traced. */
  traceparent?: string;
  /** The tail tells what was sent upstream: for the gateway's own test calls alone. */
  trace?: true;
  /** What the edge's one scan found in the body; saves others of a large one. */
  places: {
    /** What it looked for: the `id` of `questionsOf` in packages/protocols. Whoever does not know it looks for himself. */
    questions: string;
    /** Top-level values that are there. */
    values: Record<string, { start: number; end: number }>;
    /** Offset of the closing brace. */
    end: number;
    /** Words that are there. */
    words: string[];
  };
}

/** Sent once, at the commit of contract §7. Headers are safe to hand to the caller. */
export interface ReplyHead {
  status: number;
  headers: Record<string, string>;
}

/**
 * How a run ended. `row` is the finished row. `error` without a head sent: the edge answers it in the caller's shape.
 * `error` after the head: the edge's closer ends the stream with `_gateway_warning`.
 */
export interface ReplyTail {
  row: RequestRow;
  error?: ErrorWire;
  /** What was metered until a break, for the closer's last usage. */
  usage?: Usage;
  /** Where the job asked for it: the last body sent upstream, without credentials. */
  trace?: { body: string };
}
