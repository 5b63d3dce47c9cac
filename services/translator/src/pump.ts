/** The one place that waits for an upstream's stream: bytes to records to events, held until content, sent once per read. */

import { asBuffer, type DeltaTemplate, toByteText } from '@model-gateway/json-bytes';
import { type ChatEvent, type FramedRecord, isContent, type ReplyReader, type UpstreamAdapter, type UpstreamFault } from '@model-gateway/protocols';
import { createEventStreamParser, createJsonArrayParser, createSseParser } from '@model-gateway/stream-framing';
import { isAnswer, modelFailure } from './model-failure.ts';
import type { UpstreamRequest } from './prepare/upstream-request.ts';
import { DeltaFastPath } from './reply-transform/delta-fast-path.ts';
import { unwrapReader } from './reply-transform/emulated.ts';
import type { RawRecord, ReplyTransform } from './reply-transform/reply-transform.ts';
import type { RequestRecord } from './request/record.ts';

/** Lifecycle events are held back until content, so that failover stays possible; within these caps. */
const maxHeldEvents = 64;
const maxHeldBytes = 256 * 1024;

/** What all parsers give. */
type Framed = FramedRecord;
interface RecordSource {
  push(chunk: Uint8Array): readonly Framed[];
  finish(): readonly Framed[];
  readonly atRest?: boolean;
}

/** Where the pump writes the caller's bytes. */
export interface PumpSink {
  /** First content: the head may go out now. */
  commit(): void;
  /**
   * Bytes of whole events, or the text whose characters they are, one each; `words`: nothing but more words of open blocks. false: stop reading until the
   * sink is writable.
   */
  send(bytes: Uint8Array | string, words?: boolean): boolean;
}

/** What becomes of the reply, and where it goes. */
export interface PumpOutput {
  transform: ReplyTransform;
  sink: PumpSink;
  /** Of a stream that is not a conversation; absent: the upstream's protocol reads it. */
  reader?: ReplyReader;
  /** Reads an event's JSON, or as much of it as anybody looks at; undefined: it is none. Absent: all of it is parsed. */
  parse?: (record: FramedRecord) => unknown;
}

/** What the pump reads of the request that is answered. */
type PumpedRequest = Pick<UpstreamRequest, 'target' | 'emulation' | 'relaxedToolSchemas'>;

/** What ended the reply: nothing (it was complete), or what broke it. */
export type PumpEnd = { fault: UpstreamFault | null; committed: boolean };

export class Pump {
  readonly #record: RequestRecord;
  readonly #transform: ReplyTransform;
  readonly #sink: PumpSink;
  readonly #reader: ReplyReader;
  readonly #source: RecordSource;
  readonly #unwrap: UpstreamAdapter['unwrapRecord'];
  readonly #parse: NonNullable<PumpOutput['parse']>;
  readonly #fastPath: DeltaFastPath | null;
  #held: (string | Uint8Array)[] = [];
  #heldBytes = 0;
  #heldEvents = 0;
  #committed = false;
  #ended = false;
  /** A translated reply in which nothing but thoughts was said so far. */
  #unanswered: boolean;
  #fault: UpstreamFault | null = null;

  constructor(record: RequestRecord, upstreamRequest: PumpedRequest, { transform, sink, reader, parse }: PumpOutput, maxEventBytes: number) {
    const { adapter, route } = upstreamRequest.target;
    const { deltaFields, unwrapRecord, framing } = adapter;
    this.#record = record;
    this.#unanswered = upstreamRequest.target.verbatim === null;
    this.#transform = transform;
    this.#sink = sink;
    this.#reader = reader ?? unwrapReader(adapter.createReader(route.target), upstreamRequest, record);
    this.#source = recordSource(framing, maxEventBytes);
    this.#unwrap = unwrapRecord;
    this.#parse = parse ?? (({ data }) => parseRecord(data));
    const isPlain = !unwrapRecord && !upstreamRequest.emulation && !upstreamRequest.relaxedToolSchemas && transform.readsAll !== true;
    this.#fastPath = deltaFields && isPlain ? new DeltaFastPath(deltaFields, transform) : null;
  }

  /** The protocol's own end was seen, or the reply broke: nothing more is read. */
  get done(): boolean {
    return this.#ended || this.#fault !== null;
  }

