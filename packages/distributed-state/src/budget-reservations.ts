/**
 * What this process has reserved of one budget: one question at a time, so that the figure is exact, and settlements in between are told after it.
 * A budget that is not spent but reserved to its limit is worth waiting for: most reservations settle for less.
 */
import type { Reserved } from '@model-gateway/limits';
import type { SharedState } from './state.ts';

export interface ReservationResult {
  allowed: boolean;
  /** null: nobody said yet what was spent before. */
  spent: number | null;
}

export interface WaitOptions {
  /** How long to wait at most for others to settle. */
  ms: number;
  /** Told how to hear that the caller leaves; called at most once, and only when there is something to wait for. */
  onLeave(leave: () => void): void;
}

interface Waiter {
  amount: number;
  answered(answer: ReservationResult): void;
  wait: WaitOptions | undefined;
  timer: NodeJS.Timeout | undefined;
  /** Answered, whatever a question under way brings. */
  gone: boolean;
}

/** More are refused at once: they hold requests, and a budget that is this short serves few of them. */
const maxLineLength = 64;
/** How often those who wait ask whether another process has settled. */
const pollMs = 250;

export class BudgetReservations {
  readonly #state: SharedState;
  readonly #scope: string;
  /** In the order of their coming. */
  #line: Waiter[] = [];
  #busy = false;
  /** Somebody came while a question was under way. */
  #more = false;
  /** The last answer left somebody outside: until something settles, or the time has come, asking is in vain. */
  #closed = false;
  #again: NodeJS.Timeout | undefined;
  #unsent: number | null = null;
  #limitOf: () => number = () => 0;
  held = 0;

  constructor(state: SharedState, scope: string) {
    this.#state = state;
    this.#scope = scope;
  }

  /** Never rejects. Those who come while a question is under way are asked for together with the next one. */
  reserve(amount: number, limitOf: () => number, wait?: WaitOptions): Promise<ReservationResult> {
    this.#limitOf = limitOf;
    if (this.#closed && (!wait || this.#line.length >= maxLineLength)) return Promise.resolve({ allowed: false, spent: null });
    return new Promise((resolve) => {
      this.#line.push({ amount, answered: resolve, wait, timer: undefined, gone: false });
      if (this.#busy) this.#more = true;
      else if (!this.#closed) this.#ask();
    });
  }

  /** A reservation is over, and its request cost so much. */
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

  #answered(batch: readonly Waiter[], { granted, spent }: Reserved): void {
    const again = this.#more || this.#unsent !== null;
    this.#busy = false;
    for (const one of batch.slice(0, granted)) {
      // Nobody is there any more to use it: the store hears so.
      if (one.gone) this.#unsent ??= 0;
      else this.held += one.amount;
      this.#leave(one, { allowed: true, spent });
    }
    this.#line = this.#line.filter(({ gone }) => !gone);
    this.#sendAway(batch.slice(granted), spent);
    if (this.#unsent !== null) this.#send();
    if (again) this.#ask();
  }

  /** Those who were not let in go, or stay in line where the budget is not spent. */
  #sendAway(rest: readonly Waiter[], spent: number | null): void {
    const isSpent = (spent ?? 0) >= this.#limitOf();
    let staying = 0;
    for (const one of rest) {
      if (one.gone) continue;
      if (!isSpent && one.wait && staying < maxLineLength) {
        staying++;
        this.#stay(one, one.wait);
      } else this.#refuse(one, spent);
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

  #refuse(waiter: Waiter, spent: number | null): void {
    const at = this.#line.indexOf(waiter);
    if (at >= 0) this.#line.splice(at, 1);
    this.#leave(waiter, { allowed: false, spent });
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
