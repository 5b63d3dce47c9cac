/** The order in which a load balancer's nodes are tried, by strategy. The first node is the choice; the rest follow when it fails. */
import type { BalancerStrategy } from '@model-gateway/contracts';
import { unitHash } from './hash.ts';

/** A candidate of a load balancer: its model, and its configured weight. */
export interface Weighed {
  model: string;
  weight: number;
}

/** What the order depends on besides the nodes: time, randomness, latencies and round-robin state. */
export interface OrderContext {
  now: number;
  /** Between 0 and 1. */
  random: () => number;
  /** Expected milliseconds of a model; null when unknown. */
  cost: (model: string, now: number) => number | null;
  rotation: Rotation;
  /** Changes no state: for explanations and dry runs. */
  peek: boolean;
}

/**
 * Smooth weighted round-robin as Nginx does it: each candidate gains its weight, the richest is chosen and pays the total. Kept per balancer,
 * by model, so that candidates may leave and come back.
 */
export class Rotation {
  readonly #current = new Map<string, number>();

  /** The credit with which a candidate would enter the next turn. */
  creditOf({ model, weight }: Weighed): number {
    return (this.#current.get(model) ?? 0) + weight;
  }

  /** Candidates with their credit after this turn; the chosen one first, then those that would be chosen next. */
  order<T extends Weighed>(candidates: readonly T[], peek: boolean): T[] {
    let total = 0;
    let chosen: T | undefined;
    let max = Number.NEGATIVE_INFINITY;
    const credits = new Map<string, number>();
    for (const candidate of candidates) {
      const credit = this.creditOf(candidate);
      credits.set(candidate.model, credit);
      total += candidate.weight;
      if (credit > max) {
        max = credit;
        chosen = candidate;
      }
    }
    if (!chosen) return [];
    if (!peek) for (const [model, credit] of credits) this.#current.set(model, model === chosen.model ? credit - total : credit);
    if (candidates.length === 1) return [chosen];
    const rest = candidates.filter((candidate) => candidate !== chosen);
    return [chosen, ...rest.sort((a, b) => credits.get(b.model)! - credits.get(a.model)!)];
  }
}

type Strategy = <T extends Weighed>(candidates: readonly T[], context: OrderContext) => T[];

const strategies: Record<BalancerStrategy, Strategy> = {
  weighted: (candidates, { rotation, peek }) => withStandbys(candidates, (weighted) => rotation.order(weighted, peek)),
  priority: (candidates) => [...candidates],
  least_latency: (candidates, context) => withStandbys(candidates, (weighted) => byLatency(weighted, context)),
};

/** Candidates of weight 0 come last, in their order. */
function withStandbys<T extends Weighed>(candidates: readonly T[], order: (weighted: readonly T[]) => T[]): T[] {
  const standbys = candidates.filter(({ weight }) => weight === 0);
  return standbys.length === 0 ? order(candidates) : [...order(candidates.filter(({ weight }) => weight > 0)), ...standbys];
}

/** The better of two chosen at random, so that many routers do not run to the same one; the rest by what they cost. One never measured is tried first. */
function byLatency<T extends Weighed>(candidates: readonly T[], { random, cost, now }: OrderContext): T[] {
  if (candidates.length < 2) return [...candidates];
  const costs = new Map(candidates.map((candidate) => [candidate, cost(candidate.model, now) ?? -1]));
  const one = Math.min(candidates.length - 1, Math.floor(random() * candidates.length));
  const step = 1 + Math.min(candidates.length - 2, Math.floor(random() * (candidates.length - 1)));
  const [a, b] = [candidates[one]!, candidates[(one + step) % candidates.length]!];
  const chosen = costs.get(b)! < costs.get(a)! ? b : a;
  return [chosen, ...candidates.filter((candidate) => candidate !== chosen).sort((x, y) => costs.get(x)! - costs.get(y)!)];
}

export const orderNodes = <T extends Weighed>(strategy: BalancerStrategy, candidates: readonly T[], context: OrderContext): T[] =>
  strategies[strategy](candidates, context);

const rendezvousScore = ({ weight, model }: Weighed, accessKey: string): number =>
  weight === 0 ? -1 : weight / -Math.log(unitHash(`${accessKey}\u0000${model}`));

/** Weighted rendezvous hashing: the same access key finds the same node in every process, and a node that leaves moves only its own callers. */
export function bindStatically<T extends Weighed>(candidates: readonly T[], accessKey: string): T[] {
  const scores = new Map(candidates.map((one) => [one, rendezvousScore(one, accessKey)]));
  return [...candidates].sort((a, b) => scores.get(b)! - scores.get(a)!);
}

/** The figure the order was based on, for explanations: the credit of this turn, the expected milliseconds, or the hash of a static binding. */
export function scoreOf(node: Weighed, by: BalancerStrategy | 'static', accessKey: string, { rotation, cost, now }: OrderContext): number | null {
  if (by === 'static') return rendezvousScore(node, accessKey);
  if (by === 'weighted') return node.weight === 0 ? null : rotation.creditOf(node);
  return by === 'least_latency' ? cost(node.model, now) : null;
}
