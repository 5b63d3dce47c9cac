/** One stream of the bus as the connection that Node's HTTP server expects: bytes both ways, under the bus's credit. */
import { Duplex } from 'node:stream';
import type { ServerStream } from '@model-gateway/bus';
import { GatewayError } from '@model-gateway/contracts/errors';

/** Frames stay small, so that a slow reader stops us soon. */
const frameBytes = 64 * 1024;

export class BusConnection extends Duplex {
  readonly remoteAddress: string;
  readonly #stream: ServerStream<'console.http'>;
  /** Bytes that were pushed and not yet read by the server. */
  #unread = 0;
  #writable: (() => void) | null = null;
  #over = false;

  constructor(stream: ServerStream<'console.http'>, remoteAddress: string) {
    super({ allowHalfOpen: true });
    this.remoteAddress = remoteAddress;
    this.#stream = stream;
    stream.onCancel(() => {
      this.#over = true;
      this.destroy();
    });
    stream.onWritable(() => {
      const go = this.#writable;
      this.#writable = null;
      go?.();
    });
    stream.head({});
    stream.onData((bytes) => {
      this.#unread += bytes.byteLength;
      if (this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))) this.#giveCredit();
    });
    stream.onDataEnd(() => {
      if (!this.destroyed) this.push(null);
    });
  }

  #giveCredit(): void {
    if (this.#unread === 0) return;
    const bytes = this.#unread;
    this.#unread = 0;
    this.#stream.consumed(bytes);
  }

  override _read(): void {
    this.#giveCredit();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    let sent = 0;
    const send = () => {
      while (sent < chunk.length) {
        if (this.#over) return done();
        const frame = chunk.subarray(sent, sent + frameBytes);
        sent += frame.length;
        if (!this.#stream.data(frame)) {
          this.#writable = send;
          return;
        }
      }
      done();
    };
    send();
  }

  override _final(done: () => void): void {
    if (!this.#over) this.#stream.tail({});
    this.#over = true;
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // The server gave up in the middle: the opener must not take what came for a whole answer.
    if (!this.#over) this.#stream.fail(new GatewayError('service_lost', { cause: error ?? undefined }));
    this.#over = true;
    const waiting = this.#writable;
    this.#writable = null;
    waiting?.();
    done(error);
  }

  /** The server's own time limits are the edge's business: it watches the caller's connection. */
  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
}
