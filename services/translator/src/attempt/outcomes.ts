/** Publishes the results of attempts to the routers: failures at once, successes only where a router uses them. */

import type { Bus } from '@model-gateway/bus';
import type { HealthSign, Outcome, PlannedNode } from '@model-gateway/contracts';
import type { Route } from '@model-gateway/routing';
import { LRUCache } from 'lru-cache';

/** Reports the result of one attempt. */
export interface AttemptWatch {
  /** The upstream's first content is here: the place works. */
  content(): void;
  failed(sign: HealthSign, waitMs: number | undefined): void;
}

/** Publishes the results of attempts to the routers. */
export interface OutcomePublisher {
  /** `watched`: successes are published too, for the strategies of a load balancer. */
  begin(route: Route, node: PlannedNode, watched: boolean): AttemptWatch;
}

/** Unpublished results of one model, upstream and key. */
interface Place {
  model: string;
  upstream: string;
  key: string;
  ok: number;
  latencyMs: number | undefined;
  /** Failed since it last worked: the next success is published. */
  failed: boolean;
  waiting: boolean;
}

/** Successes may wait for one another this long. */
const gatherMs = 50;
const maxPositions = 50_000;

export function createOutcomePublisher(bus: Pick<Bus, 'publish'>, now: () => number = () => performance.now()): OutcomePublisher {
  const places = new LRUCache<string, Place>({ max: maxPositions });
  let waiting: Place[] = [];
  let ready: Outcome[] = [];
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Immediate | undefined;

  const flush = () => {
    clearTimeout(timer);
    clearImmediate(soon);
    timer = undefined;
    soon = undefined;
    for (const place of waiting) {
      place.waiting = false;
      if (place.ok > 0) ready.push(take(place, 'none'));
    }
    waiting = [];
    const outcomes = ready;
    ready = [];
    if (outcomes.length > 0) bus.publish('router.outcome', { outcomes });
  };
  const flushSoon = () => {
    soon ??= setImmediate(flush);
  };
  const take = (place: Place, sign: HealthSign): Outcome => {
    const { model, upstream, key, ok, latencyMs } = place;
    place.ok = 0;
    place.latencyMs = undefined;
    return { model, upstream, key, sign, ok, ...(latencyMs !== undefined && { latencyMs }) };
  };
  const placeOf = (model: string, upstream: string, key: string): Place => {
    const id = `${model}\u0000${upstream}\u0000${key}`;
    let place = places.get(id);
    if (!place) {
      place = { model, upstream, key, ok: 0, latencyMs: undefined, failed: false, waiting: false };
      places.set(id, place);
    }
    return place;
  };

  /** Routes are the same objects as long as their records are. */
  const placesOfRoutes = new WeakMap<Route, Place>();
  const placeOfRoute = (route: Route): Place => {
    let place = placesOfRoutes.get(route);
    if (!place) {
      place = placeOf(route.model.name, route.upstream.name, route.key?.id ?? '');
      placesOfRoutes.set(route, place);
    }
    return place;
  };

  return {
    begin(route, { probe }, watched) {
      const place = placeOfRoute(route);
      const began = now();
      return {
        content() {
          place.ok++;
          if (watched) place.latencyMs = now() - began;
          if (!watched && !place.failed && !probe) return;
          const urgent = place.failed || probe === true;
          place.failed = false;
          if (!place.waiting) {
            place.waiting = true;
            waiting.push(place);
          }
          if (urgent) flushSoon();
          else timer ??= setTimeout(flush, gatherMs).unref();
        },
        failed(sign, waitMs) {
          place.failed = true;
          ready.push({ ...take(place, sign), ...(waitMs !== undefined && { waitMs }), ...(probe && { probe }) });
          flushSoon();
        },
      };
    },
  };
}
