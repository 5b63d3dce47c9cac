/** The translator's end of the reply on the bus: head at the commit, bytes, and the cancel of a caller who left. */
import type { ServerStream } from '@model-gateway/bus';
import { frameFlag } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { OpenReply } from './open-reply.ts';
import type { PumpSink } from './pump.ts';
import { receiptHeaders } from './receipt.ts';
import type { Cancellation } from './request/cancellation.ts';
import type { RequestContext } from './request/context.ts';
import type { RequestRecord } from './request/record.ts';

export class ReplySink implements PumpSink, OpenReply {
  index = -1;
  readonly #stream: ServerStream<'translator.run'>;
  readonly #request: RequestContext;
  readonly #cancellation: Cancellation;
  readonly #record: RequestRecord;
  #committed = false;
  #wholeBody: Uint8Array | undefined;

  constructor(stream: ServerStream<'translator.run'>, request: RequestContext, record: RequestRecord) {
    this.#stream = stream;
    this.#request = request;
    this.#cancellation = request.cancellation;
    this.#record = record;
    stream.onCancel((reason) => request.cancellation.cancel(reason));
  }

  /** The caller has seen content. */
  get committed(): boolean {
    return this.#committed;
  }

  /** The finished body of a whole reply; it leaves with the tail, as one message. */
  get wholeBody(): Uint8Array | undefined {
    return this.#wholeBody;
  }

  /** This process shuts down: the run ends now, with this error for the caller. */
  interrupt(error: GatewayError): void {
    this.#cancellation.interrupt(error);
  }

  commit(): void {
    if (this.#committed || this.#cancellation.reason !== null) return;
    this.#committed = true;
    const { client, job } = this.#request;
    this.#stream.head({
      status: 200,
      headers: { 'content-type': client.contentType(job.streamForm), 'cache-control': 'no-cache', ...receiptHeaders(this.#request, this.#record) },
    });
  }

  send(bytes: Uint8Array | string, words = false): boolean {
    // A caller who left is read on for (drain) but no longer written to.
    if (this.#cancellation.reason !== null) return true;
    this.#record.addResponseBytes(bytes.length);
    return this.#stream.data(bytes, words ? frameFlag.messageEnd | frameFlag.words : frameFlag.messageEnd);
  }

  onWritable(callback: () => void): void {
    this.#stream.onWritable(callback);
  }

  whole(body: string | Uint8Array): void {
    this.#wholeBody = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
    this.#record.setResponseBytes(this.#wholeBody.length);
    this.#committed = true;
  }
}
