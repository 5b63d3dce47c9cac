/** The two caps of this process: requests at once, and streams at once. 503 at once when full. */
import { GatewayError } from '@model-gateway/errors';

export class Capacity {
  requests = 0;
  streams = 0;
  readonly #maxRequests: number;
  readonly #maxStreams: number;

  constructor(maxRequests: number, maxStreams: number) {
    this.#maxRequests = maxRequests;
    this.#maxStreams = maxStreams;
  }

  /** A slot for one request; `release` may be called once more than needed. */
  enter(): Slot {
    if (this.requests >= this.#maxRequests) throw new GatewayError('overloaded');
    this.requests++;
    return new Slot(this);
  }

  enterStream(): void {
    if (this.streams >= this.#maxStreams) throw new GatewayError('too_many_streams');
    this.streams++;
  }
}

export class Slot {
  readonly #capacity: Capacity;
  #stream = false;
  #released = false;

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
  }

  asStream(): void {
    this.#capacity.enterStream();
    this.#stream = true;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#capacity.requests--;
    if (this.#stream) this.#capacity.streams--;
  }
}
