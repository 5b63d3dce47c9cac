/**
 * Walks a plan: each key of a node, then the next node, then the keys that were left for later; no key of a node twice, and no key again that its
 * upstream refused.
 */
import type { Plan, PlannedNode } from '@model-gateway/contracts';
import type { PlannedAttempt } from '@model-gateway/routing';

export class AttemptCursor {
  readonly #nodes: readonly PlannedNode[];
  /** Made on first need: most requests are tried once. */
  #refused: Set<string> | undefined;
  /** Where keys were left untried for the sake of another node. */
  #later: { node: number; key: number }[] | undefined;
  #returned = false;
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
    return this.#returned || this.#node >= this.#nodes.length - 1;
  }

  /** All nodes were asked: this one is asked again, with a key that was not tried. */
  get returned(): boolean {
    return this.#returned;
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

  /** The other keys of the present node may do better, but another node is asked before them. */
  leaveKeys(): void {
    if (this.isLastNode || this.#key + 1 >= (this.node?.keys.length ?? 0)) return;
    this.#later ??= [];
    this.#later.push({ node: this.#node, key: this.#key + 1 });
  }

  /** On to the next node, at last to where keys were left. false: there is none. */
  nextNode(): boolean {
    if (!this.#returned) {
      for (this.#node++; this.#node < this.#nodes.length; this.#node++) {
        this.#key = 0;
        if (this.#settle()) return true;
      }
    }
    for (let left = this.#later?.shift(); left; left = this.#later?.shift()) {
      this.#returned = true;
      this.#node = left.node;
      this.#key = left.key;
      if (this.#settle()) return true;
    }
    this.#node = this.#nodes.length;
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
