/**
 * Where a long JSON string ends. Agents send megabytes of text full of escaped quotes, on which a loop over bytes spends ten times as long as
 * the vector instructions that JavaScript can only reach through WebAssembly.
 */

/** `closing-quote.wat`, assembled; its test says what this must be. */
const assembled = [
  'AGFzbQEAAAABBgFgAX8BfwMCAQAFAwEAAgcZAgZtZW1vcnkCAAxjbG9zaW5nUXVvdGUAAAqZAgGWAgMBfwZ7Bn5BIv0PIQJB3AD9DyEDA0AgAf0ABAAhBCAB/QAEECEFIAH9AAQgIQYg',
  'Af0ABDAhByAEIAL9I/1krSAFIAL9I/1krUIQhoQgBiAC/SP9ZK1CIIYgByAC/SP9ZK1CMIaEhCEIIAQgA/0j/WStIAUgA/0j/WStQhCGhCAGIAP9I/1krUIghiAHIAP9I/1krUIwhoSE',
  'IQkgCSANQn+FgyEJIAlCAYYgDYQhCiAJQqrVqtWq1arVqn+DIApCf4WDIQsgCyAJfCEMIAwgCVStIQ0gCEJ/IApC1arVqtWq1arVACAMQgGGhYOFgyEIIAhCAFIEQCABIAh6p2oPCyAB',
  'QcAAaiEBIAEgAEkNAAsgASANp2oL',
];

interface Exports {
  memory: { buffer: ArrayBuffer };
  /** See the source. */
  closingQuote(end: number): number;
}

/** TypeScript knows it in browsers alone. */
declare const WebAssembly: { Module: new (bytes: Uint8Array) => object; Instance: new (module: object) => { exports: unknown } };

const { memory, closingQuote } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(assembled.join(''), 'base64'))).exports as Exports;
/** Twice the size of the largest piece: a block may reach behind the end of its piece. */
const room = new Uint8Array(memory.buffer);

/** Multiples of a block, so that pieces end where blocks do. Most strings are short; a large piece still fits the nearest caches. */
const firstPiece = 1024;
const largestPiece = 64 * 1024;

/** Offset after the closing quote, or -1 when the string never closes. `start` is inside the string, at a byte that is not escaped. */
export function skipToClosingQuote(bytes: Buffer, start: number): number {
  let position = start;
  for (let piece = firstPiece; position < bytes.length; piece = largestPiece) {
    const end = Math.min(piece, bytes.length - position);
    room.set(new Uint8Array(bytes.buffer, bytes.byteOffset + position, end));
    const found = closingQuote(end);
    // Behind the end stands what was here before.
    if (found < end) return position + found + 1;
    position += found;
  }
  return -1;
}
