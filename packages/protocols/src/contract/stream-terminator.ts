/** How a stream ends when the upstream breaks. */
import type { Operation, StreamForm, TurnStatus, Usage } from '@model-gateway/contracts';
import type { ReplyTurn } from './turns.ts';

/** Notice from the gateway inside a reply, such as why it ended early. */
export interface GatewayWarning {
  reason: string;
  detail: string;
  last_finish_reason: string | null;
  /** ISO 8601. */
  timestamp: string;
}

/** What a stream terminator needs to end a reply from bytes alone. */
export interface TerminatorContext {
  requestId: string;
  model: string;
  createdAt: number;
  streamForm: StreamForm;
  /** Absent: `generate`. */
  operation?: Operation;
  mintId(prefix: string): string;
  /** The stored turn that the reply is, where it is known before the reply begins. */
  turn?: ReplyTurn;
}

/**
 * The one mechanism that ends broken streams, wherever they broke: it sees what was written to the caller, byte for byte, and
 * `close` gives what is missing: open blocks closed, `_gateway_warning` as a field on a known event, a length-type stop reason
 * (never tool use or a natural end), the terminator. Works after any whole event, and when nothing was written at all.
 * A cut tool call's JSON is never completed.
 */
export interface StreamTerminator {
  /** Whole events, in order; a long run may come in several pieces, the last with `eventEnd`. */
  observe(bytes: Uint8Array): void;
  /** Asked once for whole events of `length` bytes that hold nothing but more words of open blocks: whether they need not be observed. Absent: they are. */
  passes?(length: number): boolean;
  /** Text to append, '' when the stream had already ended properly. `timestamp`, `reason`, `detail` are the warning's. */
  close(warning: Omit<GatewayWarning, 'last_finish_reason'>, usage?: Usage): string;
  /**
   * The reply as `close` ended it, to be stored; `failed`: as that of a request that was run in the background, which has failed then. null: it had ended
   * before. Absent: replies of this protocol are not stored.
   */
  closed?(failed?: { code: string; message: string }): { status: TurnStatus; response: unknown } | null;
  /** The protocol's own end was seen. */
  readonly ended: boolean;
  /**
   * Whether a caller whose connection breaks now may repeat the request: the reply has not come to its end, and no call was handed over that it may
   * have run already.
   */
  readonly repeatable: boolean;
  /** What `close` or the reply's own end made the stored turn; undefined before. Absent: this protocol has no stored turns. */
  readonly response?: unknown;
}

/** Example: after half a text block, `close(warning)` gives the events that close the block, the warning and the end of the stream. */
export interface ClientTerminator {
  /** Watches what is written to the caller and can end it properly at any event boundary. */
  createTerminator(context: TerminatorContext): StreamTerminator;
}
