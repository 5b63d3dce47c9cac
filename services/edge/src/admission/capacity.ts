/** The two caps: requests at once, and streams at once. 503 at once when full, or when the process is near its end. */

import { GatewayError } from '@model-gateway/contracts/errors';
import type { SharedState } from '@model-gateway/distributed-state';
import { type Pressure, takenAnyway } from '@model-gateway/service-runtime';
import { SharedCap } from './shared-cap.ts';

export class Capacity {
  readonly requests: SharedCap;
  readonly streams: SharedCap;
  readonly #pressure: Pressure;

  constructor(maxRequests: number, maxStreams: number, state: SharedState, pressure: Pressure) {
    this.#pressure = pressure;
    this.requests = new SharedCap(maxRequests, 'requests', state);
    this.streams = new SharedCap(maxStreams, 'streams', state);
  }

  /** A slot for one request, later only when other processes have to be asked; `release` may be called once more than needed. */
  enter(): Slot | Promise<Slot> {
    if (this.#pressure.level === 3) this.#refuse('overloaded', this.requests);
    const entered = this.requests.enter();
    if (entered === true) return new Slot(this);
    if (entered === false) throw new GatewayError('overloaded');
    return entered.then((free) => {
      if (!free) throw new GatewayError('overloaded');
      return new Slot(this);
    });
  }

  /** Places for streams, as `enter`. */
  enterStreams(): boolean | Promise<boolean> {
    if (this.#pressure.level >= 2) this.#refuse('too_many_streams', this.streams);
    return this.streams.enter();
  }

  /** The first few are let in at any level. */
  #refuse(code: 'overloaded' | 'too_many_streams', { used }: SharedCap): void {
    if (used >= takenAnyway) throw new GatewayError(code, { message: 'The gateway is short of memory.' });
  }

  close(): void {
    this.requests.close();
    this.streams.close();
  }
}

export class Slot {
  readonly #capacity: Capacity;
  #stream = false;
  #released = false;

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
  }

  /** The request turned out to be a stream. */
  asStream(): void | Promise<void> {
    const entered = this.#capacity.enterStreams();
    if (entered === true) this.#becameStream(true);
    else if (entered === false) throw new GatewayError('too_many_streams');
    else return entered.then((free) => this.#becameStream(free));
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#capacity.requests.leave();
    if (this.#stream) this.#capacity.streams.leave();
  }

  #becameStream(free: boolean): void {
    if (!free) throw new GatewayError('too_many_streams');
    // The request ended while the other edges were asked: the place is not needed.
    if (this.#released) this.#capacity.streams.leave();
    else this.#stream = true;
  }
}
