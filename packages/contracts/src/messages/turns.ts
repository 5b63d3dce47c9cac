/**
 * Stored turns: what one request of a conversation added to it, kept so that the next request may name it instead of sending it again. Responses are the
 * first client of the store, conversations the second. The stats service keeps them (the only one that runs SQL for requests), the translator reads and
 * writes them, and an edge finishes the turn of a translator that died under it.
 *
 * Every message names the owner, the id of the access key: for another owner a turn does not exist.
 */

/** `queued` is before a background run began. */
export type TurnStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** A turn that the upstream keeps and the gateway only knows the owner of: where it is reached. */
export interface TurnAtUpstream {
  /** Canonical model name, and the upstream's name. */
  model: string;
  upstream: string;
  /** The stable id of the upstream's key entry that the turn was made with. */
  account: string;
}

/** A turn without its content. */
export interface TurnFacts {
  /** `resp_…`, minted by the gateway; of a turn kept by the upstream the upstream's own id. */
  id: string;
  owner: string;
  /** The turn that this one goes on from; null: the first. May name a deleted turn. */
  parent: string | null;
  conversation: string | null;
  /** The name that the caller used. */
  model: string;
  status: TurnStatus;
  /** Milliseconds since the epoch. */
  createdAt: number;
  background: boolean;
  /** Which translator works on it; turns whose holder sends no `turns.alive` any more are ended by the store. */
  holder: string;
  /** The row of the request that made it. */
  requestId: string;
  /** Where a stream of its events can be taken up again. */
  stream?: string;
  /** Set on turns that the upstream keeps: nothing else of them is stored. */
  at?: TurnAtUpstream;
}

/**
 * What saves the store reading a body that it seals: how long the list of items in it is, so that the body's own bytes are sealed instead of printed anew,
 * and the ids of all items in it, with which it is not parsed either. Earlier versions give neither, or the length alone.
 */
interface PrintedInput {
  inputBytes?: number;
  items?: readonly string[];
}

/** Bodies are JSON in UTF-8, sealed by the store before they rest. */
export type TurnsWrite =
  /**
   * Before the first event of a stream, or before a background run is answered. The body is `{"input":[…],"response":{…}}`: the turn's own input items, each
   * with an id, and the response object as it begins; said again as `in_progress`, it moves a queued turn on; both are absent for a turn that the upstream keeps.
   */
  | ({ kind: 'begin'; turn: TurnFacts } & PrintedInput)
  /**
   * The body is the response object as its caller saw it last. `authority`: of two endings the higher stands (translator 2, edge 1, the store itself 0).
   * `conversation`: the turn's, null for none; who does not know leaves it out. `items`: the ids of those in the body, which is then sealed as it is.
   */
  | { kind: 'finish'; owner: string; id: string; status: TurnStatus; authority: 0 | 1 | 2; conversation?: string | null; items?: readonly string[] }
  /** `begin` and `finish` at once, for replies that are not streamed: the body is `{"input":[…],"response":{…}}`. Replaces nothing that is final. */
  | ({ kind: 'put'; turn: TurnFacts; authority: 1 | 2 } & PrintedInput)
  /** Leaves a tombstone with the parent link. */
  | { kind: 'delete'; owner: string; id: string }
  /** Background turns alone; what is final stays as it is. The reply's `status` tells. */
  | { kind: 'cancel'; owner: string; id: string }
  /** Everything of this owner: its key was deleted, or an operator asked for it. */
  | { kind: 'forget-owner'; owner: string }
  /** The body is `{"items":[…],"metadata":{…}}`. */
  | { kind: 'create-conversation'; owner: string; id: string; createdAt: number }
  /** The body is `{"metadata":{…}}`. */
  | { kind: 'update-conversation'; owner: string; id: string }
  | { kind: 'delete-conversation'; owner: string; id: string }
  /** The body is the list of items, each with an id. */
  | { kind: 'add-conversation-items'; owner: string; id: string }
  | { kind: 'delete-conversation-item'; owner: string; id: string; item: string };

/**
 * What became of a write. `stored: false` is no error: the owner's bytes are used up (`full`), the turn is too large (`too-large`), it is not there or of
 * another owner (`missing`), another request works on the conversation (`locked`), or it has ended already (`ended`).
 */
export interface TurnsWritten {
  stored: boolean;
  reason?: 'full' | 'too-large' | 'missing' | 'locked' | 'ended';
  /** Of the turn afterwards, where it is there. */
  status?: TurnStatus;
  /** Milliseconds since the epoch; of a conversation. */
  createdAt?: number;
}

