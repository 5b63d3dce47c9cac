import type { Plan } from './plan.ts';
import type { ProtocolId } from './protocol-id.ts';

/**
 * A caller's realtime session, which the translator connects to an upstream. Messages travel as data in both directions: the last piece of each is marked
 * `messageEnd`, and `text` says which kind it is.
 */
export interface RealtimeJob {
  id: string;
  clientRequestId: string | null;
  startedAt: number;
  accessKey: string;
  keyGroup: string;
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
  /** Longest message in either direction, in bytes. */
  maxFrameBytes: number;
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
}

/** What the caller's WebSocket is closed with. */
export interface RealtimeTail {
  close: SocketClose;
}
