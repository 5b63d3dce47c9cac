/** Where a request was when a rule or script sent it on: should it fail there, the other nodes of the load balancer that it came by are left. */
import type { Snapshot } from '@model-gateway/contracts';
import { type ErrorCode, isGatewayError } from '@model-gateway/contracts/errors';
import type { Route } from '@model-gateway/routing';
import type { Call, CallMark } from '../call.ts';
import type { TranslatorContext } from '../context.ts';
import { AttemptCursor } from './attempt-cursor.ts';
import { Failures } from './failures.ts';
import { reroute } from './reroute.ts';

/** The state of the attempt loop that a reroute saves. */
export interface Walk {
  path: AttemptCursor;
  failures: Failures;
  snapshot: Snapshot;
}

/** Why the router plans no attempt where upstreams are at fault, and not what was asked for. */
const unservable: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['upstream_unavailable', 'upstream_disabled', 'no_upstream']);

export class RerouteStack {
  readonly #left: (Walk & { mark: CallMark })[] = [];

  /** Leaves `walk` for `model`; resolves with the walk there, or where no upstream can be asked there, with the one that `back` finds. */
  async reroute(walk: Walk, call: Call, from: Route, model: string, context: TranslatorContext): Promise<Walk> {
    this.#left.push({ ...walk, mark: call.mark() });
    try {
      const snapshot = await reroute(call, from, model, context);
      return { path: new AttemptCursor(call.plan), failures: new Failures(call.plan), snapshot };
    } catch (error) {
      if (!isGatewayError(error) || !unservable.has(error.code)) throw error;
      const failures = new Failures(call.plan);
      failures.refused = error;
      return this.back(failures, call, context);
    }
  }

  /** All is spent where the request was sent: back to the nearest origin with another node. Throws what the failures come to when there is none. */
  back(failures: Failures, call: Call, context: TranslatorContext): Walk {
    let last = failures;
    for (let origin = this.#left.pop(); origin; origin = this.#left.pop()) {
      origin.failures.addRoute(last);
      last = origin.failures;
      if (!origin.path.nextNode()) continue;
      // The budget bounds work that is done twice.
      if (last.worked && !context.retries.take()) continue;
      call.restore(origin.mark);
      return origin;
    }
    throw last.error();
  }
}
