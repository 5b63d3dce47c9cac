/** What the edge's shutdown and its periodic checks need of open replies and sockets; apart from their classes, which depend on the context. */
import type { DenseMember } from '@model-gateway/collections';
import type { GatewayError } from '@model-gateway/contracts/errors';

/** A reply under way. */
export interface OpenReply extends DenseMember {
  /** Ends the reply with this error, in the caller's protocol. */
  interrupt(error: GatewayError): void;
  /** Ends a reply that would go on for ever, and that its caller asks for again; others may end by themselves. */
  drain?(): void;
}

/** A WebSocket whose turns are requests. */
export interface OpenSocket extends DenseMember {
  /** Closes the socket unless turns are running; called again until it is closed. */
  drain(): void;
  /** Closes the connection at once. */
  terminate(): void;
  /** Closes the socket when its caller would not be let in any more, or its budget is spent. */
  checkAccess(): void;
}
