/** What the translator's shutdown needs of a reply under way; apart from `ReplySink`, which depends on the call. */
import type { DenseMember } from '@model-gateway/collections';
import type { GatewayError } from '@model-gateway/contracts/errors';

/** A reply under way. */
export interface OpenReply extends DenseMember {
  /** Ends the run with this error for the caller. */
  interrupt(error: GatewayError): void;
}
