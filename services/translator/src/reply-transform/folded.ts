/** A stream that becomes a whole reply: some upstreams only stream, whatever was asked. Nothing goes to the caller before it has all arrived. */
import type { ChatEvent } from '@model-gateway/protocols';
import type { PumpSink } from '../pump.ts';
import type { RawRecord, ReplyTransform } from './reply-transform.ts';

export class FoldedTransform implements ReplyTransform {
  readonly #events: ChatEvent[] = [];
  readonly #whole: ReplyTransform;

  /** `whole` prints what has arrived. */
  constructor(whole: ReplyTransform) {
    this.#whole = whole;
  }

  /** What has arrived. */
  get events(): readonly ChatEvent[] {
    return this.#events;
  }

  record(_record: RawRecord, events: readonly ChatEvent[]): undefined {
    this.#events.push(...events);
  }

  finish(events: readonly ChatEvent[]): string {
    this.#events.push(...events);
    return '';
  }

  whole(bytes: Buffer, json: unknown, events: readonly ChatEvent[]): string | Uint8Array | undefined {
    return this.#whole.whole(bytes, json, events);
  }

  print(): string | Uint8Array | undefined {
    return this.whole(Buffer.alloc(0), undefined, this.#events);
  }
}

/** Where such a stream flows: nowhere, at the upstream's own pace. */
export const noSink: PumpSink = { commit: () => {}, send: () => true };

/** Whether a body of this content type is a stream of events. */
export const isStream = (contentType: string): boolean => /event-?stream/i.test(contentType);
