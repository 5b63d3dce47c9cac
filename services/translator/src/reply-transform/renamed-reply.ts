/** Names of the model in a reply that otherwise passes as bytes: they become the one its caller used, and every other byte stays. */
import { applyEdits, asBuffer, Projection } from '@model-gateway/json-bytes';
import { modelNameEdits, modelNames } from '@model-gateway/protocols';
import { Pieces } from '@model-gateway/stream-framing';

/** A longer line holds a file: it is not kept to be looked at. */
const maxLineBytes = 1024 * 1024;
const dataField = Buffer.from('data:');
/** Every key that names a model begins so. */
const keyStart = Buffer.from('"model');
const named = new Projection(modelNames.map((path) => ({ path, depth: 'value' })));

/** What is not JSON, or names no model, stays as it is. */
export function renameWhole(bytes: Buffer, model: string): Uint8Array {
  if (!bytes.includes(keyStart)) return bytes;
  try {
    const { value, places } = named.read(bytes);
    const edits = modelNameEdits(value, model);
    return edits.length === 0 ? bytes : applyEdits(bytes, edits, places);
  } catch {
    // Nobody promised JSON, nor a key that is there once.
    return bytes;
  }
}

/** Server-sent events by their lines: comments, other fields and line ends stay where they are. */
export class RenamedLines {
  readonly #model: string;
  /** The line that has not ended yet. */
  readonly #open = new Pieces();
  #size = 0;
  /** The open line is too long, and its beginning was passed on. */
  #skips = false;

  constructor(model: string) {
    this.#model = model;
  }

  /** What can be passed on now. */
  push(chunk: Uint8Array): Uint8Array {
    const bytes = asBuffer(chunk);
    const end = lastLineEnd(bytes);
    if (end === 0) return this.#keep(bytes);
    const skipped = this.#skips ? lineEnd(bytes, 0) : 0;
    this.#open.add(bytes.subarray(skipped, end));
    const lines = this.#open.take();
    this.#size = 0;
    this.#skips = false;
    return joined([bytes.subarray(0, skipped), this.#rename(lines), this.#keep(bytes.subarray(end))]);
  }

  /** The rest, where the stream ended within a line. */
  finish(): Uint8Array {
    return this.#rename(this.#open.take());
  }

  #keep(bytes: Buffer): Buffer {
    if (this.#skips) return bytes;
    this.#open.add(bytes);
    this.#size += bytes.length;
    if (this.#size <= maxLineBytes) return Buffer.alloc(0);
    this.#skips = true;
    return this.#open.take();
  }

  #rename(lines: Buffer): Buffer {
    if (!lines.includes(keyStart)) return lines;
    const out: Uint8Array[] = [];
    for (let at = 0; at < lines.length; ) {
      const end = lineEnd(lines, at);
      const line = lines.subarray(at, end);
      if (line.subarray(0, dataField.length).equals(dataField)) out.push(dataField, renameWhole(line.subarray(dataField.length), this.#model));
      else out.push(line);
      at = end;
    }
    return Buffer.concat(out);
  }
}

const joined = (pieces: readonly Buffer[]): Buffer => {
  const [first, ...more] = pieces.filter(({ length }) => length > 0);
  return first && more.length === 0 ? first : Buffer.concat(first ? [first, ...more] : []);
};

const isLineEnd = (byte: number | undefined): boolean => byte === 10 || byte === 13;

/** Offset after the line that begins at `from`. */
function lineEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && !isLineEnd(bytes[at])) at++;
  return Math.min(at + 1, bytes.length);
}

/** Offset after the last line that ends here; 0 where none does. */
function lastLineEnd(bytes: Buffer): number {
  let at = bytes.length;
  while (at > 0 && !isLineEnd(bytes[at - 1])) at--;
  return at;
}
