/** Turns that a protocol's callers leave with the gateway, and name in later requests instead of sending them again. */
import type { StreamForm, TurnStatus } from '@model-gateway/contracts';

/** What a request asks of the store of turns. */
export interface TurnWishes {
  /** Whether the turn is to be stored. */
  store: boolean;
  /** The turn to go on from, as the caller gave it. */
  previous?: string;
  conversation?: string;
  /** Run it without a caller. */
  background: boolean;
  /** Ids of stored items that the input names instead of repeating them. */
  references: readonly string[];
}

/** The turn that a reply belongs to; replies name it, and say what was asked of the store. */
export interface ReplyTurn {
  id: string;
  /** As the caller gave it; null: none, or one that was not there. */
  previous: string | null;
  conversation: string | null;
  store: boolean;
  background: boolean;
}

/** Sees a reply as its caller sees it, and finds the turn in it. */
export interface TurnObserver {
  /** One record of a stream. */
  record(record: { event?: string | undefined; data: string }): void;
  /** A whole reply. */
  whole(body: unknown): void;
  /** The response object and its status; null: the reply has not ended. */
  ended(): { status: TurnStatus; response: unknown } | null;
  /** What a reply that broke off had said so far, as a response object of this status. */
  broken(status: 'incomplete' | 'failed' | 'cancelled', error?: { code: string; message: string }): unknown;
}

/** Absent: callers of this protocol have no stored turns. */
export interface ClientTurns {
  turns?: StoredTurns;
}

/** How callers of a protocol refer to stored turns, and what of their bodies and replies is stored. Pure: nothing here reads or writes the store. */
export interface StoredTurns {
  /** Quoted words one of which is in every body that refers to something stored. */
  references: readonly string[];
  /** Example: `{ input: 'Go on', previous_response_id: 'resp_1' }` gives `{ store: true, previous: 'resp_1', … }`. Throws GatewayError 400 naming the field. */
  readWishes(body: unknown): TurnWishes;
  /** The body with `history` before its own input and references replaced by their items; the fields that the gateway itself carries out are left out. */
  expand(body: unknown, history: readonly unknown[], items: ReadonlyMap<string, unknown>): unknown;
  /** The request's own input items, each with an id: minted where the caller gave none. */
  inputItems(body: unknown, mintId: (prefix: string) => string, items: ReadonlyMap<string, unknown>): unknown[];
  /** The prefix of this protocol's turn ids. */
  idPrefix: string;
  createObserver(turn: ReplyTurn, form: StreamForm): TurnObserver;
  /** The reply to a request for a background run: the response object before it begins. `createdAt` in seconds. */
  queued(body: unknown, turn: ReplyTurn, createdAt: number): unknown;
}
