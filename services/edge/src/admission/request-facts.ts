/** What admission has learnt of a request: for its row, its errors and its reply. Each step of admission makes new facts out of the last. */
import type { Operation } from '@model-gateway/contracts';
import type { Principal } from './credentials.ts';

export interface RequestFacts {
  readonly principal: Principal | null;
  readonly operation: Operation;
  /** The session of a coding agent or chat. */
  readonly sessionId: string | null;
  readonly requestedModel: string | null;
  /** Canonical name, once resolved and granted. */
  readonly model: string | null;
  readonly stream: boolean;
  readonly requestBytes: number;
}

/** Of a request of which only the head is known. */
export const nothingKnown: RequestFacts = {
  principal: null,
  operation: 'generate',
  sessionId: null,
  requestedModel: null,
  model: null,
  stream: false,
  requestBytes: 0,
};
