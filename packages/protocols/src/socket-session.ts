/** What a caller's frame comes to. */
export type SocketInput =
  /** A request, once those before it in its lane are answered. */
  | SocketRequest
  /** Frames to send back; nothing is asked of an upstream. */
  | { answer: readonly string[] };

/** One request of a WebSocket session, queued in its lane. */
export interface SocketRequest {
  /** Requests of one lane are answered one after another, those of different lanes side by side. */
  lane: string;
  /** Its turn has come. */
  begin(): { turn: SocketTurn } | { answer: readonly string[] };
  /** The frame for a request that cannot be kept waiting. */
  refuse(): string;
}

/** One request and its stream. */
export interface SocketTurn {
  /** Its JSON body, for the same path. */
  body: string;
  /** How many items at the beginning of its input repeat an earlier turn, which is stored. */
  repeats?: { turn: string; items: number };
  /** The frame for an event of the stream; called once for each, in order. */
  frame(event: string | undefined, data: string): string;
  /** The frame for a reply that is not a stream: an error's status and body. */
  writeError(status: number, body: string): string;
}

/** Dependencies and limits of a WebSocket session. */
export interface SocketContext {
  /** Of the handshake; lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  mintId(prefix: string): string;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Whether turns that this connection does not know may be stored: requests that name one are passed on. */
  storesTurns: boolean;
  /** What a connection may remember, in bytes. */
  maxBytes: number;
  /** What all connections may remember together. `take`: false when there is no room. */
  memory: { take(bytes: number): boolean; give(bytes: number): void };
}

/** One WebSocket connection that carries this protocol's streams, turn by turn. Pure: frames in, frames out. */
export interface SocketSession {
  /** A text frame of the caller. */
  read(text: string): SocketInput;
  /** The frame that goes before a connection is closed for its age. */
  limitReached(): string;
  /** The connection is gone: forgets all it remembers. */
  close(): void;
}
