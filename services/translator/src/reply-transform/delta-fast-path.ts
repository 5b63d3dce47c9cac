/** Which records of a stream need not be parsed: those that differ in words alone from one that was just understood. */
import { DeltaTemplate, type Edit, type KnownRecord } from '@model-gateway/json-bytes';
import type { ChatEvent, DeltaEvent, DeltaFields } from '@model-gateway/protocols';
import type { RawRecord, ReplyTransform } from './reply-transform.ts';

/** A block whose records are each unlike the one before is not looked at any longer. */
const maxFruitless = 4;
/** Bytes: a larger record is nearly all words, and is kept by nobody. */
const largestStudied = 16 * 1024;

const isDelta = (event: ChatEvent): event is DeltaEvent => 'text' in event;
/** What is the same for every record that grows the same block. */
const isLasting = ({ path, value, insert }: Edit): boolean => path.length === 1 && !insert && (value === undefined || typeof value === 'string');

export class DeltaFastPath {
  readonly #places: DeltaFields;
  readonly #transform: ReplyTransform;
  #known: DeltaTemplate | null = null;
  #event: DeltaEvent = { type: 'text-delta', index: -1, text: '' };
  /** Records learned since one was last recognised. */
  #vain = 0;

  constructor(places: DeltaFields, transform: ReplyTransform) {
    this.#places = places;
    this.#transform = transform;
  }

  /** What the next record may be without being parsed; null: it has to be. */
  records: DeltaTemplate | null = null;

  get type(): DeltaEvent['type'] {
    return this.#event.type;
  }

  /** The event of the record that fitted last. */
  event(text: string): DeltaEvent {
    return { type: this.#event.type, index: this.#event.index, text: this.records?.words(text) ?? '' };
  }

  /** Some were recognised. */
  recognised(): void {
    this.#vain = 0;
  }

  /** The next record has to be parsed. */
  rest(): void {
    this.records = null;
  }

  /** Learns from a record that was parsed, gave these events, and was forwarded as `sent`. */
  see(record: RawRecord, events: readonly ChatEvent[], sent: string | Uint8Array | undefined): void {
    this.records = null;
    const event = events[0];
    if (events.length !== 1 || event === undefined || !isDelta(event) || event.text === '' || sent === undefined || record.raw.length > largestStudied) return;
    if (event.index !== this.#event.index) this.#vain = 0;
    const raw = byteText(record.raw);
    if (this.#known === null || event.type !== this.#event.type || !isWhole(this.#known, raw, event)) {
      if (this.#vain >= maxFruitless) return;
      this.#vain += 1;
      this.#known = this.#learn(record, event, raw, sent);
    }
    this.#event = event;
    this.records = this.#known;
  }

  #learn(record: RawRecord, event: DeltaEvent, raw: string, sent: string | Uint8Array): DeltaTemplate | null {
    const edits = this.#transform.lastEdits ? this.#transform.lastEdits() : [];
    const { dataStart: start, dataEnd: end, data, json } = record;
    if (start === undefined || end === undefined || !edits?.every(isLasting)) return null;
    const known: KnownRecord = { raw: record.raw, start, end, data, json };
    for (const path of this.#places.words) {
      const records = DeltaTemplate.learn(known, path, this.#places.idle, edits);
      if (records && isWhole(records, raw, event)) return this.#transform.lastEdits && records.print(raw, 0) !== byteText(sent) ? null : records;
    }
    return null;
  }
}

const byteText = (piece: string | Uint8Array): string =>
  (typeof piece === 'string' ? Buffer.from(piece, 'utf8') : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)).toString('latin1');

/** Whether the text is one such record, with the event's words. */
const isWhole = (records: DeltaTemplate, raw: string, { text }: DeltaEvent): boolean =>
  records.fits(raw, 0) && records.end === raw.length && records.words(raw) === text;
