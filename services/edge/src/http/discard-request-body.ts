/** Callers who were answered before they had written all of their request, and write on. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DenseMember, DenseSet } from '@model-gateway/collections';

/** To read an answer when this process leaves. */
const closeDelayMs = 1000;

export interface DiscardLimits extends DenseMember {
  /** The process leaves: the connection ends, if its caller has had a moment to read the answer. */
  leave(): void;
}

const answered = new WeakSet<ServerResponse>();

/** The answer is written in full, though its end waits for the caller to finish writing. */
export const markAnswered = (response: ServerResponse): void => void answered.add(response);
export const isAnswered = (response: ServerResponse): boolean => response.writableEnded || answered.has(response);

/** Reads the rest of a request into nothing, for as long as the process stays. */
export function discardRequestBody(request: IncomingMessage, discardLimits: DenseSet<DiscardLimits>): void {
  if (request.complete || request.destroyed) return void request.resume();
  const since = performance.now();
  const leave = (): void => {
    if (performance.now() - since >= closeDelayMs) request.socket.destroySoon();
  };
  const one = { index: -1, leave };
  discardLimits.add(one);
  request.once('close', () => discardLimits.remove(one));
  request.resume();
}
