/** Health of upstreams, learned from the outcomes of attempts: breakers by target, and the times set by `Retry-After`. */
import type { HealthSign, Model, Outcome, UpstreamRecord } from '@model-gateway/contracts';
import { Circuit, type CircuitPolicy, circuitPolicy } from './circuit.ts';

/** Maximum time to respect a `Retry-After`, whatever the upstream asks for. */
const maxWaitMs = 15 * 60_000;

/** State of one upstream that had a failure lately; a healthy upstream has none. */
interface Troubles {
  /** By target: the address, a key, a model behind a key. */
  circuits: Map<string, Circuit>;
  /** By model and key: the router's clock until which it is not called (`Retry-After`). */
  waits: Map<string, number>;
}

type Scope = 'line' | 'key' | 'node' | 'hang';
const lineOf = (model: Pick<Model, 'base_url'>): string => `line\u0000${model.base_url ?? ''}`;
const keyOf = (key: string): string => `key\u0000${key}`;
const nodeOf = (model: string, key: string): string => `node\u0000${model}\u0000${key}`;
const hangOf = (model: string, key: string): string => `hang\u0000${model}\u0000${key}`;

/** Why one key of a node is held back. */
export type Obstacle = { kind: 'open'; scope: Scope; circuit: Circuit } | { kind: 'waiting'; untilMs: number };

export class Health {
  readonly #policy: CircuitPolicy;
  readonly #random: () => number;
  readonly #upstreams = new Map<string, Troubles>();
  readonly #latencies = new Map<string, Latency>();

  constructor(random: () => number, policy: CircuitPolicy = circuitPolicy) {
    this.#random = random;
    this.#policy = policy;
  }

  /** Records outcomes of attempts at one target. `model` may have been deleted meanwhile. */
  record(outcome: Outcome, model: Model | undefined, now: number): void {
    if (outcome.latencyMs !== undefined) this.#latency(outcome.model).observe(outcome.latencyMs, now);
    const failed = outcome.sign !== 'none';
    this.#latencies.get(outcome.model)?.settle(outcome.ok + (failed ? 1 : 0), now);
    const line = lineOf(model ?? { base_url: null });
    const known = this.#upstreams.get(outcome.upstream);
    if (outcome.ok > 0 && known) this.#worked(known, outcome, line, now);
    if (failed) this.#failed(outcome, line, now);
    if (outcome.waitMs !== undefined) {
      const until = now + Math.min(outcome.waitMs, maxWaitMs);
      this.#troubles(outcome.upstream).waits.set(nodeOf(outcome.model, outcome.key), until);
    }
  }

