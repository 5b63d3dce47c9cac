/** Walks a plan: each key of a node, then the next node; no key of a node twice, and no key again that its upstream refused. */
import type { Plan, PlannedNode } from '@model-gateway/contracts';
import type { PlannedAttempt } from '@model-gateway/routing';

export class AttemptPath {
  readonly #nodes: readonly PlannedNode[];
  /** Made on first need: most requests are tried once. */
  #refused: Set<string> | undefined;
  #node = 0;
  #key = 0;

  constructor(plan: Plan) {
    this.#nodes = plan.nodes;
  }

  /** The node of the present attempt; undefined when all is spent. */
  get node(): PlannedNode | undefined {
    return this.#nodes[this.#node];
  }

  /** No other node comes after the present one. */
  get isLastNode(): boolean {
    return this.#node >= this.#nodes.length - 1;
  }

  get attempt(): PlannedAttempt | undefined {
    const node = this.node;
    const keyIndex = node?.keys[this.#key];
    return node && keyIndex !== undefined ? { model: node.model, upstream: node.upstream, keyIndex } : undefined;
  }

  /** The present key was refused: other models of this upstream are not tried with it either. */
  refuseKey(): void {
    const attempt = this.attempt;
    if (!attempt) return;
    this.#refused ??= new Set();
    this.#refused.add(idOf(attempt));
  }

  /** On to the next key of this node. false: it has none left. */
  nextKey(): boolean {
    this.#key++;
    return this.#settle();
  }

  /** On to the next node. false: there is none left. */
  nextNode(): boolean {
    for (this.#node++; this.#node < this.#nodes.length; this.#node++) {
      this.#key = 0;
      if (this.#settle()) return true;
    }
    return false;
  }

  /** Passes over keys that were refused. */
  #settle(): boolean {
    for (let attempt = this.attempt; attempt; attempt = this.attempt) {
      if (!this.#refused?.has(idOf(attempt))) return true;
      this.#key++;
    }
    return false;
  }
}

const idOf = ({ upstream, keyIndex }: PlannedAttempt): string => `${keyIndex} ${upstream}`;
