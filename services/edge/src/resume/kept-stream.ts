/**
 * A reply whose events are kept, so that its caller may go on with it on another connection. It stands between the reply and the caller's connection, as
 * the response that the reply is written to; one reader at a time reads what is kept at its own pace.
 */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { asBuffer } from '@model-gateway/json-bytes';
import { EventLog } from './event-log.ts';
import type { ReadStream, StreamReader } from './readers.ts';

/** A reader so far behind stops the upstream, unless the run has no caller. */
const maxBehind = 1024 * 1024;
/** After the run has ended a reader that takes nothing for this long is cut off. */
const stalledMs = 60_000;

/** What a kept stream needs of the edge. */
export interface KeptStreamHost {
  /** How long it is kept without a reader. */
  readonly resumeMs: number;
  /** Bytes of one stream. */
  readonly maxBytes: number;
  /** What the stream holds has grown, and what all hold together may be too much. */
  grew(stream: KeptStream, bytes: number): void;
  /** It has no reader, from now on. */
  orphaned(stream: KeptStream): void;
  /** It has a reader again. */
  adopted(stream: KeptStream): void;
  /** Its run is over. */
  ended(stream: KeptStream): void;
  /** Nobody can take it up any more. */
  dropped(stream: KeptStream): void;
}

/** Whose stream it is. */
export interface StreamFacts {
  id: string;
  owner: string;
  /** The run has no caller: it goes on whether somebody reads or not, and at its own pace. */
  background: boolean;
  /** The number that the protocol gives an event, where it numbers them. */
  eventNumber?: ((event: string) => number | undefined) | undefined;
}

export class KeptStream extends EventEmitter implements ReadStream {
  readonly id: string;
  readonly owner: string;
  readonly #host: KeptStreamHost;
  readonly #eventNumber: StreamFacts['eventNumber'];
  readonly #log = new EventLog();
  #background: boolean;
  #reader: StreamReader | null = null;
  /** Where the reader is. */
  #position = 0;
  /** The reader takes no more for now. */
  #blocked = false;
  /** It has everything, and was given the end. */
  #complete = false;
  #list: string[] = [];
  /** Whether this is an event stream at all: an error is passed on, and nothing is kept. */
  #isStream = false;
  #expiry: NodeJS.Timeout | undefined;
  #held = 0;
  #needDrain = false;
  #closed = false;
  #dropped = false;
  statusCode = 200;
  headersSent = false;
  writableFinished = false;
  destroyed = false;
  chunkedEncoding = false;
  /** Replies see to it that what they wrote leaves; here it is kept anyway. */
  readonly writableLength = 0;

  constructor({ id, owner, background, eventNumber }: StreamFacts, host: KeptStreamHost) {
    super();
    this.id = id;
    this.owner = owner;
    this.#background = background;
    this.#eventNumber = eventNumber;
    this.#host = host;
  }

