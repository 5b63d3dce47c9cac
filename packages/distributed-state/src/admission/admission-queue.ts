/** The admission queue of one upstream or model: admits calls as its limits allow, and queues the others fairly. */
import type { RateLimit } from '@model-gateway/contracts';
import { type GateLimits, type Taken, toGateLimits } from '@model-gateway/limits';
import { Permits } from '../permits.ts';
import type { SharedState } from '../state.ts';
import { FairQueue, type InLine } from './fair-queue.ts';
import type { Admission, GateAsk, Lease, Place } from './lease.ts';

interface Waiter extends InLine {
  /** Tokens of its request alone, and those with what its reply may be. */
  request: number;
  cost: number;
  /** false: the store is asked once, and a refusal is final. */
  waits: boolean;
  timer: NodeJS.Timeout | undefined;
  settle(admission: Admission): void;
}

/** So many are asked for at once where asking takes a round trip. */
const batchSize = 16;
/** Nothing but a release was said to help: looked at again all the same, since limits are edited and stores are emptied. */
const safetyMs = 1000;
/** Tokens expected of a reply before one was seen. */
const firstReply = 1000;

export class AdmissionQueue {
  readonly #permits: Permits;
  readonly #state: SharedState;
  readonly #queue = new FairQueue<Waiter>();
  #limit: RateLimit | null = null;
  #limits: GateLimits | null = null;
  /** Set after a refusal; until this time `acquire` refuses without asking the store. */
  #closedUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Tokens that calls used beyond the estimate of their request, on the average; null: none has ended yet. */
  #reply: number | null = null;

