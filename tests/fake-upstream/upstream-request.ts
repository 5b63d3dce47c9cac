/** What the fake upstream keeps of each request. */
import type { IncomingHttpHeaders } from 'node:http';
import type { RefusedBy } from '../vendor-rules/index.ts';

/** One request as it arrived, and how its reply went. */
export interface UpstreamRequest {
  method: string;
  /** Path and query as sent. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Parsed body, when it is a JSON object. */
  json: Record<string, unknown>;
  /** What the vendor would not take in it, and so refused; null: it took all. */
  refusal: RefusedBy | null;
  /** Monotonic, in ms. */
  at: number;
  /** Bytes of the reply's body written so far. */
  readonly bytesWritten: number;
  /** null while the reply is under way. `left`: the caller closed before the end; `cut`: the script broke it. */
  closed: { reason: 'finished' | 'left' | 'cut'; at: number } | null;
  /** Resolves when `closed` is set. */
  whenClosed: Promise<void>;
}
