/**
 * Remembers for a while which thinking signatures upstreams refused: a caller sends the same history with every turn, and each turn would pay for the
 * refused call again. Only refusals after which the retry succeeded are remembered, and nothing that would harm other conversations: a refused signature
 * is left out wherever that very text comes back, and for an upstream that demands a signature with each call the vendor's own value for "none" is added.
 */

import { createHash } from 'node:crypto';
import type { SignatureRefusal } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import { LRUCache } from 'lru-cache';

const rememberedMs = 60 * 60 * 1000;
const maxSignatures = 20_000;
const maxRoutes = 1000;

export class RefusedSignatures {
  /** When what is remembered ends, by what it is about. */
  readonly #signatures = new LRUCache<string, number>({ max: maxSignatures });
  readonly #demands = new LRUCache<string, number>({ max: maxRoutes });
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether this route refused the signature, given as the caller holds it. */
  has(route: Route, sealed: string): boolean {
    return this.#signatures.size > 0 && this.#holds(this.#signatures, signatureId(route, sealed));
  }

  /** What is known to be asked of every request on this route. */
  demanded(route: Route): SignatureRefusal | undefined {
    return this.#demands.size > 0 && this.#holds(this.#demands, routeId(route)) ? { about: 'call-signature' } : undefined;
  }

  /** `sealed`: signatures in the refused request. Called once the request succeeded without what was refused. */
  learn(route: Route, { about }: SignatureRefusal, sealed: Iterable<string>): void {
    if (about === 'signatures') for (const text of sealed) this.#keep(this.#signatures, signatureId(route, text));
    else if (about === 'call-signature') this.#keep(this.#demands, routeId(route));
  }

  #holds(kept: LRUCache<string, number>, id: string): boolean {
    const until = kept.get(id);
    if (until === undefined) return false;
    if (until > this.#now()) return true;
    kept.delete(id);
    return false;
  }

  #keep(kept: LRUCache<string, number>, id: string): void {
    kept.set(id, this.#now() + rememberedMs);
  }
}

const routeId = ({ upstream, model }: Route): string => `${model.name}\u0000${upstream.name}`;
/** Signatures are long: a digest identifies them. */
const signatureId = (route: Route, sealed: string): string => `${routeId(route)}\u0000${createHash('sha256').update(sealed).digest('base64')}`;