  constructor(scope: string, state: SharedState) {
    this.#state = state;
    this.#permits = new Permits(state, scope);
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Calls of this process under way. */
  get held(): number {
    return this.#permits.held;
  }

  get limit(): RateLimit | null {
    return this.#limit;
  }

  /** `limit` is the one of the request's own configuration; an edited one takes hold at once. */
  acquire(limit: RateLimit, ask: GateAsk): Admission | Promise<Admission> {
    this.edit(limit);
    if (!this.#limits) return free;
    const countsTokens = this.#limits.tpm !== null;
    const request = countsTokens ? Math.max(1, ask.requestTokens()) : 1;
    const cost = countsTokens ? request + this.#expectReply(ask.replyTokens()) : request;
    const waitMs = ask.mayWait ? limit.wait_timeout_secs * 1000 : 0;
    if (waitMs === 0 && this.#closed) return this.#refusal();
    const waiter: Waiter = { key: ask.accessKey, request, cost, waits: waitMs > 0, timer: undefined, settle: () => undefined };
    let answer: Admission | undefined;
    waiter.settle = (admission) => {
      answer = admission;
    };
    this.#queue.push(waiter);
    this.#pump();
    if (answer) return answer;
    if (waitMs === 0 && !this.#permits.busy) {
      this.#queue.remove(waiter);
      return this.#refusal();
    }
    return this.#wait(waiter, waitMs, ask);
  }

  /** Applies to those who wait as well. null: nothing is limited any more. */
  edit(limit: RateLimit | null): void {
    if (limit === this.#limit) return;
    this.#limit = limit;
    this.#limits = limit && toGateLimits(limit);
    this.#closedUntil = 0;
    if (this.#limits) return this.#pump();
    for (const waiter of [...this.#queue]) if (this.#queue.remove(waiter)) waiter.settle(free);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #wait(waiter: Waiter, waitMs: number, ask: GateAsk): Promise<Admission> {
    return new Promise((resolve) => {
      waiter.settle = (admission) => {
        clearTimeout(waiter.timer);
        resolve(admission);
      };
      if (waitMs > 0) waiter.timer = setTimeout(() => this.#leave(waiter), waitMs);
      ask.onLeave(() => this.#leave(waiter));
    });
  }

  #leave(waiter: Waiter): void {
    if (this.#queue.remove(waiter)) waiter.settle(this.#refusal());
  }

  get #closed(): boolean {
    return performance.now() < this.#closedUntil;
  }

  #pump(): void {
    const limits = this.#limits;
    while (limits && this.#queue.size > 0 && !this.#permits.busy && !this.#closed) {
      const batch = this.#queue.peek(this.#state.remote ? batchSize : 1);
      this.#permits.take(
        limits,
        batch.map(({ cost }) => cost),
        batch.some(({ waits }) => waits),
        (taken) => this.#taken(batch, taken, limits),
      );
      if (this.#permits.busy) return;
    }
  }

  #taken(batch: readonly Waiter[], { granted, retryMs }: Taken, limits: GateLimits): void {
    for (const waiter of batch.slice(0, granted)) {
      // A waiter that left while the store was asked gives its lease back.
      if (this.#queue.serve(waiter)) waiter.settle(this.#lease(waiter, limits));
      else this.#permits.give(limits, 1, -waiter.cost, 1);
    }
    if (granted < batch.length) this.#shut(retryMs ?? safetyMs);
    this.#pump();
  }

  #shut(ms: number): void {
    this.#closedUntil = performance.now() + ms;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), ms).unref();
    for (const waiter of [...this.#queue]) {
      if (!waiter.waits && this.#queue.remove(waiter)) waiter.settle(this.#refusal());
    }
  }

  #open(): void {
    this.#closedUntil = 0;
    this.#pump();
  }

  #lease({ request, cost }: Waiter, limits: GateLimits): Lease {
    let released = false;
    const end = (tokens: number, unmade: number): void => {
      released = true;
      this.#permits.give(limits, 1, limits.tpm === null ? 0 : tokens - Math.min(cost, limits.tpm), unmade);
      this.#open();
    };
    return {
      limited: false,
      release: (used) => {
        if (released) return;
        const tokens = used();
        if (tokens > 0 && limits.tpm !== null) this.#learnReply(Math.max(0, tokens - request));
        end(tokens, 0);
      },
      giveBack: () => {
        if (!released) end(0, 1);
      },
      keepPlace: () => {
        if (released) return freePlace;
        released = true;
        this.#permits.give(limits, 0, limits.tpm === null ? 0 : -Math.min(cost, limits.tpm), 1);
        this.#open();
        return this.#place(limits);
      },
    };
  }

  /** It may be held for hours: what is configured when a call begins or ends applies. `first`: for where nothing is limited any more. */
  #place(first: GateLimits): Place {
    let released = false;
    const give = (count: number, tokens: number, unmade = 0): void => this.#permits.give(this.#limits ?? first, count, tokens, unmade);
    return {
      begin: () => {
        // No more than a debt can hold: what it turns out not to have taken is given back.
        const expected = Math.min(this.#limits?.tpm ?? 0, this.#expectReply(undefined));
        let ended = false;
        give(0, expected, -1);
        return (tokens) => {
          if (ended) return;
          ended = true;
          if (this.#limits?.tpm == null) return;
          if (tokens > 0) this.#learnReply(tokens);
          give(0, tokens - expected);
          this.#open();
        };
      },
      release: () => {
        if (released) return;
        released = true;
        give(1, 0);
        this.#open();
      },
    };
  }

  /** A rate lets an average pass: whole caps would leave most of it unused. Who wants less says so. */
  #expectReply(max: number | undefined): number {
    return Math.round(Math.min(max ?? Number.POSITIVE_INFINITY, this.#reply ?? firstReply));
  }

  #learnReply(tokens: number): void {
    this.#reply = this.#reply === null ? tokens : this.#reply + (tokens - this.#reply) / 8;
  }

  #refusal(): Admission {
    return { limited: true, retryAfterMs: Math.max(0, this.#closedUntil - performance.now()) };
  }
}

const freePlace: Place = Object.freeze({ begin: () => () => undefined, release: () => undefined });

/** Nothing is limited: one for all. */
export const free: Lease = Object.freeze({ limited: false, release: () => undefined, giveBack: () => undefined, keepPlace: () => freePlace });
