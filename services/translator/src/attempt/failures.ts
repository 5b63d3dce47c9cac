/** What the failed attempts of one request come to for its caller. */
import type { Plan } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { UpstreamFault } from '@model-gateway/protocols';
import { nextStep, wasUnreached } from './classify.ts';

export class Failures {
  readonly #plan: Plan;
  #last: GatewayError | undefined;
  /** A limit is the one failure that passes by itself: with several keys it says more than a refused one. */
  #limited: GatewayError | undefined;
  /** Why nodes were passed over that could not serve it: what a strict group would have lost, or no translation. */
  refused: GatewayError | undefined;
  #callers = false;
  /** The last attempt reached its upstream, which may have begun to work on it. */
  #worked = false;
  /** What does not fit is the caller's to shorten, whatever a node with a larger window answered. */
  #overflow: GatewayError | undefined;
  /** Every attempt found the request larger than its account's tokens of a minute: one that failed otherwise may yet take it. */
  #tooLarge = true;
  /** Every attempt found fault with what its model wrote: asked again, they would say the same. */
  #model = true;
  /** No node failed otherwise than by not having what was asked for. */
  #missing = true;
  /** A node was left out because our own limit of it is reached. */
  #passedOver = false;
  /** Seconds. */
  #soonest: number | undefined;

  constructor(plan: Plan) {
    this.#plan = plan;
    if (plan.retryAfterMs !== undefined) this.#wait(Math.max(1, Math.ceil(plan.retryAfterMs / 1000)));
  }

  add(fault: UpstreamFault, error: GatewayError): void {
    this.#last = error;
    this.#worked = !wasUnreached(fault);
    this.#callers = nextStep(fault) === 'stop';
    if (fault.class !== 'not-found') this.#missing = false;
    if (fault.class === 'context') this.#overflow = error;
    if (fault.class !== 'too-large') this.#tooLarge = false;
    if (fault.class !== 'model') this.#model = false;
    if (error.retryAfter !== undefined) this.#wait(error.retryAfter);
    if (fault.class === 'rate' && (this.#limited?.retryAfter ?? Number.POSITIVE_INFINITY) >= (error.retryAfter ?? Number.POSITIVE_INFINITY))
      this.#limited = error;
  }

  /** The reroute target failed as a whole. */
  addRoute(route: Failures): void {
    const error = route.error();
    this.#last = error;
    this.#worked = route.#worked;
    this.#callers = false;
    this.#missing = false;
    this.#tooLarge = false;
    this.#model = false;
    if (error.retryAfter !== undefined) this.#wait(error.retryAfter);
  }

  /** 0: nobody knows when. */
  passOver(retryAfterMs: number): void {
    this.#passedOver = true;
    this.#missing = false;
    this.#tooLarge = false;
    this.#model = false;
    this.#wait(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  }

  get worked(): boolean {
    return this.#worked;
  }

  #wait(seconds: number): void {
    this.#soonest = Math.min(this.#soonest ?? Number.POSITIVE_INFINITY, seconds);
  }

  /** A single upstream's own error; when all nodes of a balancer failed, 503 with the soonest Retry-After. */
  error(): GatewayError {
    // Everything that could serve is at its limit, and nothing was sent.
    if (this.#passedOver && !this.#last)
      return new GatewayError('rate_limited', { message: 'The model is at its limit. Try again later.', retryAfter: this.#soonest ?? 1 });
    const last = this.#last ?? this.refused ?? new GatewayError('no_upstream');
    if (!this.#last) return last;
    if (this.#overflow) return this.#overflow;
    if (this.#callers || this.#tooLarge || this.#model) return last;
    if (!this.#plan.balanced) return this.#limited ?? last;
    return new GatewayError('no_upstream', {
      cause: last.cause ?? last,
      ...(this.#missing && { message: `Each upstream that was asked has nothing of that name. The last one said: ${last.message}` }),
      ...(this.#soonest !== undefined && { retryAfter: this.#soonest }),
    });
  }
}
