/** What one router remembers between requests. The clock is an argument of each call; random comes with the state. */
import type { LoadBalancer, Snapshot } from '@model-gateway/contracts';
import { Rotation } from './balance.ts';
import { type BindingOptions, KeyBindings } from './bindings.ts';
import { type CircuitPolicy, circuitPolicy } from './circuit.ts';
import { Health } from './health.ts';

/** Bounds and thresholds of a router's memory; tests fix the randomness. */
export interface RoutingStateOptions {
  bindings: BindingOptions;
  /** Between 0 and 1. */
  random: () => number;
  circuits?: CircuitPolicy;
}

interface Turns {
  /** Entries and weights the turns were taken with. */
  fingerprint: string;
  /** The last record seen: nearly always the same, so that nothing is printed. */
  record: LoadBalancer;
  rotation: Rotation;
}

export class RoutingState {
  readonly bindings: KeyBindings;
  readonly health: Health;
  readonly random: () => number;
  readonly #turns = new Map<string, Turns>();

  constructor({ bindings, random, circuits = circuitPolicy }: RoutingStateOptions) {
    this.bindings = new KeyBindings(bindings);
    this.health = new Health(random, circuits);
    this.random = random;
  }

  /** Round-robin turns: kept while entries and weights stay the same, reset when they change. */
  rotationOf(balancer: LoadBalancer): Rotation {
    const known = this.#turns.get(balancer.name);
    if (known?.record === balancer) return known.rotation;
    const fingerprint = JSON.stringify(balancer.entries.map(({ model, weight }) => [model, weight]));
    const rotation = known?.fingerprint === fingerprint ? known.rotation : new Rotation();
    this.#turns.set(balancer.name, { fingerprint, record: balancer, rotation });
    return rotation;
  }

  /** A new snapshot is current: drops the state of what an admin changed or removed. */
  adopt(snapshot: Snapshot, previous: Snapshot | null): void {
    for (const name of this.#turns.keys()) if (!snapshot.loadBalancers.has(name)) this.#turns.delete(name);
    if (!previous || previous.upstreams === snapshot.upstreams) return;
    for (const [name, record] of previous.upstreams) if (snapshot.upstreams.get(name) !== record) this.health.forget(name);
  }

  /** Forgets what is idle or gone; to be called now and then. */
  sweep(snapshot: Snapshot | null, now: number): void {
    this.bindings.sweep(now, (upstream) => snapshot?.upstreams.has(upstream) ?? true);
    this.health.sweep(
      now,
      (upstream) => snapshot?.upstreams.has(upstream) ?? true,
      (model) => snapshot?.models.has(model) ?? true,
    );
  }
}
