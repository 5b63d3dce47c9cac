/** What a call on stored turns is answered from, and with. */
import type { ServerStream } from '@model-gateway/bus';
import type { TurnsCall } from '@model-gateway/contracts';
import type { StoredTurns } from '@model-gateway/protocols';
import type { TurnDeps } from './deps.ts';

/** What one call is answered from. */
export interface CallContext {
  readonly call: TurnsCall;
  readonly turns: StoredTurns;
  readonly deps: TurnDeps;
  /** The call's body as JSON; undefined: it has none. Throws 400. */
  readBody(): unknown;
}

/** A JSON value, the stream that the edge goes on with instead. */
export type CallAnswer =
  | { readonly json: unknown }
  | { readonly resume: { stream: string; after: number } }
  /** Writes the answer by itself. */
  | { readonly relay: (stream: ServerStream<'translator.turns'>) => void };

/** Answers one call; resolves with what its caller gets. Throws the error that it gets instead. */
export type AnswerCall = (context: CallContext) => Promise<CallAnswer>;