  /** One read from the upstream. false: pause it. */
  push(chunk: Uint8Array): boolean {
    if (this.done) return true;
    try {
      const fastPath = this.#fastPath;
      if (fastPath !== null && fastPath.records !== null && this.#source.atRest === true) return this.#grow(fastPath, fastPath.records, chunk);
      return this.#take(this.#source.push(chunk));
    } catch (error) {
      this.#fault = badReply(error);
      return true;
    }
  }

  /** The body ended, properly or not. */
  finish(): PumpEnd {
    try {
      if (!this.done) this.#take(this.#source.finish());
      if (!this.#fault) {
        const events = this.#reader.finish();
        this.#see(events);
        // Translated protocols may owe the caller text that only the end brings, whether or not `end` came by record.
        if (this.#ended && !this.#fault) this.#emit([this.#transform.finish(events)]);
      }
    } catch (error) {
      this.#fault ??= badReply(error);
    }
    if (!this.#fault && !this.#ended) this.#fault = { class: 'broken', code: 'incomplete', message: 'the stream ended without its terminator' };
    return { fault: this.#fault, committed: this.#committed };
  }

  /** Bytes that most likely hold nothing but more words of the block that grows; what else they hold is read as ever. */
  #grow(fastPath: DeltaFastPath, records: DeltaTemplate, chunk: Uint8Array): boolean {
    const bytes = asBuffer(chunk);
    const text = bytes.toString('latin1');
    const passes = this.#transform.lastEdits !== undefined;
    let at = 0;
    let out = '';
    while (at < text.length && records.fits(text, at)) {
      this.#record.meter.grow(fastPath.type, records.bytes);
      if (!passes) out += this.#write(fastPath.event(text));
      else if (records.edited) out += records.print(text, at);
      at = records.end;
    }
    if (at === 0) return this.#take(this.#source.push(chunk));
    fastPath.recognised();
    const sent = !passes ? toByteText(out) : records.edited ? out : text.slice(0, at);
    if (at < text.length) return this.#take(this.#source.push(bytes.subarray(at)), [Buffer.from(sent, 'latin1')]);
    return sent.length === 0 || this.#sink.send(sent, true);
  }

  #write(event: ChatEvent): string {
    const piece = this.#transform.record(noRecord, [event]);
    return typeof piece === 'string' ? piece : '';
  }

  /** `out`: what goes before them. */
  #take(records: readonly Framed[], out: (string | Uint8Array)[] = []): boolean {
    for (const outer of records) {
      const framed = this.#unwrap ? this.#unwrap(outer) : outer;
      const { event, data, raw, dataStart, dataEnd, failure } = framed;
      const record: RawRecord = { event, data, json: framed.json ?? this.#parse(framed), raw, dataStart, dataEnd, failure };
      // What a message of failure says is its reader's to judge, readable or not.
      if (failure === undefined && record.json === undefined && !isDone(data)) {
        if (record.data.trim() === '') continue;
        this.#fault = { class: 'broken', code: 'malformed', message: 'the upstream sent an event that is not JSON' };
        break;
      }
      const events = this.#reader.read(record);
      this.#see(events);
      if (this.#fault) break;
      const piece = this.#transform.record(record, events);
      if (this.#reader.steady !== false) this.#fastPath?.see(record, events, piece);
      else this.#fastPath?.rest();
      if (piece !== undefined && piece.length > 0) out.push(piece);
      if (this.#ended) break;
    }
    return this.#emit(out);
  }

  #see(events: readonly ChatEvent[]): void {
    this.#record.meter.see(events);
    for (const event of events) {
      if (event.type === 'error') {
        this.#fault = event.error;
        return;
      }
      if (this.#unanswered) {
        if (isAnswer(event)) this.#unanswered = false;
        this.#fault = modelFailure(event);
        if (this.#fault) return;
      }
      if (event.type === 'end') this.#ended = true;
      if (!this.#committed && (isContent(event) || event.type === 'finish')) this.#commit();
    }
  }

  #commit(): void {
    this.#committed = true;
    this.#record.markContent();
    this.#sink.commit();
  }

  #emit(pieces: (string | Uint8Array)[]): boolean {
    if (!this.#committed) {
      for (const piece of pieces) {
        this.#held.push(piece);
        this.#heldBytes += piece.length;
      }
      this.#heldEvents += pieces.length;
      if (this.#heldEvents <= maxHeldEvents && this.#heldBytes <= maxHeldBytes) return true;
      this.#commit();
      pieces = [];
    }
    const all = this.#held.length > 0 ? this.#held.concat(pieces) : pieces;
    this.#held = [];
    if (all.length === 0) return true;
    const bytes = joinPieces(all);
    return bytes.length === 0 ? true : this.#sink.send(bytes);
  }
}

/** What a record was that nobody parsed: its event says all. */
const noRecord: RawRecord = { data: '', json: undefined, raw: new Uint8Array() };

function recordSource(framing: 'sse' | 'json-array' | 'event-stream', maxBytes: number): RecordSource {
  if (framing === 'sse') return createSseParser({ maxEventBytes: maxBytes });
  if (framing === 'json-array') return createJsonArrayParser({ maxElementBytes: maxBytes });
  return createEventStreamParser({ maxMessageBytes: maxBytes });
}

/** undefined: it is none, which the caller of this judges. */
function parseRecord(data: string): unknown {
  // Every stream of some vendors ends with it, and an error costs more than what it is the error of.
  if (isDone(data)) return undefined;
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

const isDone = (data: string): boolean => data.trim() === '[DONE]';

const badReply = (error: unknown): UpstreamFault => ({
  class: 'broken',
  code: 'unreadable',
  message: error instanceof Error ? error.message : 'unreadable reply',
});

function joinPieces(pieces: readonly (string | Uint8Array)[]): Uint8Array {
  const first = pieces[0];
  if (pieces.length === 1 && first !== undefined) return typeof first === 'string' ? Buffer.from(first, 'utf8') : first;
  if (pieces.every((piece) => typeof piece === 'string')) return Buffer.from(pieces.join(''), 'utf8');
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'utf8') : piece)));
}
