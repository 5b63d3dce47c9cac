/** Callers who were answered before they had written all of their request, and write on. */
import type { IncomingMessage } from 'node:http';
import type { Roster, Rostered } from '@model-gateway/roster';

export interface Lingering extends Rostered {
  /** The process leaves: what was answered goes out still, and the connection ends. */
  leave(): void;
}

/** Reads the rest of a request into nothing, for as long as the process stays. */
export function linger(request: IncomingMessage, lingering: Roster<Lingering>): void {
  if (request.complete || request.destroyed) return void request.resume();
  const one = { place: -1, leave: () => request.socket.destroySoon() };
  lingering.add(one);
  request.once('close', () => lingering.remove(one));
  request.resume();
}
