import type { ErrorCode } from './errors/codes.ts';
import type { Plan } from './plan.ts';
import type { ProtocolId } from './protocol-id.ts';

/**
 * What a session over a WebSocket is for: conversation, words of sound, sound in another language, or a conversation in which both sides speak at once;
 * `bidi` is the last as Gemini Live has it.
 */
export const realtimeKinds = ['realtime', 'transcription', 'translation', 'live', 'bidi'] as const;
export type RealtimeKind = (typeof realtimeKinds)[number];

/**
 * A caller's realtime session, which the translator connects to an upstream. Messages travel as data in both directions: the last piece of each is marked
 * `messageEnd`, and `text` says which kind it is.
 */
export interface RealtimeJob {
  id: string;
  clientRequestId: string | null;
  startedAt: number;
  accessKey: string;
  /** Finds the key again after it was edited. Absent: the edge is of an earlier version. */
  accessKeyHash?: string;
  /** At the handshake. */
  keyGroup: string;
  /** Absent: `realtime`. */
  kind?: RealtimeKind;
  /** The API version that the caller's path names; absent: none. */
  version?: string;
  /** The session was opened with a short-lived key. */
  shortLived?: ShortLivedSession;
  /** The protocol whose path the caller used. */
  clientProtocol: ProtocolId;
  requestedModel: string;
  /** As in `Job`. */
  headers: Record<string, string>;
  clientIp: string | null;
  sessionId?: string;
  plan: Plan;
  /** Time between arrival and this job, for the row. */
  queueMs: number;
  /** As in `Job`. */
  traceparent?: string;
  /** Longest message in either direction, in bytes. */
  maxFrameBytes: number;
}

/** What an edge passes on of a short-lived key, which is not a key any more. */
export interface ShortLivedSession {
  /** Opened by the translator alone. */
  carried: string;
  /** Hash of the access key that the edge found it to be made with. */
  parentHash: string;
}

/** A short-lived key that is wanted. */
export interface ShortLivedKeyWanted {
  /** Id and hash of the access key that asks. */
  parent: string;
  parentHash: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  kind: RealtimeKind;
  /** As the caller named it; absent: any that the access key may use. */
  model?: string;
  /** JSON of the caller's `session`, with which each session begins. */
  session: string;
  /** Longest key that the edge takes in a header. */
  maxLength: number;
}

/** How a WebSocket ends: its close code (1005: none, 1006: it broke off) and reason. */
export interface SocketClose {
  code: number;
  reason: string;
}

/** The edge to the translator, in a message flagged `control`: the caller closed, or the session has to end soon. */
export interface RealtimeControl {
  close: SocketClose;
  /** Absent: the caller has closed. Else the gateway ends the session: once no response is running, and after this many milliseconds at the latest. */
  withinMs?: number;
  /** Why the gateway ends it, for the session's row; absent where nothing went wrong. */
  errorCode?: ErrorCode;
}

/** What the caller's WebSocket is closed with. */
export interface RealtimeTail {
  close: SocketClose;
}
