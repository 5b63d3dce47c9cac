/** A body that comes in parcels: its memory grows with what has come, not with what was announced, and all that are under way share one cap. */
import { chunkGarbage } from '@model-gateway/collections';

const firstBytes = 1024 * 1024;
/** Once this share of a body is here, it gets its whole place: what grows on is held twice each time. Pages that nothing was written to take no memory. */
const earnestShare = 32;

/** Bytes of bodies that are being gathered, over all streams. */
export class GatherBudget {
  private readonly max: number;
  private held = 0;

  constructor(max: number) {
    this.max = max;
  }

  take(bytes: number): boolean {
    if (this.held + bytes > this.max) return false;
    this.held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.held -= bytes;
  }
}

/** A body that is being received. */
export class Gathering {
  /** Bytes so far. */
  received = 0;
  /** Awake time of the last parcel. */
  lastSeenAt: number;
  private readonly announced: number;
  private readonly budget: GatherBudget;
  private readonly done: (body: Uint8Array) => void;
  private body: Buffer;

  constructor(announced: number, budget: GatherBudget, now: number, done: (body: Uint8Array) => void) {
    this.announced = announced;
    this.budget = budget;
    this.lastSeenAt = now;
    this.done = done;
    this.body = Buffer.allocUnsafeSlow(Math.min(announced, firstBytes));
  }

  /** `long`: more came than was announced. `full`: the budget is used up. `whole`: that was the last, and `finish` hands the body over. */
  add(payload: Uint8Array, now: number): 'more' | 'whole' | 'long' | 'full' {
    const end = this.received + payload.length;
    if (end > this.announced) return 'long';
    if (!this.budget.take(payload.length)) return 'full';
    if (end > this.body.length) {
      const length = end * earnestShare >= this.announced ? this.announced : Math.max(end, this.body.length * 2);
      const grown = Buffer.allocUnsafeSlow(length);
      this.body.copy(grown, 0, 0, this.received);
      this.body = grown;
    }
    this.body.set(payload, this.received);
    chunkGarbage.add(payload.length);
    this.received = end;
    this.lastSeenAt = now;
    return end === this.announced ? 'whole' : 'more';
  }

  /** Returns its bytes to the budget: the body is whole, or nobody wants it any more. */
  release(): void {
    this.budget.give(this.received);
  }

  finish(): void {
    this.release();
    this.done(this.body);
  }
}
