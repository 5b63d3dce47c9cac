/** The translator's end of the reply on the bus: head at the commit, bytes, and the cancel of a caller who left. */
import type { ServerStream } from '@model-gateway/bus';
import { frameFlag, type ReplyHead } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
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
  #wholeType: string | undefined;
  #headSent = false;
  /** The end of a reply that waits until its turn is stored. */
  #held: Uint8Array[] | undefined;

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

  /** Of `wholeBody`; undefined: the one that whole replies of the caller's protocol have. */
  get wholeType(): string | undefined {
    return this.#wholeType;
  }

  /** This process shuts down: the run ends now, with this error for the caller. */
  interrupt(error: GatewayError): void {
    this.#cancellation.interrupt(error);
  }

  /** `contentType`: of a reply that passes as bytes. `passed`: the head of one that passes whole. */
  commit(contentType?: string, passed?: Pick<ReplyHead, 'status' | 'headers'>): void {
    if (this.#committed || this.#cancellation.reason !== null) return;
    this.#committed = true;
    const { client, job, turn } = this.#request;
    turn?.begin();
    if (this.#headSent) return;
    this.#headSent = true;
    if (passed) return this.#stream.head(passed);
    this.#stream.head({
      status: 200,
      ...(turn && { turn: { id: turn.id } }),
      ...(job.stream && { served: this.#record.served }),
      headers: {
        'content-type': contentType ?? client.contentType(job.streamForm),
        'cache-control': 'no-cache',
        ...receiptHeaders(this.#request, this.#record),
      },
    });
  }

  /** The caller is answered now; what follows is for the edge to keep. Other attempts may still follow. */
  runInBackground(): void {
    const { turn, background } = this.#request;
    if (!turn) return;
    turn.onCancel(() => this.interrupt(new GatewayError('client_gone', { message: 'The response was cancelled.' })));
    this.#headSent = true;
    const answer = background === 'queued' ? { answer: JSON.stringify(turn.queued) } : {};
    this.#stream.head({ status: 200, headers: {}, turn: { id: turn.id }, background: answer });
    turn.moveOn();
  }

  send(bytes: Uint8Array | string, words = false): boolean {
    // A caller who left is read on for (drain) but no longer written to.
    if (this.#cancellation.reason !== null) return true;
    this.#record.addResponseBytes(bytes.length);
    const { turn, registration } = this.#request;
    registration?.sees(bytes);
    if (turn && (this.#held || turn.sees(bytes, words))) return this.#hold(bytes);
    return this.#stream.data(bytes, words ? frameFlag.messageEnd | frameFlag.words : frameFlag.messageEnd);
  }

  #hold(bytes: Uint8Array | string): boolean {
    this.#held ??= [];
    this.#held.push(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return true;
  }

  /** The turn is stored, or cannot be: what was held leaves. */
  release(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held && this.#cancellation.reason === null) this.#stream.data(Buffer.concat(held), frameFlag.messageEnd);
  }

  onWritable(callback: () => void): void {
    this.#stream.onWritable(callback);
  }

  /** `contentType`: where it is not the one of whole replies of the caller's protocol. `said`: as `RunningTurn.seesWhole` takes it. */
  whole(body: string | Uint8Array, { contentType, said }: { contentType?: string | undefined; said?: unknown } = {}): void {
    this.#wholeType = contentType;
    this.#wholeBody = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
    this.#record.setResponseBytes(this.#wholeBody.length);
    this.#request.turn?.seesWhole(this.#wholeBody, said);
    this.#request.registration?.seesWhole(this.#wholeBody);
    this.#committed = true;
  }
}
