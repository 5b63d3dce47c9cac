/** Cuts a streamed JSON array into its elements as they become complete. */
import { asBuffer, Carry } from './carry.ts';
import { FramingError } from './framing-error.ts';

/** One element of a streamed JSON array. */
export interface JsonElement {
  /** JSON text of the element. */
  data: string;
  /** The same as bytes, without what stands between elements. Do not write into it. */
  raw: Uint8Array;
}

/** Incremental parser of a streamed JSON array. */
export interface JsonArrayParser {
  /** Elements that this chunk completes. Throws FramingError; elements before the fault are returned first, and the next call throws. */
  push(chunk: Uint8Array): JsonElement[];
  /** The body ended. An element that is cut is not given. */
  finish(): JsonElement[];
  /** The closing bracket was seen. What follows it is ignored. */
  readonly complete: boolean;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const bracketOpen = 0x5b;
const bracketClose = 0x5d;
const braceOpen = 0x7b;
const braceClose = 0x7d;

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** `before` the opening bracket, `first`: an element or the end, `next`: an element, `inside` one, `after` one: a comma or the end, `done`. */
type Place = 'before' | 'first' | 'next' | 'inside' | 'after' | 'done';

class IncrementalJsonArrayParser implements JsonArrayParser {
  private readonly maxElementBytes: number;
  private readonly carry = new Carry();
  private fault: FramingError | null = null;
  private place: Place = 'before';
  /** Byte order mark bytes seen before the array. */
  private markBytes = 0;
  private depth = 0;
  private inString = false;
  private escaped = false;

  constructor(maxElementBytes: number) {
    this.maxElementBytes = maxElementBytes;
  }

  get complete(): boolean {
    return this.place === 'done';
  }

  private isInside(): boolean {
    return this.place === 'inside';
  }

  push(chunk: Uint8Array): JsonElement[] {
    if (this.fault) throw this.fault;
    const held = this.carry.isEmpty ? 0 : this.carry.view().length;
    const bytes = asBuffer(chunk);
    const buffer = held === 0 ? bytes : this.carry.append(bytes);
    const elements: JsonElement[] = [];
    let start = 0;
    let position = held;
    while (position < buffer.length && !this.fault && !this.complete) {
      if (this.isInside()) {
        const end = this.readInside(buffer, position);
        if (end < 0) break;
        this.checkSize(end - start);
        if (!this.fault) elements.push({ data: buffer.toString('utf8', start, end), raw: buffer.subarray(start, end) });
        this.place = 'after';
        position = end;
      } else {
        this.readBetween(buffer[position]!);
        // The byte that begins an element is read again as its first.
        if (this.isInside()) start = position;
        else position += 1;
      }
    }
    if (this.isInside()) this.keepRest(buffer, start, held);
    else this.carry.clear();
    if (this.fault && elements.length === 0) throw this.fault;
    return elements;
  }

  finish(): JsonElement[] {
    if (this.fault) throw this.fault;
    this.carry.clear();
    return [];
  }

  private readBetween(byte: number): void {
    if (isBlank(byte)) return;
    if (this.place === 'before') {
      if (byte === [0xef, 0xbb, 0xbf][this.markBytes]) this.markBytes += 1;
      else if (byte === bracketOpen) this.place = 'first';
      else this.refuse('malformed', 'The reply is not a JSON array.');
    } else if (byte === bracketClose && this.place !== 'next') {
      this.place = 'done';
    } else if (this.place === 'after') {
      if (byte === comma) this.place = 'next';
      else this.refuse('malformed', 'The elements of a JSON array are not separated by commas.');
    } else if (byte === comma || byte === bracketClose || byte === braceClose) {
      this.refuse('malformed', 'An element of a JSON array is missing.');
    } else {
      this.place = 'inside';
    }
  }

  /** Offset after the element's last byte, or -1 when the buffer ends inside it. */
  private readInside(buffer: Buffer, from: number): number {
    for (let position = from; position < buffer.length; position += 1) {
      const byte = buffer[position]!;
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (byte === backslash) this.escaped = true;
        else if (byte === quote) {
          this.inString = false;
          if (this.depth === 0) return position + 1;
        }
      } else if (byte === quote) {
        this.inString = true;
      } else if (byte === braceOpen || byte === bracketOpen) {
        this.depth += 1;
      } else if (byte === braceClose || byte === bracketClose) {
        // At depth 0 the bracket is the array's own: it ends a bare number or literal.
        if (this.depth === 0) return position;
        this.depth -= 1;
        if (this.depth === 0) return position + 1;
      } else if (this.depth === 0 && (byte === comma || isBlank(byte))) {
        return position;
      }
    }
    return -1;
  }

  private keepRest(buffer: Buffer, start: number, held: number): void {
    this.checkSize(buffer.length - start);
    if (this.fault) return;
    if (held === 0 || start > 0) this.carry.replace(buffer.subarray(start));
  }

  private checkSize(size: number): void {
    if (size > this.maxElementBytes) this.refuse('too_large', `An element of a JSON array is larger than ${this.maxElementBytes} bytes.`);
  }

  private refuse(code: FramingError['code'], message: string): void {
    this.fault = new FramingError(code, message);
    this.carry.clear();
  }
}

export const createJsonArrayParser = (options: { maxElementBytes: number }): JsonArrayParser => new IncrementalJsonArrayParser(options.maxElementBytes);
