/** Ends a broken stream of images with an error event: half an image cannot be completed. */
import type { GatewayWarning, StreamTerminator } from '../contract/index.ts';

/** Of the type of the event that ends the stream. Inside strings the quote is escaped, so that no text can fake it. */
const mark = '.completed"';

export class ImagesTerminator implements StreamTerminator {
  #tail: Buffer = Buffer.alloc(0);
  #ended = false;
  #closed = false;

  observe(bytes: Uint8Array): void {
    if (this.#ended) return;
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    // The mark may be cut in two.
    const seam = Buffer.concat([this.#tail, piece.subarray(0, mark.length)]);
    this.#ended = seam.includes(mark) || piece.includes(mark);
    this.#tail = Buffer.concat([this.#tail, piece.subarray(-mark.length)]).subarray(-mark.length);
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
