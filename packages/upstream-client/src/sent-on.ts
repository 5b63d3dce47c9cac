/**
 * Tells a call which socket its request goes out on, which undici's handlers do not: undici publishes it while it writes the head, right
 * after it has told the handler that the request starts.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

export interface Sender {
  sentOn(socket: Socket): void;
}

let starting: Sender | undefined;

/** Names the sender whose request undici writes next, in this very turn. */
export function expectSocket(sender: Sender): void {
  starting = sender;
}

// The channel is the process's: whoever else uses undici is not expected, and passed over.
subscribe('undici:client:sendHeaders', (message) => {
  if (starting === undefined) return;
  starting.sentOn((message as { socket: Socket }).socket);
  starting = undefined;
});
