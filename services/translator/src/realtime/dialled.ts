/** What an attempt at a session is made with, and what it comes to. */
import type { RealtimeJob, SocketClose } from '@model-gateway/contracts';
import type { RealtimeAdapter, UpstreamAdapter, UpstreamFault } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { WebSocketHandlers } from '@model-gateway/upstream-client';
import type { RealtimeDeps } from './deps.ts';

export type UpstreamSocket = Parameters<WebSocketHandlers['opened']>[0];

/** A frame of either side's. */
export interface Frame {
  readonly bytes: Buffer;
  readonly isBinary: boolean;
}

export interface DialContext {
  readonly job: RealtimeJob;
  readonly route: Route;
  readonly upstream: UpstreamAdapter;
  readonly realtime: RealtimeAdapter;
  readonly deps: RealtimeDeps;
  /** The caller's frame without which the upstream says nothing. */
  readonly opening: Frame | null;
  /** The upstream has answered the handshake with 101. */
  accepted(): void;
}

/** How an upstream ended a session that it never began. */
export interface LastWords {
  /** Its error; null: it only closed. */
  readonly error: Frame | null;
  /** How it closed the connection; it has a moment to do so after an error. */
  readonly closed: Promise<SocketClose>;
}

export interface BegunSession {
  /** Paused. */
  readonly socket: UpstreamSocket;
  /** Returns the frames that came so far, and removes the listeners. */
  takeOver(): readonly Frame[];
}

export interface FailedDial {
  readonly fault: UpstreamFault;
  readonly status: number | null;
  /** Absent: it said nothing over a WebSocket. */
  readonly lastWords?: LastWords;
}

export type Dialled = BegunSession | FailedDial;
