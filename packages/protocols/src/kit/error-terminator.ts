/** Ends a broken stream with an error event, where what was sent cannot be completed: half an image, half a sentence of speech. */
import type { GatewayWarning, StreamTerminator } from '../contract/index.ts';

export class ErrorTerminator implements StreamTerminator {
  readonly #marks: readonly string[];
  readonly #longest: number;
  #tail: Buffer = Buffer.alloc(0);
  #ended = false;
  #closed = false;

  /** `marks`: of events that end a stream. With a quote at their end, or a line break, which are escaped inside strings, no text can fake them. */
  constructor(marks: readonly string[]) {
    this.#marks = marks;
    this.#longest = Math.max(...marks.map(({ length }) => length));
  }

  observe(bytes: Uint8Array): void {
    if (this.#ended) return;
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    // The mark may be cut in two.
    const seam = Buffer.concat([this.#tail, piece.subarray(0, this.#longest)]);
    this.#ended = this.#marks.some((mark) => seam.includes(mark) || piece.includes(mark));
    this.#tail = Buffer.concat([this.#tail, piece.subarray(-this.#longest)]).subarray(-this.#longest);
  }

  get ended(): boolean {
    return this.#ended || this.#closed;
  }

  get repeatable(): boolean {
    return !this.ended;
  }

  close({ reason, detail, timestamp }: Omit<GatewayWarning, 'last_finish_reason'>): string {
    if (this.ended) return '';
    this.#closed = true;
    const event = {
      type: 'error',
      error: { message: detail, type: 'server_error', code: reason, param: null },
      _gateway_warning: { reason, detail, last_finish_reason: null, timestamp },
    };
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
  }
}
