/** Turns that a protocol's callers leave with the gateway, and name in later requests instead of sending them again. */
import type { StreamForm, TurnStatus, Usage } from '@model-gateway/contracts';

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
  /** The gateway runs it without a caller. */
  background: boolean;
}

/**
 * Who holds the turns, conversations and items that a request names: the gateway, which has put them into the body and runs it in the background itself;
 * or the upstream that is asked, which gets the names as they are. Absent: nobody, and what is named is missing.
 */
export type StateHolder = 'gateway' | 'upstream';

/** What a response object says beside its turn. */
export interface TurnReply {
  form: StreamForm;
  /** The name that the caller used. */
  model: string;
  /** Seconds since the epoch. */
  createdAt: number;
  /** The request's parsed body: replies repeat some of its fields. */
  body: unknown;
}

/** Sees a reply as its caller sees it, and finds the turn in it. */
export interface TurnObserver {
  /** One record of a stream. */
  record(record: { event?: string | undefined; data: string }): void;
  /** The same as text or UTF-8 bytes of whole events. `onlyWords`: they hold nothing but more words of open items, and are looked at when needed. */
  written(events: string | Uint8Array, onlyWords?: boolean): void;
  /** A whole reply. */
  whole(body: unknown): void;
  /** The response object and its status; null: the reply has not ended. */
  ended(): { status: TurnStatus; response: unknown } | null;
  /** What a reply that broke off had said so far, as a response object of this status: that of the stream terminator's last event, given the same usage. */
  broken(status: 'incomplete' | 'failed' | 'cancelled', error?: { code: string; message: string }, usage?: Usage): unknown;
}

/** A body that is asked without being parsed. */
export interface SearchedBody {
  /** Whether its bytes contain this quoted word. */
  contains(text: string): boolean;
  /** The JSON bytes of a top-level value. */
  value(key: string): Uint8Array | undefined;
}

/** Absent: callers of this protocol have no stored turns. */
export interface ClientTurns {
  turns?: StoredTurns;
}

/** How callers of a protocol refer to stored turns, and what of their bodies and replies is stored. Pure: nothing here reads or writes the store. */
export interface StoredTurns {
  /** Whether a body may refer to something stored; false: it does not. */
  mayRefer(body: SearchedBody): boolean;
  /** The top-level keys that `readWishes` reads beside the input: the edge's scan notes where they are. */
  keys: readonly string[];
  /** Example: `{ input: 'Go on', previous_response_id: 'resp_1' }` gives `{ store: true, previous: 'resp_1', … }`. Throws GatewayError 400 naming the field. */
  readWishes(body: unknown): TurnWishes;
  /**
   * The body with `history` before its own input and references replaced by their items (404 for one that is not in `items`); the names of turns and
   * conversations are left out. Never mutates its arguments.
   */
  expand(body: unknown, history: readonly unknown[], items: ReadonlyMap<string, unknown>): unknown;
  /** The request's own input items, each with an id: minted where the caller gave none. */
  inputItems(body: unknown, mintId: (prefix: string) => string, items: ReadonlyMap<string, unknown>): unknown[];
  /** The prefix of this protocol's turn ids. */
  idPrefix: string;
  createObserver(turn: ReplyTurn, reply: TurnReply): TurnObserver;
  /** The reply to a request for a background run: the response object before it begins. */
  queued(turn: ReplyTurn, reply: TurnReply): unknown;
  calls: TurnCalls;
}

/** Which part of a list a call wants. */
export interface ListWishes {
  limit: number;
  order: 'asc' | 'desc';
  /** The id of the item before the first one wanted. */
  after?: string;
}

/** What calls on stored turns and conversations ask, and how they are answered. What is asked wrongly is a GatewayError 400 naming the field. */
export interface TurnCalls {
  /** Of a call that reads a turn: whether its events are wanted, and from which one on. `query` is without `?`. */
  readResume(query: string): { stream: boolean; after?: number };
  readList(query: string): ListWishes;
  /** One page of a whole list, which is in order of time. 400 for an `after` that is not in it. */
  page(items: readonly unknown[], wishes: ListWishes): unknown;
  /** A page whose items were picked already. */
  list(items: readonly unknown[], hasMore: boolean): unknown;
  /** One item of a list. */
  item(item: unknown): unknown;
  deleted(id: string): unknown;
  /** The prefix of conversation ids. */
  conversationPrefix: string;
  /** `body`: parsed JSON, undefined for none. The items have ids. */
  readNewConversation(body: unknown, mintId: (prefix: string) => string): { items: unknown[]; metadata: Record<string, string> };
  readConversationUpdate(body: unknown): { metadata: Record<string, string> };
  /** Items to add to a conversation, each with an id. */
  readNewItems(body: unknown, mintId: (prefix: string) => string): unknown[];
  /** `createdAt` in milliseconds, as the store has it. */
  conversation(id: string, createdAt: number, metadata: unknown): unknown;
  conversationDeleted(id: string): unknown;
}
