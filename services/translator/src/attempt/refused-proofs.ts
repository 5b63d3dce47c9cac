/**
 * What upstreams refused about proofs of earlier thinking, remembered for a while: a caller sends the same history with every turn, and each would pay
 * for the refused call again. Only what healed is remembered, and nothing that would change other conversations for the worse: a refused proof is left
 * out wherever that very text comes back, and an upstream's demand for a proof with each call adds the vendor's own word for "none".
 */
import { createHash } from 'node:crypto';
import type { ProofRefusal } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';

const rememberedMs = 60 * 60 * 1000;
const maxProofs = 20_000;
const maxRoutes = 1000;

export class RefusedSignatures {
  /** When what is remembered ends, by what it is about. Oldest first: what is learned again goes to the end. */
  readonly #signatures = new Map<string, number>();
  readonly #demands = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether this route refused the proof, named by the text that the caller holds. */
  has(route: Route, sealed: string): boolean {
    return this.#signatures.size > 0 && this.#holds(this.#signatures, signatureId(route, sealed));
  }

  /** What is known to be asked of every request on this route. */
  demanded(route: Route): ProofRefusal | undefined {
    return this.#demands.size > 0 && this.#holds(this.#demands, routeId(route)) ? { about: 'call-proof' } : undefined;
  }

  /** `sealed`: the proofs that the refused request carried. Called once the request passed without what was refused. */
  learn(route: Route, { about }: ProofRefusal, sealed: Iterable<string>): void {
    if (about === 'proofs') for (const text of sealed) this.#keep(this.#signatures, signatureId(route, text), maxProofs);
    else if (about === 'call-proof') this.#keep(this.#demands, routeId(route), maxRoutes);
  }

  #holds(kept: Map<string, number>, id: string): boolean {
    const until = kept.get(id);
    if (until === undefined) return false;
    if (until > this.#now()) return true;
    kept.delete(id);
    return false;
  }

  #keep(kept: Map<string, number>, id: string, max: number): void {
    kept.delete(id);
    kept.set(id, this.#now() + rememberedMs);
    const [oldest] = kept.keys();
    if (kept.size > max && oldest !== undefined) kept.delete(oldest);
  }
}

const routeId = ({ upstream, model }: Route): string => `${model.name}\u0000${upstream.name}`;
/** Texts of proofs are long: a digest stands for them. */
const signatureId = (route: Route, sealed: string): string => `${routeId(route)}\u0000${createHash('sha256').update(sealed).digest('base64')}`;
