/** Watches the bytes written to a gamma caller, in both forms, and ends a broken stream with one more valid chunk. */
import type { StreamForm, Usage } from '@model-gateway/contracts';
import type { GatewayWarning, StreamTerminator, TerminatorContext } from '../../contract/index.ts';
import { asArray, asObject, asString, own } from '../../kit/read.ts';
import { writeUsage } from '../shared/usage.ts';
import { arraySeparator, frameEnd, frameRecord } from './frame.ts';

/** Chunks without one of these cannot end a reply and are never parsed. Inside strings the quotes are escaped, so text cannot fake them. */
const needles = ['"finishReason"', '"blockReason"'];

/** Cannot be faked by text either. */
const callKey = '"functionCall"';

/** A chunk this large holds an image; its last part alone is kept, where the finish stands. */
const largestChunk = 1 << 20;
const keptTail = 1 << 16;

const closingBracket = 0x5d;

export class GammaTerminator implements StreamTerminator {
  readonly #context: TerminatorContext;
  readonly #form: StreamForm;
  /** What came after the last boundary: a piece of a chunk, or (in an array, where an element is bounded by the next one) the last chunk. */
  #pending: Buffer = Buffer.alloc(0);
  #written = false;
  #closed = false;
  #finish: string | null = null;
  #called = false;
  /** The id of the reply's own chunks (the upstream's, in a verbatim reply); undefined until the first chunk was seen. */
  #responseId: string | undefined;

  constructor(context: TerminatorContext) {
    this.#context = context;
    this.#form = context.streamForm;
  }

  observe(bytes: Uint8Array): void {
    if (this.#form === 'whole' || bytes.length === 0) return;
    const last = lastVisible(bytes);
    if (last !== undefined) {
      this.#written = true;
      // Every element ends with a brace, so a bracket at the end of whole elements closes the array.
      this.#closed = this.#form === 'json-array' && last === closingBracket;
    }
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const data = this.#pending.length === 0 ? piece : Buffer.concat([this.#pending, piece]);
    const end = this.#boundary(data);
    if (end > 0) {
      this.#responseId ??= readResponseId(data.subarray(0, end)) ?? this.#context.requestId;
      this.#scan(data.subarray(0, end));
    }
    const rest = data.subarray(end);
    // A copy: the caller may use its bytes again.
    this.#pending = Buffer.from(rest.length > largestChunk ? rest.subarray(rest.length - keptTail) : rest);
  }

  /** SSE has no end mark: a finished candidate, or a blocked prompt, is the end. */
  get ended(): boolean {
    if (this.#form === 'whole') return true;
    if (this.#form === 'json-array') return this.#closed;
    return this.#finish !== null;
  }

  /** Calls come whole, in one part. A caller that reads an array has no means to repeat it, so that form is always finished. */
  get repeatable(): boolean {
    return this.#form === 'sse' && !this.ended && !this.#called && !this.#pending.includes(callKey);
  }

  close(warning: Omit<GatewayWarning, 'last_finish_reason'>, usage?: Usage): string {
    if (this.ended) return '';
    this.#responseId ??= readResponseId(this.#pending) ?? this.#context.requestId;
    this.#scan(this.#pending);
    if (this.#finish !== null) return frameEnd(this.#form);
    const { reason, detail, timestamp } = warning;
    const chunk = {
      candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }],
      ...(usage && { usageMetadata: writeUsage(usage) }),
      modelVersion: this.#context.model,
      responseId: this.#responseId,
      // A finish word would have been the end, so there is never one to report.
      _gateway_warning: { reason, detail, last_finish_reason: null, timestamp } satisfies GatewayWarning,
    };
    return frameRecord(JSON.stringify(chunk), this.#written ? 1 : 0, this.#form) + frameEnd(this.#form);
  }

  /** Where the last whole chunk of `data` ends; 0 when none does. */
  #boundary(data: Buffer): number {
    if (this.#form === 'json-array') return Math.max(0, data.lastIndexOf(arraySeparator));
    const [plain, carriage] = [data.lastIndexOf('\n\n'), data.lastIndexOf('\n\r\n')];
    return Math.max(plain < 0 ? 0 : plain + 2, carriage < 0 ? 0 : carriage + 3);
  }

  #scan(chunks: Buffer): void {
    this.#called ||= chunks.includes(callKey);
    if (this.#finish !== null || !needles.some((needle) => chunks.includes(needle))) return;
    const parts = this.#form === 'json-array' ? chunks.toString('utf8').split(arraySeparator) : chunks.toString('utf8').split(/\r?\n\r?\n/);
    for (const part of parts) {
      if (needles.some((needle) => part.includes(needle))) this.#finish ??= this.#form === 'json-array' ? readElement(part) : readEvent(part);
    }
  }
}

/** From a chunk's bytes, without parsing: inside strings the quotes are escaped, so text cannot fake it. */
const readResponseId = (bytes: Buffer): string | undefined => /"responseId"\s*:\s*"([^"\\]{1,200})"/.exec(bytes.toString('utf8'))?.[1];

function lastVisible(bytes: Uint8Array): number | undefined {
  for (let at = bytes.length - 1; at >= 0; at--) if (bytes[at]! > 0x20) return bytes[at];
  return undefined;
}

/** The data of an event; the kept tail of an oversized one has no line that says so. */
function readEvent(text: string): string | null {
  const data = text.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  return readFinish(data.length === 0 ? text : data.map((line) => line.slice(5)).join('\n'));
}

/** An element may still wear the array's opening bracket, the comma before it, or the closing bracket. */
function readElement(text: string): string | null {
  // The closing bracket is looked for by hand: a pattern that ends at the end is tried anew at every blank of a long run.
  const worn = text.trim().replace(/^[[,\s]+/, '');
  return readFinish(worn.endsWith(']') ? worn.slice(0, -1) : worn);
}

/** The finish word of a chunk, or why its prompt was blocked; null when it ends nothing. */
function readFinish(text: string): string | null {
  let chunk: unknown;
  try {
    chunk = JSON.parse(text);
  } catch {
    // Only the tail of an oversized chunk was kept: the word itself has to do.
    return /"finishReason"\s*:\s*"([A-Z_]+)"/.exec(text)?.[1] ?? null;
  }
  const candidate = (asArray(own(chunk, 'candidates')) ?? []).find((one) => asObject(one) && (own(one, 'index') ?? 0) === 0);
  const word = asString(own(candidate, 'finishReason')) ?? asString(own(own(chunk, 'promptFeedback'), 'blockReason'));
  return word === undefined || word === '' || word.endsWith('_UNSPECIFIED') ? null : word;
}
