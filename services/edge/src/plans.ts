/**
 * What the router said of models with one upstream, for the next requests of the same caller: a balanced model is asked for each time, since its
 * strategy must see every request, but of a lone healthy upstream the router can only say the same again.
 */

import type { Outcome, Plan } from '@model-gateway/contracts';
import { LRUCache } from 'lru-cache';

/** Plans are reused this long: events may be lost, and the router must see now and then that a caller's key is still in use. */
const lastsMs = 1000;
const maxKept = 10_000;

export class Plans {
  readonly #kept = new LRUCache<string, { plan: Plan; at: number }>({ max: maxKept });

  /** `now` in ms, of any clock. undefined: the router has to be asked. */
  find(accessKey: string, model: string, revision: number, now: number): Plan | undefined {
    const kept = this.#kept.get(idOf(accessKey, model));
    return kept && kept.plan.revision === revision && now >= kept.at && now - kept.at < lastsMs ? kept.plan : undefined;
  }

  keep(accessKey: string, model: string, plan: Plan, now: number): void {
    if (!plan.lasting) return;
    this.#kept.set(idOf(accessKey, model), { plan, at: now });
  }

  /** How attempts went somewhere: after a failure the router may say something else. */
  onOutcomes(outcomes: readonly Outcome[]): void {
    if (outcomes.some(({ sign, waitMs }) => sign !== 'none' || waitMs !== undefined)) this.forget();
  }

  forget(): void {
    this.#kept.clear();
  }
}

const idOf = (accessKey: string, model: string): string => `${accessKey}\u0000${model}`;
