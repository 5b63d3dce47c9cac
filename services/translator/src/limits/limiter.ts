/** The admission queues of this process by name, and which of them applies to an attempt. */
import type { Model, RateLimit, Snapshot, UpstreamRecord } from '@model-gateway/contracts';
import type { Admission, GateAsk, SharedState } from '@model-gateway/distributed-state';
import { AdmissionQueue, free } from '@model-gateway/distributed-state';

/** The model and upstream whose limits apply. */
export interface LimitedTarget {
  model: Pick<Model, 'name' | 'rate_limit'>;
  upstream: Pick<UpstreamRecord, 'name' | 'rate_limit'>;
}

export class Limiter {
  readonly #state: SharedState;
  readonly #gates = new Map<string, AdmissionQueue>();

  constructor(state: SharedState) {
    this.#state = state;
  }

  /**
   * The lease of one attempt; at once, and the same for all, when nothing limits it. A promise while it is queued, for `wait_timeout_secs`
   * at most. The model's own limit replaces the upstream's. Never rejects.
   */
  acquire({ model, upstream }: LimitedTarget, ask: GateAsk): Admission | Promise<Admission> {
    const limit = limitOf(model, upstream);
    if (!limit) return free;
    return model.rate_limit === limit ? this.#gate(`model:${model.name}`).acquire(limit, ask) : this.#gate(`upstream:${upstream.name}`).acquire(limit, ask);
  }

  /** Applies edited limits to the calls that wait, which would else learn of them from the next call alone. */
  follow({ models, upstreams }: Snapshot): void {
    for (const [scope, gate] of this.#gates) {
      if (gate.waiting === 0) continue;
      const name = scope.slice(scope.indexOf(':') + 1);
      if (scope.startsWith('upstream:')) {
        gate.edit(upstreams.get(name)?.rate_limit ?? null);
        continue;
      }
      const model = models.get(name);
      gate.edit(model ? limitOf(model, upstreams.get(model.upstream)) : null);
    }
  }

  /** Every admission queue that was ever used, for the status. */
  gates(): { scope: string; held: number; waiting: number; limit: RateLimit | null }[] {
    return [...this.#gates].map(([scope, { held, waiting, limit }]) => ({ scope, held, waiting, limit }));
  }

  close(): void {
    for (const gate of this.#gates.values()) gate.close();
  }

  #gate(scope: string): AdmissionQueue {
    let gate = this.#gates.get(scope);
    if (!gate) {
      gate = new AdmissionQueue(scope, this.#state);
      this.#gates.set(scope, gate);
    }
    return gate;
  }
}

function limitOf({ rate_limit: own }: LimitedTarget['model'], upstream: LimitedTarget['upstream'] | undefined): RateLimit | null {
  return (own === undefined || own === 'inherit' ? upstream?.rate_limit : own) ?? null;
}
