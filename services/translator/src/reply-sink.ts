/** The translator's end of the reply on the bus: head at the commit, bytes, and the cancel of a caller who left. */
import type { ServerStream } from '@model-gateway/bus';
import { frameFlag } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { Call } from './call.ts';
import type { OpenReply } from './open-reply.ts';
import type { PumpSink } from './pump.ts';
import { receiptHeaders } from './receipt.ts';

export class ReplySink implements PumpSink, OpenReply {
  index = -1;
  readonly #stream: ServerStream<'translator.run'>;
  readonly #call: Call;
  #onCancel: (() => void) | undefined;
  committed = false;
  /** The finished body of a whole reply; it leaves with the tail, as one message. */
  wholeBody: Uint8Array | undefined;

  constructor(stream: ServerStream<'translator.run'>, call: Call) {
    this.#stream = stream;
    this.#call = call;
    stream.onCancel((reason) => {
      call.cancelled = reason;
      call.leave();
      this.#onCancel?.();
    });
  }

  /** The callback runs at most twice: when the caller leaves, and when this process shuts down. */
  onCancel(callback: () => void): void {
    this.#onCancel = callback;
    if (this.#call.cancelled !== null || this.#call.interrupted !== null) callback();
  }

  /** This process leaves: the run ends now, with this error for the caller. */
  interrupt(error: GatewayError): void {
    this.#call.interrupted ??= error;
    this.#call.leave();
    this.#onCancel?.();
  }

  commit(): void {
    if (this.committed || this.#call.cancelled !== null) return;
    this.committed = true;
    this.#stream.head({
      status: 200,
      headers: { 'content-type': this.#call.client.contentType(this.#call.job.streamForm), 'cache-control': 'no-cache', ...receiptHeaders(this.#call) },
    });
  }

  send(bytes: Uint8Array | string, words = false): boolean {
    // A caller who left is read on for (drain) but no longer written to.
    if (this.#call.cancelled !== null) return true;
    this.#call.responseBytes += bytes.length;
    return this.#stream.data(bytes, words ? frameFlag.messageEnd | frameFlag.words : frameFlag.messageEnd);
  }

  onWritable(callback: () => void): void {
    this.#stream.onWritable(callback);
  }

  whole(body: string | Uint8Array): void {
    this.wholeBody = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
    this.#call.responseBytes = this.wholeBody.length;
    this.committed = true;
  }
}