  /** For the reply, which knows responses as Node's server gives them. */
  asServerResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }

  /** The run goes on without a caller, from now on. */
  runInBackground(): void {
    this.#background = true;
    clearTimeout(this.#expiry);
    this.#release();
  }

  get hasReader(): boolean {
    return this.#reader !== null;
  }

  /** The run is under way. */
  get live(): boolean {
    return !this.#closed;
  }

  get background(): boolean {
    return this.#background;
  }

  /** Memory that its events take. */
  get bytes(): number {
    return this.#held;
  }

  /** Name, value, name, value. */
  get headers(): string[] {
    return this.#list;
  }

  get writableNeedDrain(): boolean {
    return this.#needDrain;
  }

  // What a reply writes.

  /** `list`: name, value, name, value. */
  writeHead(status: number, list: string[]): this {
    this.statusCode = status;
    this.headersSent = true;
    this.#isStream = status === 200 && /^text\/event-stream/i.test(headerOf(list, 'content-type') ?? '');
    this.#list = this.#isStream ? [...list, 'x-gateway-stream', this.id] : list;
    this.#reader?.head(status, this.#list);
    return this;
  }

  write(piece: string | Uint8Array, encoding?: BufferEncoding): boolean {
    if (this.#dropped) return true;
    const bytes = typeof piece === 'string' ? Buffer.from(piece, encoding ?? 'utf8') : asBuffer(piece);
    this.#log.append(bytes);
    this.#flow();
    this.#trim();
    this.#needDrain = this.#isBehind();
    return !this.#needDrain;
  }

  /** Between events only, to a reader that has everything so far; it is not part of the stream. */
  keepAlive(text: string): void {
    if (this.#log.between && this.#position === this.#log.end) this.#reader?.keepAlive?.(text);
  }

  end(piece?: string | Uint8Array, encoding?: BufferEncoding): void {
    if (piece !== undefined) this.write(piece, encoding);
    if (this.writableFinished || this.destroyed) return;
    this.writableFinished = true;
    this.#flow();
    this.#close();
    if (!this.#isStream && !this.#reader) return this.drop();
    if (this.#reader) this.#watchProgress(this.#reader, this.#position);
    else this.#expire();
  }

  /** Nobody wants it any more: the upstream is given up. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.drop();
    this.#close();
  }

  /** The caller is to repeat its request: nothing of this one is kept. */
  breakOff(): void {
    this.#reader?.cut(true);
    this.#reader = null;
    this.destroy();
  }

  setTimeout(): this {
    return this;
  }

  // What readers do.

  /** From now on this reader gets what follows `offset`; an earlier one is cut off. */
  attach(reader: StreamReader, offset: number): void {
    const earlier = this.#reader;
    clearTimeout(this.#expiry);
    this.#host.adopted(this);
    this.#reader = reader;
    this.#position = offset;
    this.#blocked = false;
    this.#complete = false;
    earlier?.cut();
    if (this.headersSent) reader.head(this.statusCode, this.#list);
    this.#flow();
    this.#release();
    // It may have everything by now, and be gone.
    if (this.writableFinished && this.#reader === reader) this.#watchProgress(reader, this.#position);
  }

  pump(): void {
    this.#blocked = false;
    this.#flow();
    this.#release();
  }

  /** As much as the reader takes. */
  #flow(): void {
    const reader = this.#reader;
    if (!reader) return;
    while (!this.#blocked && this.#position < this.#log.end) {
      if (this.#position < this.#log.start) return this.#cutReader();
      const bytes = this.#log.read(this.#position);
      this.#position += bytes.length;
      this.#blocked = !reader.write(bytes, this.#position === this.#log.end && this.#log.between);
      if (this.#reader !== reader) return;
    }
    if (this.#position === this.#log.end && this.writableFinished && !this.#complete) {
      this.#complete = true;
      reader.end();
    }
  }

  detach(reader: StreamReader): void {
    if (this.#reader !== reader) return;
    this.#reader = null;
    this.#orphan();
  }

  /** Its bytes and its id go; a run under way goes on. */
  drop(): void {
    if (this.#dropped) return;
    this.#dropped = true;
    clearTimeout(this.#expiry);
    const reader = this.#reader;
    this.#reader = null;
    if (!this.#complete) reader?.cut();
    this.#log.clear();
    this.#account();
    this.#host.dropped(this);
    this.#release();
  }

  /** Frees memory of events that its reader has, or, where it has none or runs in the background, of any. */
  shrinkTo(bytes: number): void {
    this.#log.trim(bytes, this.#keepFrom());
    this.#account();
  }

  /** Where the events after this many begin; null: they are no longer kept. `later`: there are not so many. */
  offsetAfter(events: number): number | null | 'later' {
    return events > this.#log.count ? 'later' : this.#log.offsetAfter(events);
  }

  /** The same by the number that the protocol gave the last event that the reader has. */
  offsetAfterNumber(number: number): number | null | 'later' {
    const read = this.#eventNumber;
    if (number < 0 || !read) return this.offsetAfter(number + 1);
    const numberOf = (at: number): number | undefined => {
      const event = this.#log.event(at);
      return event === null ? undefined : read(event);
    };
    // As a rule events are numbered from 0 on.
    if (numberOf(number) === number) return this.offsetAfter(number + 1);
    for (let at = this.#log.dropped; at < this.#log.count; at++) {
      const found = numberOf(at);
      if (found === undefined || found <= number) continue;
      // Events between the two may have been dropped.
      return at > this.#log.dropped || at === 0 || found === number + 1 ? this.offsetAfter(at) : null;
    }
    const last = numberOf(this.#log.count - 1);
    if (last === undefined) return null;
    return last === number ? this.offsetAfter(this.#log.count) : 'later';
  }

  #keepFrom(): number {
    return this.#reader && !this.#background ? this.#position : Number.POSITIVE_INFINITY;
  }

  #isBehind(): boolean {
    if (!this.#reader || this.#background) return false;
    return this.#log.end - this.#position > Math.min(maxBehind, this.#host.maxBytes / 4);
  }

  /** The reply may go on, when it was held up. */
  #release(): void {
    if (!this.#needDrain || this.#isBehind()) return;
    this.#needDrain = false;
    this.emit('drain');
  }

  #trim(): void {
    this.#log.trim(this.#host.maxBytes, this.#keepFrom());
    this.#account();
  }

  #account(): void {
    const now = this.#dropped ? 0 : this.#log.bytes;
    const grown = now - this.#held;
    this.#held = now;
    if (grown !== 0) this.#host.grew(this, grown);
  }

  /** It fell behind what is kept. */
  #cutReader(): void {
    const reader = this.#reader;
    this.#reader = null;
    reader?.cut();
    this.#orphan();
  }

  #orphan(): void {
    // Whose head never came does not know under which name to take it up.
    if (!this.headersSent && !this.#background) return this.destroy();
    this.#release();
    if (!this.#isStream && this.writableFinished) return this.drop();
    this.#host.orphaned(this);
    this.#expire();
  }

  #expire(): void {
    clearTimeout(this.#expiry);
    if (this.#dropped || (this.#background && this.live)) return;
    this.#expiry = setTimeout(() => (this.live ? this.destroy() : this.drop()), this.#host.resumeMs).unref();
  }

  /** After the end nothing else would notice a reader that stopped reading. */
  #watchProgress(reader: StreamReader, position: number): void {
    clearTimeout(this.#expiry);
    this.#expiry = setTimeout(() => {
      if (this.#reader !== reader) return;
      if (this.#complete) return this.#watchProgress(reader, this.#position);
      if (this.#position === position) this.#cutReader();
      else this.#watchProgress(reader, this.#position);
    }, stalledMs).unref();
  }

  /** The run is over. Not in the same turn, as with Node's responses. */
  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#host.ended(this);
    setImmediate(() => {
      this.emit('close');
      this.removeAllListeners();
    });
  }
}

function headerOf(list: readonly string[], name: string): string | undefined {
  for (let at = 0; at < list.length; at += 2) if (list[at]!.toLowerCase() === name) return list[at + 1];
  return undefined;
}
