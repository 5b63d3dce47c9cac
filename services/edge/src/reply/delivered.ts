/**
 * What a reply that its translator did not live to count may have used: the tokens of its prompt by the bytes of the request, those of its text by what was
 * delivered. Vendors charge for both, and a row without figures would cost nothing.
 */
import { type Operation, type ReplyHead, type RequestRow, usualBytesPerToken } from '@model-gateway/contracts';
import { asBuffer } from '@model-gateway/json-bytes';

/** Operations whose streams are text. */
const ofText: ReadonlySet<Operation> = new Set(['generate', 'complete']);

/** Pings and comments are shorter than any event with text. */
const minEvent = 64;
const mark = '\ndata:';
const markBytes = Buffer.from(mark);

/** How many events a piece of an event stream holds: JSON text has no line breaks, so that the mark is in none of it. */
export function eventsIn(piece: string | Uint8Array): number {
  if (typeof piece === 'string') return count((from) => piece.indexOf(mark, from), piece.startsWith(mark.slice(1)));
  const bytes = asBuffer(piece);
  return count((from) => bytes.indexOf(markBytes, from), bytes.indexOf(markBytes.subarray(1)) === 0);
}

function count(find: (from: number) => number, beginsWithOne: boolean): number {
  let found = beginsWithOne ? 1 : 0;
  for (let at = find(0); at >= 0; at = find(at + 1)) found++;
  return found;
}

/** Counts the events of a stream, which are what carries its text. */
export class Delivered {
  /** Of the pieces so far: an event with next to no text in it. */
  #smallest = Number.POSITIVE_INFINITY;
  #tokens = 0;

  /** `length`: of one piece, which holds `events` whole events, usually a single one. */
  add(length: number, events: number): void {
    const each = length / Math.max(1, events);
    if (each < minEvent) return;
    if (each < this.#smallest) this.#smallest = each;
    // A token at least for each event; one alone may hold more of them.
    this.#tokens += Math.max(events, Math.floor((length - events * this.#smallest) / usualBytesPerToken));
  }

  /** For the row of a stream that broke; nothing where no upstream is known to have answered. */
  estimate(served: ReplyHead['served'], operation: Operation, promptTokens: number): Partial<RequestRow> {
    if (!served || this.#tokens === 0 || !ofText.has(operation)) return {};
    return { ...served, input_tokens: promptTokens, output_tokens: this.#tokens, usage_source: 'estimated' };
  }
}