/** Questions to the store; the answers' bodies are JSON in UTF-8. */
export type TurnsRead =
  /**
   * A turn's facts; the body is its response object, empty before it has one. A turn that is in progress and whose caller waits for its reply is waited for up
   * to `waitMs`: a caller who has seen the end may ask before a busy store has it.
   */
  | { kind: 'turn'; owner: string; id: string; waitMs?: number }
  /** The body is the list of the turn's own input items, in order. */
  | { kind: 'input-items'; owner: string; id: string }
  /**
   * The items of a chain of turns, or of a conversation, the oldest first: of each turn its input, then its output; deleted turns are passed over, and one
   * that an upstream keeps stands as `{"type":"upstream_turn","id":…,"at":{…}}`. The body
   * is the list. A turn still in progress is waited for up to `waitMs`, then refused with `response_in_progress`; more than `maxTurns` or `maxBytes` with
   * `context_length_exceeded`.
   */
  | { kind: 'history'; owner: string; turn?: string; conversation?: string; waitMs: number; maxTurns: number; maxBytes: number }
  /**
   * For operators: a turn and those that it goes on from, the nearest first, without their content and with the deleted ones. The body is a list of
   * `ChainedTurn`, at most `maxTurns` long; `hasMore` in the head. `found`: the turn is there, or what its deletion left.
   */
  | { kind: 'chain'; owner: string; id: string; maxTurns: number }
  /** The body is an object: item id → item, of those that are there. */
  | { kind: 'items'; owner: string; ids: string[] }
  /** The body is the conversation's metadata. */
  | { kind: 'conversation'; owner: string; id: string }
  /** The body is the list of items; `hasMore` in the head. `order` is that of the list; `after`: an item id. */
  | { kind: 'conversation-items'; owner: string; id: string; after?: string; limit: number; order: 'asc' | 'desc' }
  /** The body is the item. */
  | { kind: 'conversation-item'; owner: string; id: string; item: string };

/** One turn of a chain, as operators see it. */
export interface ChainedTurn extends Pick<TurnFacts, 'id' | 'parent' | 'conversation' | 'model' | 'status' | 'createdAt' | 'background' | 'requestId' | 'at'> {
  /** What is left of it is its place in the chain. */
  deleted: boolean;
}

export interface TurnsFound {
  /** false: it is not there, or not this owner's. */
  found: boolean;
  /** Of `turn`: it was there and is deleted, so that nobody needs to wait for it. Earlier versions do not say so. */
  deleted?: boolean;
  /** Of `history` only where an upstream keeps the last turn. */
  turn?: TurnFacts;
  createdAt?: number;
  /** Of `history`: how many turns gave items. */
  turns?: number;
  /** The last turn of the chain is kept by an upstream: the body holds the items of gateway turns before it. */
  at?: TurnAtUpstream;
  /** Of `history`: turns before the oldest one are gone. */
  cut?: boolean;
  hasMore?: boolean;
}

/** A turn's ending on its way through the outbox. */
export interface TurnFinished {
  turn: TurnFacts;
  authority: 1 | 2;
  /**
   * Base64 of the JSON `{"input":[…],"response":{…}}`, sealed with the key of stored turns; `input` is absent where `begin` was stored, both of a turn that
   * an upstream keeps.
   */
  content: string;
}

/** A call on stored turns or conversations from a caller, as the edge hands it to a translator. A JSON body travels beside it. */
export interface TurnsCall {
  id: string;
  clientRequestId: string | null;
  owner: string;
  accessKey: string;
  keyGroup: string;
  clientProtocol: string;
  action: TurnsAction;
  /** Of the turn or conversation, as the caller gave it. */
  target?: string;
  /** Of a conversation's item. */
  item?: string;
  /** An operator asks, whatever the owner's key group may use. Earlier versions do not know this, and look at its grants. */
  operator?: true;
  /** The model that the path of a task names. */
  model?: string;
  /** Raw query string without `?` and without a credential. */
  query: string;
  headers: Record<string, string>;
  deadlineMs: number;
  traceparent?: string;
}

export type TurnsAction =
  | 'get'
  | 'delete'
  | 'cancel'
  | 'input-items'
  | 'create-conversation'
  | 'get-conversation'
  | 'update-conversation'
  | 'delete-conversation'
  | 'list-conversation-items'
  | 'add-conversation-items'
  | 'get-conversation-item'
  | 'delete-conversation-item'
  /** Of an upstream's task, which needs no stored turns. */
  | 'get-task'
  | 'cancel-task';

/** A reader goes on with a stream that an edge keeps. */
export interface StreamTakeUp {
  stream: string;
  /** The id of the access key, or what stands for one. */
  owner: string;
  /** How many events it has; absent: none, unless `number` is there. */
  after?: number;
  /** Instead: the number that the protocol itself gave the last event that it has; -1: none. */
  number?: number;
  /** Only the head is wanted; a present reader goes on. */
  look?: true;
}

/** How a call on stored turns ended. */
export interface TurnsCallTail {
  /**
   * Where the edge goes on instead: a stream that it keeps (`TurnFacts.stream`). `after` is the number that the protocol itself gave the last event that the
   * caller has (`sequence_number`); -1: none. Neither a head nor data come before it.
   */
  resume?: { stream: string; after: number };
}
