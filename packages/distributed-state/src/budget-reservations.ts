/**
 * What this process has reserved of one budget. One reservation request is under way at a time, so that the reported amount is exact; settlements in
 * between are sent after it. A budget that is reserved to its limit but not spent is worth waiting for: most reservations settle for less.
 */
import type { Reserved } from '@model-gateway/limits';
import type { SharedState } from './state.ts';

/** Whether a reservation was granted, and what was spent of the budget so far in micro-units. */
export interface ReservationResult {
  allowed: boolean;
  /** null: the amount spent before is not known yet. */
  spent: number | null;
  /** What tasks of upstreams hold; 0 where it was not looked at. */
  tasks: number;
}

/** How long a reservation may wait for others to settle, and how it learns that its caller disconnected. */
export interface WaitOptions {
  /** Maximum time to wait for other reservations to settle. */
  ms: number;
  /** Registers a callback for when the caller disconnects; called at most once, and only when the reservation has to wait. */
  onLeave(leave: () => void): void;
}

interface Waiter {
  amount: number;
  answered(answer: ReservationResult): void;
  wait: WaitOptions | undefined;
  timer: NodeJS.Timeout | undefined;
  /** Already answered, whatever the request under way returns. */
  gone: boolean;
}

/** More waiters are refused at once: they hold requests, and a budget this short serves few of them. */
const maxLineLength = 64;
/** How often waiters ask whether another process has settled. */
const pollMs = 250;

export class BudgetReservations {
  readonly #state: SharedState;
  readonly #scope: string;
  /** In order of arrival. */
  #line: Waiter[] = [];
  #busy = false;
  /** A reservation arrived while a request was under way. */
  #more = false;
  /** The last answer refused somebody: until something settles or the retry time has come, asking again is useless. */
  #closed = false;
  #again: NodeJS.Timeout | undefined;
  #unsent: number | null = null;
  #limitOf: () => number = () => 0;
  held = 0;

  constructor(state: SharedState, scope: string) {
    this.#state = state;
    this.#scope = scope;
  }

  /** Never rejects. Reservations that arrive while a request is under way are sent together with the next one. */
  reserve(amount: number, limitOf: () => number, wait?: WaitOptions): Promise<ReservationResult> {
    this.#limitOf = limitOf;
    if (this.#closed && (!wait || this.#line.length >= maxLineLength)) return Promise.resolve({ allowed: false, spent: null, tasks: 0 });
    return new Promise((resolve) => {
      this.#line.push({ amount, answered: resolve, wait, timer: undefined, gone: false });
      if (this.#busy) this.#more = true;
      else if (!this.#closed) this.#ask();
    });
  }

  /** A reservation has ended, and its request cost this much. */
  settle(amount: number, cost: number): void {
    this.held -= amount;
    this.#unsent = (this.#unsent ?? 0) + cost;
    if (this.#busy) return;
    this.#send();
    this.#ask();
  }

  #ask(): void {
    clearTimeout(this.#again);
    this.#closed = false;
    this.#more = false;
    if (this.#line.length === 0) return;
    const batch = [...this.#line];
    const amounts = batch.map((one) => one.amount);
    const answered = (reserved: Reserved): void => this.#answered(batch, reserved);
    this.#busy = true;
    const soon = this.#state.reserve(this.#scope, { limit: this.#limitOf(), held: this.held, amounts });
    if (soon instanceof Promise) void soon.then(answered);
    else answered(soon);
  }

  #answered(batch: readonly Waiter[], reserved: Reserved): void {
    const { granted, spent, tasks } = reserved;
    const again = this.#more || this.#unsent !== null;
    this.#busy = false;
    for (const one of batch.slice(0, granted)) {
      // The caller has disconnected: return the reservation to the store.
      if (one.gone) this.#unsent ??= 0;
      else this.held += one.amount;
      this.#leave(one, { allowed: true, spent, tasks });
    }
    this.#line = this.#line.filter(({ gone }) => !gone);
    this.#sendAway(batch.slice(granted), reserved);
    if (this.#unsent !== null) this.#send();
    if (again) this.#ask();
  }

  /** Refuses waiters that were not admitted, or keeps them in the queue while the budget is not spent, nor held by tasks, which take minutes. */
  #sendAway(rest: readonly Waiter[], { spent, tasks }: Reserved): void {
    const isSpent = (spent ?? 0) + tasks >= this.#limitOf();
    let staying = 0;
    for (const one of rest) {
      if (one.gone) continue;
      if (!isSpent && one.wait && staying < maxLineLength) {
        staying++;
        this.#stay(one, one.wait);
      } else this.#refuse(one, spent, tasks);
    }
    if (staying === 0) return;
    this.#closed = true;
    this.#again = setTimeout(() => this.#ask(), pollMs).unref();
  }

  #stay(waiter: Waiter, { ms, onLeave }: WaitOptions): void {
    if (waiter.timer) return;
    waiter.timer = setTimeout(() => this.#refuse(waiter, null), ms);
    onLeave(() => this.#refuse(waiter, null));
  }

  #refuse(waiter: Waiter, spent: number | null, tasks = 0): void {
    const at = this.#line.indexOf(waiter);
    if (at >= 0) this.#line.splice(at, 1);
    this.#leave(waiter, { allowed: false, spent, tasks });
  }

  #leave(waiter: Waiter, answer: ReservationResult): void {
    clearTimeout(waiter.timer);
    if (waiter.gone) return;
    waiter.gone = true;
    waiter.answered(answer);
  }

  #send(): void {
    const cost = this.#unsent ?? 0;
    this.#unsent = null;
    this.#state.charge(this.#scope, { held: this.held, cost });
  }
}
