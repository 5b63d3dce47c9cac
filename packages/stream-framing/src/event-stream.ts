/** Cuts a binary stream of `application/vnd.amazon.eventstream` messages into records, however its bytes arrive; checks lengths and checksums. */
import { crc32 } from 'node:zlib';
import { asBuffer, Carry } from './carry.ts';
import { type EventStreamHeaders, readEventStreamHeaders } from './event-stream-headers.ts';
import { FramingError } from './framing-error.ts';

/** One message of a binary event stream. */
export interface EventStreamRecord {
  /** `:event-type` of an event, `:exception-type` of an exception, `:error-code` of an error. */
  event?: string;
  /** The payload as text. Of an `error` message without a payload: its words as `{"message":…}`. */
  data: string;
  /** The payload's bytes. Looks into the chunk's memory where it can: do not write into it. */
  raw: Uint8Array;
  /** Set when the message reports that the stream has failed: after HTTP 200 this is the only indication. */
  failure?: 'exception' | 'error';
  headers: EventStreamHeaders;
}

/** Incremental parser of a binary event stream. */
export interface EventStreamParser {
  /**
   * The messages that this chunk completes. Throws FramingError: `too_large` when a message announces more than `maxMessageBytes`, `malformed`
   * when lengths or checksums are wrong. Messages before the fault are returned first, and the next call throws.
   */
  push(chunk: Uint8Array): EventStreamRecord[];
  /** The body ended. Throws `malformed` when it ended inside a message. */
  finish(): EventStreamRecord[];
}

/** Total length, headers' length, and the checksum of these two. */
const preludeBytes = 12;
const checksumBytes = 4;
/** The least that a message is: a prelude and its own checksum. */
const minBytes = preludeBytes + checksumBytes;
/** The format's own bound on headers. */
const maxHeaderBytes = 128 * 1024;

class IncrementalEventStreamParser implements EventStreamParser {
  private readonly maxMessageBytes: number;
  private readonly carry = new Carry();
  private fault: FramingError | null = null;

  constructor(maxMessageBytes: number) {
    this.maxMessageBytes = maxMessageBytes;
  }

  push(chunk: Uint8Array): EventStreamRecord[] {
    if (this.fault) throw this.fault;
    const held = !this.carry.isEmpty;
    const bytes = asBuffer(chunk);
    const buffer = held ? this.carry.append(bytes) : bytes;
    const records: EventStreamRecord[] = [];
    let start = 0;
    try {
      for (;;) {
        const length = this.messageLength(buffer, start);
        if (length === null || buffer.length - start < length) break;
        records.push(readMessage(buffer.subarray(start, start + length)));
        start += length;
      }
    } catch (error) {
      if (!(error instanceof FramingError)) throw error;
      this.fault = error;
      this.carry.clear();
      if (records.length === 0) throw error;
      return records;
    }
    if (start === buffer.length) this.carry.clear();
    else if (!held || start > 0) this.carry.replace(buffer.subarray(start));
    return records;
  }

  finish(): EventStreamRecord[] {
    if (this.fault) throw this.fault;
    if (this.carry.isEmpty) return [];
    this.carry.clear();
    this.fault = new FramingError('malformed', 'The event stream ended inside a message.');
    throw this.fault;
  }

  /** Total length of the message that begins at `start`, null until its prelude is complete. Checked before any of it is buffered. */
  private messageLength(buffer: Buffer, start: number): number | null {
    if (buffer.length - start < preludeBytes) return null;
    const total = buffer.readUInt32BE(start);
    const headers = buffer.readUInt32BE(start + 4);
    if (crc32(buffer.subarray(start, start + 8)) !== buffer.readUInt32BE(start + 8))
      throw new FramingError('malformed', 'The lengths of an event stream message do not match their checksum.');
    if (total > this.maxMessageBytes) throw new FramingError('too_large', `An event stream message is larger than ${this.maxMessageBytes} bytes.`);
    if (headers > maxHeaderBytes || total < minBytes + headers) throw new FramingError('malformed', 'The lengths of an event stream message are impossible.');
    return total;
  }
}

/** `message` holds exactly one. */
function readMessage(message: Buffer): EventStreamRecord {
  const end = message.length - checksumBytes;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end))
    throw new FramingError('malformed', 'An event stream message does not match its checksum.');
  const payloadStart = preludeBytes + message.readUInt32BE(4);
  const headers = readEventStreamHeaders(message.subarray(preludeBytes, payloadStart));
  const raw = message.subarray(payloadStart, end);
  const kind = headers[':message-type'];
  if (kind === 'exception') return named(headers[':exception-type'], { data: raw.toString('utf8'), raw, failure: kind, headers });
  if (kind === 'error') {
    const data = raw.length > 0 ? raw.toString('utf8') : JSON.stringify({ message: headers[':error-message'] ?? '' });
    return named(headers[':error-code'], { data, raw, failure: kind, headers });
  }
  return named(headers[':event-type'], { data: raw.toString('utf8'), raw, headers });
}

const named = (event: EventStreamHeaders[string] | undefined, record: EventStreamRecord): EventStreamRecord =>
  typeof event === 'string' ? { event, ...record } : record;

export const createEventStreamParser = (options: { maxMessageBytes: number }): EventStreamParser => new IncrementalEventStreamParser(options.maxMessageBytes);
