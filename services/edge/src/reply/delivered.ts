/**
 * What a reply that its translator did not live to count may have used: the tokens of its prompt by the bytes of the request, those of its text by what was
 * delivered. Vendors charge for both, and a row without figures would cost nothing.
 */
import type { Job, Operation, ReplyHead, RequestRow } from '@model-gateway/contracts';

/** As everywhere where nobody counted. */
const bytesPerToken = 4;
/** Operations whose streams are text. */
const ofText: ReadonlySet<Operation> = new Set(['generate', 'complete']);

/** Tokens of a prompt by the bytes of its request, with what files in it are charged as. */
export const estimatePrompt = (requestBytes: number, { files = { bytes: 0, tokens: 0 } }: Pick<Job['places'], 'files'>): number =>
  files.tokens + Math.ceil(Math.max(0, requestBytes - files.bytes) / bytesPerToken);

/** Counts the events of a stream, which are what carries its text. */
export class Delivered {
  /** Of the pieces so far: an event with next to no text in it. */
  #smallest = Number.POSITIVE_INFINITY;
  #tokens = 0;

  /** `length`: of one piece, which holds whole events, usually a single one. */
  add(length: number): void {
    if (length === 0) return;
    if (length < this.#smallest) this.#smallest = length;
    const events = Math.floor(length / this.#smallest);
    // A token at least for each event; one alone may hold more of them.
    this.#tokens += Math.max(events, Math.floor((length - events * this.#smallest) / bytesPerToken));
  }

  /** For the row of a stream that broke; nothing where no upstream is known to have answered. */
  estimate(served: ReplyHead['served'], operation: Operation, promptTokens: number): Partial<RequestRow> {
    if (!served || this.#tokens === 0 || !ofText.has(operation)) return {};
    return { ...served, input_tokens: promptTokens, output_tokens: this.#tokens, usage_source: 'estimated' };
  }
}
