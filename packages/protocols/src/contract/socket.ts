/** WebSockets that carry calls of a protocol. */
import type { SocketContext, SocketSession } from '../socket-session.ts';

/** On the paths of routes that say `socket`. */
export interface ClientSocket {
  /** On the paths of routes that say `socket`, the same calls may come over a WebSocket. */
  createSocketSession?(context: SocketContext): SocketSession;
}
