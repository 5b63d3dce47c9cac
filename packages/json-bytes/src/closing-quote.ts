/**
 * Where a long JSON string ends. Agents send megabytes of text full of escaped quotes, on which a loop over bytes spends ten times as long as
 * the vector instructions that JavaScript can only reach through WebAssembly.
 */

const quote = 0x22;
const backslash = 0x5c;

/** `closing-quote.wat`, assembled; its test says what this must be. */
const assembled = [
  'AGFzbQEAAAABBgFgAX8BfwMCAQAFAwEAAQcZAgZtZW1vcnkCAAxjbG9zaW5nUXVvdGUAAAqZAgGWAgMBfwZ7Bn5BIv0PIQJB3AD9DyEDA0AgAf0ABAAhBCAB/QAEECEFIAH9AAQgIQYg',
  'Af0ABDAhByAEIAL9I/1krSAFIAL9I/1krUIQhoQgBiAC/SP9ZK1CIIYgByAC/SP9ZK1CMIaEhCEIIAQgA/0j/WStIAUgA/0j/WStQhCGhCAGIAP9I/1krUIghiAHIAP9I/1krUIwhoSE',
  'IQkgCSANQn+FgyEJIAlCAYYgDYQhCiAJQqrVqtWq1arVqn+DIApCf4WDIQsgCyAJfCEMIAwgCVStIQ0gCEJ/IApC1arVqtWq1arVACAMQgGGhYOFgyEIIAhCAFIEQCABIAh6p2oPCyAB',
  'QcAAaiEBIAEgAEkNAAsgASANp2oL',
];

interface Search {
  /** The memory that is searched. */
  capacity: Uint8Array;
  /** See the source. */
  closingQuote(end: number): number;
}

/** TypeScript knows it in browsers alone. */
declare const WebAssembly: { Module: new (bytes: Uint8Array) => object; Instance: new (module: object) => { exports: unknown } };

/** null: a machine without such instructions (x64 before SSE 4.1, or a virtual one that hides it). */
const search = assemble();

function assemble(): Search | null {
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(assembled.join(''), 'base64')));
    const { memory, closingQuote } = exports as Pick<Search, 'closingQuote'> & { memory: { buffer: ArrayBuffer } };
    return { capacity: new Uint8Array(memory.buffer), closingQuote };
  } catch {
    return null;
  }
}

/** All multiples of a block, so that pieces end at block boundaries. They grow with the string, so that never much more is copied than is searched. */
const firstPiece = 1024;
const growth = 4;
/** The memory of the module; it still fits the nearest caches. */
const largestPiece = 64 * 1024;

/** Offset after the closing quote, or -1 when the string never closes. `start` is inside the string, at a byte that is not escaped. */
export function skipToClosingQuote(bytes: Buffer, start: number): number {
  if (search === null) return walkToClosingQuote(bytes, start);
  const { capacity, closingQuote } = search;
  let position = start;
  for (let piece = firstPiece; position < bytes.length; piece = Math.min(piece * growth, largestPiece)) {
    const end = Math.min(piece, bytes.length - position);
    bytes.copy(capacity, 0, position, position + end);
    const found = closingQuote(end);
    // The memory after the piece's end still holds older data.
    if (found < end) return position + found + 1;
    position += found;
  }
  return -1;
}

/** The same, a byte at a time. */
export function walkToClosingQuote(bytes: Buffer, start: number): number {
  for (let position = start; position < bytes.length; position += bytes[position] === backslash ? 2 : 1) if (bytes[position] === quote) return position + 1;
  return -1;
}
