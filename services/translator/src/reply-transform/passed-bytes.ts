/** A reply that passes as bytes: nobody knows its framing, so that it ends where its connection does. */
import type { BytesObserver } from '@model-gateway/protocols';
import type { AttemptEnd } from '../attempt/result.ts';
import type { UpstreamRequest, UpstreamTarget } from '../prepare/upstream-request.ts';
import type { ReplySink } from '../reply-sink.ts';
import type { CurrentRequest } from '../request/current.ts';

const unknownType = 'application/octet-stream';

/** null: nobody looks at such replies. */
export const observerOf = ({ request, body }: Pick<CurrentRequest, 'request' | 'body'>, target: UpstreamTarget, contentType: string): BytesObserver | null =>
  target.adapter.observeBytes?.({
    operation: request.job.operation,
    contentType,
    requestValue: (key) => body.topLevel(key),
    requestTokens: () => body.estimateTokens(),
  }) ?? null;

export class PassedBytes {
  readonly #current: CurrentRequest;
  readonly #sink: ReplySink;
  readonly #contentType: string;
  readonly #observer: BytesObserver | null;

  constructor(current: CurrentRequest, { target }: UpstreamRequest, sink: ReplySink, contentType = unknownType) {
    this.#current = current;
    this.#sink = sink;
    this.#contentType = contentType;
    this.#observer = observerOf(current, target, contentType);
  }

  /** false: stop reading until the sink is writable. */
  push(chunk: Uint8Array): boolean {
    this.#commit();
    this.#observer?.push(chunk);
    return this.#sink.send(chunk);
  }

  finish(): Omit<AttemptEnd, 'status'> {
    this.#commit();
    this.#count();
    return { fault: null, committed: true };
  }

  /** It broke off, or its caller left: what had come of it is paid for all the same. */
  breakOff(): void {
    if (this.#sink.committed) this.#count();
  }

  #count(): void {
    const seen = this.#observer?.finish();
    if (seen) this.#current.record.meter.see([{ type: 'usage', ...seen }]);
  }

  /** With the first byte: until then another upstream may be tried. */
  #commit(): void {
    if (this.#sink.committed) return;
    this.#current.record.markContent();
    this.#sink.commit(this.#contentType);
  }
}
