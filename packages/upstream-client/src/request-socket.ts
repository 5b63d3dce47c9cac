/**
 * Reports the socket that a request is written to, which undici's handlers do not: undici publishes it while it writes the head, right
 * after it has called `onRequestStart`.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

export interface SocketReceiver {
  /** The request is written to this socket. */
  socketAssigned(socket: Socket): void;
}

let expecting: SocketReceiver | undefined;

/** Names the receiver whose request undici writes next, in this very turn of the event loop; undefined: none. */
export function expectSocket(receiver: SocketReceiver | undefined): void {
  expecting = receiver;
}

// The channel is shared by the process: requests of other users of undici find no receiver and are ignored.
subscribe('undici:client:sendHeaders', (message) => {
  if (expecting === undefined) return;
  expecting.socketAssigned((message as { socket: Socket }).socket);
  expecting = undefined;
});
