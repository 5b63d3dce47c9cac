/** Cuts a stream of server-sent events into records, however its bytes arrive. */
import { asBuffer, Carry } from './carry.ts';
import { FramingError } from './framing-error.ts';

/** One server-sent event. */
export interface SseRecord {
  /** Value of the last `event:` line, when there was one. */
  event?: string;
  /** Values of the `data:` lines joined by `\n`, spaces at their ends dropped. */
  data: string;
  /**
   * The event's own bytes with its blank line, comments left out. Looks into the chunk's memory where it can: do not write into it.
   * Of a last event that came without its blank line: with the line ends it lacked.
   */
  raw: Uint8Array;
  /** Offset of the data in `raw`, when it is one line. */
  dataStart?: number;
  dataEnd?: number;
}

/** Incremental parser of a server-sent event stream. */
export interface SseParser {
  /**
   * The records that this chunk completes. Throws FramingError `too_large` when an event outgrows `maxEventBytes`; records before
   * it are returned first, and the next call throws. A CR at the end of a chunk waits for the next byte, which may be its LF.
   */
  push(chunk: Uint8Array): SseRecord[];
  /** The body ended: the last event, if its blank line is missing. */
  finish(): SseRecord[];
  /** Nothing is buffered: all pushed bytes are in records already returned, so that other code may take over at the next chunk. */
  readonly atRest: boolean;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const space = 0x20;
const tab = 0x09;
const none = Number.POSITIVE_INFINITY;

const nextOf = (buffer: Buffer, byte: number, from: number): number => {
  const found = buffer.indexOf(byte, from);
  return found < 0 ? none : found;
};

/** Whether the line's field is `name`: the line consists of the name, or a colon follows it. */
function isField(buffer: Buffer, start: number, end: number, name: string): boolean {
  if (end - start < name.length) return false;
  for (let index = 0; index < name.length; index += 1) if (buffer[start + index] !== name.charCodeAt(index)) return false;
  return end - start === name.length || buffer[start + name.length] === colon;
}

/**
 * The bytes that complete a last event which the body's end cut short. A trailing CR counts as half of a CR LF, so that the caller's reader does not
 * end an event where only a reader of lone CRs would.
 */
function missingEnd(raw: Uint8Array): string {
  const [before, last] = [raw.at(-2), raw.at(-1)];
  if (last === carriageReturn && before === carriageReturn) return '';
  if (last === carriageReturn) return before === lineFeed ? '\n' : '\n\r\n';
  if (last === lineFeed) return before === carriageReturn ? '\r\n' : '\n';
  return '\n\n';
}

/** An event that its body's end completed, with the line ends it lacks. */
const completed = (record: SseRecord): SseRecord => ({ ...record, raw: Buffer.concat([record.raw, Buffer.from(missingEnd(record.raw))]) });

class IncrementalSseParser implements SseParser {
  private readonly maxEventBytes: number;
  private readonly carry = new Carry();
  private fault: FramingError | null = null;
  private atStart = true;

  // Offsets into the current buffer.
  private eventStart = 0;
  private lineStart = 0;
  /** There is no line end before this offset. */
  private scanned = 0;

  // The event so far; offsets from `eventStart`.
  private hasLines = false;
  private event: string | undefined;
  private data = '';
  private dataLines = 0;
  private dataStart = 0;
  private dataEnd = 0;
  /** Start and end of each comment between the event's lines. */
  private holes: number[] | null = null;

  constructor(maxEventBytes: number) {
    this.maxEventBytes = maxEventBytes;
  }

  push(chunk: Uint8Array): SseRecord[] {
    if (this.fault) throw this.fault;
    const fresh = this.carry.isEmpty;
    const buffer = fresh ? asBuffer(chunk) : this.carry.append(asBuffer(chunk));
    const records: SseRecord[] = [];
    this.readLines(buffer, records);
    if (!this.fault) this.keepRest(buffer, fresh);
    return this.orThrow(records);
  }

  get atRest(): boolean {
    return this.carry.isEmpty && !this.hasLines && !this.atStart && this.fault === null;
  }

  finish(): SseRecord[] {
    if (this.fault) throw this.fault;
    const buffer = this.carry.view();
    const records: SseRecord[] = [];
    const length = buffer.length;
    if (this.lineStart < length) {
      const endsInReturn = buffer[length - 1] === carriageReturn;
      this.readLine(buffer, this.lineStart, endsInReturn ? length - 1 : length, length, records);
    }
    if (this.dataLines > 0) records.push(completed(this.takeRecord(buffer, length)));
    // The blank line was there but for the LF of its CR LF.
    else if (records.length > 0 && buffer[length - 1] === carriageReturn) records.push(completed(records.pop()!));
    this.carry.clear();
    this.eventStart = 0;
    this.lineStart = 0;
    this.scanned = 0;
    return this.orThrow(records);
  }

  /** What came before a fault is still good. */
  private orThrow(records: SseRecord[]): SseRecord[] {
    if (this.fault && records.length === 0) throw this.fault;
    return records;
  }