  #worked(known: Troubles, { model, key, ok }: Outcome, line: string, now: number): void {
    for (const place of [line, keyOf(key), nodeOf(model, key), hangOf(model, key)]) known.circuits.get(place)?.succeed(ok, now);
  }

  #failed({ upstream, model, key, sign, probe, ok }: Outcome, line: string, now: number): void {
    const troubles = this.#troubles(upstream);
    const place: Record<Exclude<HealthSign, 'none'>, string> = { line, hang: hangOf(model, key), node: nodeOf(model, key), key: keyOf(key) };
    const circuit = (at: string): Circuit => {
      let one = troubles.circuits.get(at);
      if (!one) {
        one = new Circuit(this.#policy);
        if (ok > 0) one.succeed(ok, now);
        troubles.circuits.set(at, one);
      }
      return one;
    };
    circuit(place[sign as Exclude<HealthSign, 'none'>]).fail(now, this.#random(), probe === true);
    // Any answer shows that the address can be reached, and an immediate refusal that it does not hang.
    if (sign !== 'line' && sign !== 'hang') troubles.circuits.get(line)?.succeed(1, now);
    if (sign === 'node' || sign === 'key') troubles.circuits.get(hangOf(model, key))?.succeed(1, now);
  }

  /** Whether there is any state against this upstream: the single look-up that a healthy request costs. */
  hasTroubles(upstream: string): boolean {
    return this.#upstreams.has(upstream);
  }

  /** The breaker of an address that cannot be reached, or of a key that takes requests and hangs; null when neither is open. */
  deadCircuit(model: Model, upstream: UpstreamRecord, keyId: string, now: number): Circuit | null {
    const circuits = this.#upstreams.get(upstream.name)?.circuits;
    for (const place of [lineOf(model), hangOf(model.name, keyId)]) {
      const circuit = circuits?.get(place);
      if (circuit && circuit.state(now) !== 'closed') return circuit;
    }
    return null;
  }

  /** Why this key is held back, the most serious reason first; null when nothing is known against it. */
  obstacle(model: Model, upstream: UpstreamRecord, keyId: string, now: number): Obstacle | null {
    const troubles = this.#upstreams.get(upstream.name);
    if (!troubles) return null;
    const untilMs = troubles.waits.get(nodeOf(model.name, keyId));
    if (untilMs !== undefined && untilMs > now) return { kind: 'waiting', untilMs };
    const places: readonly [Scope, string][] = [
      ['line', lineOf(model)],
      ['hang', hangOf(model.name, keyId)],
      ['node', nodeOf(model.name, keyId)],
      ['key', keyOf(keyId)],
    ];
    for (const [scope, place] of places) {
      const circuit = troubles.circuits.get(place);
      if (circuit && circuit.state(now) !== 'closed') return { kind: 'open', scope, circuit };
    }
    return null;
  }

  /** Milliseconds to the first content of the last measured answer; null without one. */
  lastLatencyMs(model: string): number | null {
    return this.#latencies.get(model)?.lastMs ?? null;
  }

  /** The figure for a choice by latency: expected milliseconds times requests under way, decaying while the node is not asked. Not a latency to display. */
  cost(model: string, now: number): number | null {
    return this.#latencies.get(model)?.cost(now) ?? null;
  }

  /** A request was sent to this model. */
  begin(model: string, now: number): void {
    this.#latency(model).begin(now);
  }

  #latency(model: string): Latency {
    let latency = this.#latencies.get(model);
    if (!latency) {
      latency = new Latency();
      this.#latencies.set(model, latency);
    }
    return latency;
  }

  #troubles(upstream: string): Troubles {
    let troubles = this.#upstreams.get(upstream);
    if (!troubles) {
      troubles = { circuits: new Map(), waits: new Map() };
      this.#upstreams.set(upstream, troubles);
    }
    return troubles;
  }

  /** An admin changed this upstream: earlier failures may no longer apply. */
  forget(upstream: string): void {
    this.#upstreams.delete(upstream);
  }

  /** Drops what no longer matters. */
  sweep(now: number, isKnown: (upstream: string) => boolean, hasModel: (model: string) => boolean): void {
    for (const [name, { circuits, waits }] of this.#upstreams) {
      for (const [place, circuit] of circuits) if (circuit.isQuiet(now)) circuits.delete(place);
      for (const [place, until] of waits) if (until <= now) waits.delete(place);
      if (!isKnown(name) || (circuits.size === 0 && waits.size === 0)) this.#upstreams.delete(name);
    }
    for (const model of this.#latencies.keys()) if (!hasModel(model)) this.#latencies.delete(model);
  }
}

/** Half-life of a measured latency without new measurements, and the time after which a request without an outcome is forgotten. */
const decayMs = 10_000;
const forgetMs = 60_000;

/** Peak-sensitive moving average: a slow answer counts at once, a quick one bit by bit. */
class Latency {
  /** The last measurement as it was. */
  lastMs: number | null = null;
  #ewma: number | null = null;
  #measuredAt = 0;
  #pending = 0;
  #pendingAt = 0;

  observe(latencyMs: number, now: number): void {
    if (this.#ewma === null || latencyMs > this.#ewma) this.#ewma = latencyMs;
    else {
      const weight = Math.exp(-Math.max(0, now - this.#measuredAt) / decayMs);
      this.#ewma = this.#ewma * weight + latencyMs * (1 - weight);
    }
    this.#measuredAt = now;
    this.lastMs = latencyMs;
  }

  begin(now: number): void {
    this.#pending = this.#pendingNow(now) + 1;
    this.#pendingAt = now;
  }

  settle(count: number, now: number): void {
    this.#pending = Math.max(0, this.#pendingNow(now) - count);
    this.#pendingAt = now;
  }

  cost(now: number): number | null {
    // A node that is not asked recovers gradually, else it would never be measured again.
    return this.#ewma === null ? null : this.#ewma * Math.exp(-Math.max(0, now - this.#measuredAt) / decayMs) * (this.#pendingNow(now) + 1);
  }

  #pendingNow(now: number): number {
    return this.#pending * Math.exp(-Math.max(0, now - this.#pendingAt) / forgetMs);
  }
}
