/** Closes a connection, with a final message, that Node's HTTP server no longer manages. */
import type { Duplex } from 'node:stream';

/** To read it, and to close the other half. */
const closeDelayMs = 1000;

/**
 * Writes `text` ('' when everything was written already) and closes. A peer that does not close its half in time is cut off: it would otherwise hold
 * its connection slot, and delay the end of this process, for as long as it likes.
 */
export function sayLast(socket: Duplex, text: string): void {
  if (!socket.writableEnded) socket.end(text);
  setTimeout(() => socket.destroy(), closeDelayMs).unref();
}