  private readLines(buffer: Buffer, records: SseRecord[]): void {
    let nextLf = nextOf(buffer, lineFeed, this.scanned);
    // Most streams have no CR at all: one native search says so for the whole chunk.
    let nextCr = nextOf(buffer, carriageReturn, this.scanned);
    while (!this.fault) {
      let lineEnd: number;
      let next: number;
      if (nextLf < nextCr) {
        lineEnd = nextLf;
        next = lineEnd + 1;
      } else {
        if (nextCr === none || nextCr + 1 === buffer.length) break;
        lineEnd = nextCr;
        next = buffer[lineEnd + 1] === lineFeed ? lineEnd + 2 : lineEnd + 1;
      }
      this.readLine(buffer, this.lineStart, lineEnd, next, records);
      this.lineStart = next;
      if (nextLf < next) nextLf = buffer[next] === lineFeed ? next : nextOf(buffer, lineFeed, next);
      if (nextCr < next) nextCr = nextOf(buffer, carriageReturn, next);
    }
    this.scanned = Math.min(nextCr, buffer.length);
  }

  /** Takes in one line, which ends at `end`; the next begins at `next`. */
  private readLine(buffer: Buffer, lineStart: number, end: number, next: number, records: SseRecord[]): void {
    let start = lineStart;
    if (this.atStart) {
      this.atStart = false;
      if (buffer[start] === 0xef && buffer[start + 1] === 0xbb && buffer[start + 2] === 0xbf) {
        start += 3;
        this.eventStart = start;
      }
    }
    if (next - this.eventStart > this.maxEventBytes) {
      this.refuse();
    } else if (start === end) {
      if (this.dataLines > 0) records.push(this.takeRecord(buffer, next));
      else this.reset();
      this.eventStart = next;
    } else if (buffer[start] === colon) {
      this.dropComment(start, next);
    } else {
      this.hasLines = true;
      if (isField(buffer, start, end, 'data')) this.addData(buffer, start + 4, end);
      else if (isField(buffer, start, end, 'event')) this.event = this.decode(buffer, start + 5, end);
    }
  }

  private dropComment(start: number, next: number): void {
    if (!this.hasLines) {
      this.eventStart = next;
      return;
    }
    this.holes ??= [];
    if (this.holes.at(-1) === start - this.eventStart) this.holes.pop();
    else this.holes.push(start - this.eventStart);
    this.holes.push(next - this.eventStart);
  }

  /** Offsets of a field's value: after the colon and one space, without spaces at the end. Left in `valueStart` and `valueEnd`. */
  private valueStart = 0;
  private valueEnd = 0;
  private decode(buffer: Buffer, afterName: number, lineEnd: number): string {
    let start = afterName < lineEnd ? afterName + 1 : lineEnd;
    if (start < lineEnd && buffer[start] === space) start += 1;
    let end = lineEnd;
    while (end > start && (buffer[end - 1] === space || buffer[end - 1] === tab)) end -= 1;
    this.valueStart = start;
    this.valueEnd = end;
    return buffer.toString('utf8', start, end);
  }

  private addData(buffer: Buffer, afterName: number, end: number): void {
    const value = this.decode(buffer, afterName, end);
    this.data = this.dataLines === 0 ? value : `${this.data}\n${value}`;
    this.dataLines += 1;
    this.dataStart = this.valueStart - this.eventStart;
    this.dataEnd = this.valueEnd - this.eventStart;
  }

  private takeRecord(buffer: Buffer, end: number): SseRecord {
    const record: SseRecord = { data: this.data, raw: buffer.subarray(this.eventStart, end) };
    if (this.event !== undefined) record.event = this.event;
    if (this.dataLines === 1) {
      record.dataStart = this.dataStart;
      record.dataEnd = this.dataEnd;
    }
    if (this.holes) fillHoles(record, this.holes);
    this.reset();
    return record;
  }

  private reset(): void {
    this.hasLines = false;
    this.event = undefined;
    this.data = '';
    this.dataLines = 0;
    this.holes = null;
  }

  private keepRest(buffer: Buffer, fresh: boolean): void {
    const rest = buffer.length - this.eventStart;
    if (rest > this.maxEventBytes) {
      this.refuse();
      return;
    }
    if (rest === 0) this.carry.clear();
    else if (fresh || this.eventStart > 0) this.carry.replace(buffer.subarray(this.eventStart));
    this.lineStart -= this.eventStart;
    this.scanned -= this.eventStart;
    this.eventStart = 0;
  }

  private refuse(): void {
    this.fault = new FramingError('too_large', `An event is larger than ${this.maxEventBytes} bytes.`);
    this.carry.clear();
    this.reset();
  }
}

/** Takes the comments out of a record's bytes and moves its data range to match. */
function fillHoles(record: SseRecord, holes: readonly number[]): void {
  const pieces: Uint8Array[] = [];
  let from = 0;
  let shift = 0;
  for (let index = 0; index < holes.length; index += 2) {
    const start = holes[index]!;
    const end = holes[index + 1]!;
    pieces.push(record.raw.subarray(from, start));
    // Without the comment between them a CR and the LF of the blank line would be one line end.
    if (record.raw[start - 1] === carriageReturn && record.raw[end] === lineFeed) pieces.push(Buffer.from('\r'));
    if (record.dataStart !== undefined && start < record.dataStart) shift += end - start;
    from = end;
  }
  pieces.push(record.raw.subarray(from));
  record.raw = Buffer.concat(pieces);
  if (record.dataStart === undefined || record.dataEnd === undefined) return;
  record.dataStart -= shift;
  record.dataEnd -= shift;
}

/**
 * Reads CRLF, LF and CR; `data:` with and without a space; drops comments, and events that carry no data line (no reader dispatches
 * those). `id:` and `retry:` stay in `raw` and are read by nobody. `maxEventBytes` bounds what is held between chunks.
 */
export const createSseParser = (options: { maxEventBytes: number }): SseParser => new IncrementalSseParser(options.maxEventBytes);
