/** A duplex byte stream over one `console.http` stream of the bus, with enough of a socket's face for Node's HTTP client. */
import { Duplex } from 'node:stream';
import type { Bus, StreamCall } from '@model-gateway/bus';
import type { GatewayError } from '@model-gateway/contracts/errors';

/** An exchange may hold a live tail open for long. */
const exchangeMs = 24 * 3600_000;

export class BusSocket extends Duplex {
  readonly #call: StreamCall;
  #owed = 0;
  /** Why the exchange failed, when it did. */
  failure: GatewayError | undefined;

  constructor(bus: Bus, remoteAddress: string) {
    super({ allowHalfOpen: true });
    this.#call = bus.open(
      'console.http',
      { remoteAddress },
      {
        head: () => {},
        data: (bytes) => this.#take(bytes),
        tail: () => void this.push(null),
        broken: (error) => {
          this.failure = error;
          this.destroy(error);
        },
      },
      { deadlineMs: exchangeMs },
    );
  }

  #take(bytes: Uint8Array): void {
    // Bytes that the reader cannot take yet are owed: the console gets its credit when they are read.
    if (this.push(bytes)) this.#call.consumed(bytes.length);
    else this.#owed += bytes.length;
  }

  override _read(): void {
    if (this.#owed === 0) return;
    const owed = this.#owed;
    this.#owed = 0;
    this.#call.consumed(owed);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#call.send(chunk)) done();
    else this.#call.onSendable(() => done());
  }

  override _final(done: () => void): void {
    this.#call.endSend();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#call.cancel('exchange over');
    done(error);
  }

  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}
