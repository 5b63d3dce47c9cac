/** Errors: as callers of a protocol read them, and as upstreams of a protocol write them. */
import type { UpstreamFault } from '../chat/event.ts';

/** An error to be written in a client protocol; `retryAfter` is in seconds. */
export interface ClientError {
  status: number;
  /** Our code of `packages/contracts/src/errors`. */
  code: string;
  message: string;
  requestId: string;
  param?: string;
  retryAfter?: number;
  /** For programs, beside the words: `error.details` of an upstream of the same protocol, or of the gateway's own in its terms. */
  details?: Readonly<Record<string, unknown>>;
}

/** Writes errors for callers. Example: `writeError({ status: 429, code: 'rate_limited', … })` gives the body in the shape of this protocol. */
export interface ClientErrors {
  /** An error body in this protocol's shape. `status` is the one that will be sent. */
  writeError(error: ClientError): { body: string; headers?: Record<string, string> };
  /** Bodies of upstreams' errors that are the caller's own fault reach it as they are. Absent: in this protocol's shape. */
  passesErrors?: true;
  /** The stream that says it, for callers who look for this error in the stream and not at the status; null: the status and `writeError` say it. */
  refuseInStream?(
    error: ClientError,
    context: { headers: Readonly<Record<string, string | undefined>>; model: string; createdAt: number; mintId(prefix: string): string },
  ): string | null;
}

/** Reads errors of upstreams. Example: `readError(529, headers, body)` says that the upstream is overloaded and that another may be asked. */
export interface UpstreamErrors {
  /** A non-2xx reply, or an error found in a body. `body` is text as it came; `headers` lower case. */
  readError(status: number, headers: Readonly<Record<string, string | undefined>>, body: string): UpstreamFault;
  /** Which of the feature flags in a caller's headers this fault refuses: the same request is sent once more without them. Absent: no protocol of flags. */
  refusedFlags?(fault: UpstreamFault, clientHeaders: Readonly<Record<string, string>>): string[];
}
