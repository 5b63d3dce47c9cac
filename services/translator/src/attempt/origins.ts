/** Where a request was when a rule or script sent it on: should it fail there, the other nodes of the load balancer that it came by are left. */
import type { Snapshot } from '@model-gateway/contracts';
import type { Call, CallMark } from '../call.ts';
import type { Room } from '../room.ts';
import type { AttemptPath } from './attempt-path.ts';
import type { Failures } from './failures.ts';

export interface Walk {
  path: AttemptPath;
  failures: Failures;
  snapshot: Snapshot;
}

export class Origins {
  readonly #left: (Walk & { mark: CallMark })[] = [];

  /** To be called before the request is sent on. */
  leave(walk: Walk, call: Call): void {
    this.#left.push({ ...walk, mark: call.mark() });
  }

  /** All is spent where the request was sent: back to the nearest origin with another node. Throws what the failures come to when there is none. */
  back(failures: Failures, call: Call, room: Room): Walk {
    let last = failures;
    for (let origin = this.#left.pop(); origin; origin = this.#left.pop()) {
      origin.failures.addRoute(last.error());
      last = origin.failures;
      if (!origin.path.nextNode() || !room.retries.take()) continue;
      call.comeBack(origin.mark);
      return origin;
    }
    throw last.error();
  }
}
