/** The reply of several calls of an upstream, between which the gateway ran hosted tools, as the one reply of the caller's protocol. */
import type { ChatEvent } from '@model-gateway/protocols';
import type { HostedOutput, HostedReply } from '../hosted-tools/hosted-reply.ts';
import type { HostedSession } from '../hosted-tools/session.ts';
import type { RawRecord } from './reply-transform.ts';
import type { TranslatedTransform } from './translated.ts';

/** What is printed between two calls comes with no record of an upstream. */
const noRecord: RawRecord = { data: '', json: undefined, raw: new Uint8Array() };

export class HostedTransform implements HostedReply {
  readonly readsAll = true;
  readonly #session: HostedSession;
  readonly #inner: TranslatedTransform;
  /** Of a whole reply: everything up to now. */
  readonly #kept: ChatEvent[] = [];

  constructor(session: HostedSession, inner: TranslatedTransform) {
    this.#session = session;
    this.#inner = inner;
  }

  record(record: RawRecord, events: readonly ChatEvent[]): string {
    return this.#inner.record(record, this.#session.read(events));
  }

  finish(events: readonly ChatEvent[]): string {
    const shown = this.#session.read(events);
    return this.#session.waits ? this.#inner.record(noRecord, shown) : this.#inner.finish(shown);
  }

  /** undefined: another call follows. */
  whole(bytes: Buffer, json: unknown, events: readonly ChatEvent[]): string | undefined {
    this.#kept.push(...this.#session.read(events));
    return this.#session.waits ? undefined : this.#inner.whole(bytes, json, this.#kept);
  }

  /** Shows what came of hosted tools; where that ends the reply, the reply is complete. */
  deliver(events: readonly ChatEvent[], output: HostedOutput, isStream: boolean): void {
    const { isOver } = this.#session;
    if (!isStream) {
      this.#kept.push(...events);
      if (isOver) output.whole(this.#inner.whole(Buffer.alloc(0), undefined, this.#kept));
      return;
    }
    const text = this.#inner.record(noRecord, events) + (isOver ? this.#inner.finish([]) : '');
    output.commit();
    if (text !== '') output.send(Buffer.from(text, 'utf8'));
  }
}
