/** The last word on a connection that Node's server no longer looks after. */
import type { Duplex } from 'node:stream';

/** To read it, and to close the other half. */
const closeDelayMs = 1000;

/**
 * Whoever does not close its half then is cut off: it would hold its place, and the end of this process, for as long as it likes. `text` is '' where the
 * last word was written already.
 */
export function sayLast(socket: Duplex, text: string): void {
  if (!socket.writableEnded) socket.end(text);
  setTimeout(() => socket.destroy(), closeDelayMs).unref();
}
