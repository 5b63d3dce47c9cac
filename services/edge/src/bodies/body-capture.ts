/** The bodies of one request while it is under way, for a key group that keeps them. */
import { bodyLookAhead, type SentBody, type StoreBodies } from '@model-gateway/contracts';
import { type CompactBody, compactBody } from './compact-body.ts';
import { describeBytes, describeRequest, isText, type RequestHeaders } from './describe-body.ts';

/** What is held of all bodies together. */
export interface BodyHolder {
  /** false: there is no room. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** A request as it came. */
export interface SentRequest {
  path: string;
  bytes: Buffer;
  headers: RequestHeaders;
}

/** Captured bodies to be uploaded. Their bytes stay reserved until the uploader releases them. */
export interface CapturedBodies {
  path: string;
  maxBytes: number;
  ttlHours: number;
  request: SentBody;
  response: SentBody;
  bytes: Buffer;
}

const mask = '[redacted]';
/** What is kept of a path; storage cuts there too. */
const maxPathLength = 2_048;
/** Below this a secret would match ordinary words. */
const minSecretLength = 6;

export class BodyCapture {
  readonly #settings: StoreBodies;
  readonly #limit: number;
  readonly #holder: BodyHolder;
  readonly #secrets: readonly string[];
  #request: CompactBody;
  readonly #requestSize: number;
  readonly #path: string;
  #parts: Buffer[] = [];
  #size = 0;
  #kept = 0;
  /** There was no room for the response. */
  #given = false;
  /** Content type of a response that is not text. */
  #binary: string | null = null;

  /** `secrets`: the credentials that came with the request, which nobody else knows. */
  constructor(settings: StoreBodies, request: SentRequest, secrets: readonly string[], holder: BodyHolder) {
    this.#settings = settings;
    this.#limit = settings.max_bytes + bodyLookAhead;
    this.#holder = holder;
    this.#secrets = secrets.filter((secret) => secret.length >= minSecretLength);
    this.#request = describeRequest(request, this.#limit);
    this.#requestSize = request.bytes.length;
    this.#path = request.path;
  }

  /** The response's head is known: of sound, pictures and other bytes nothing but their type and size is kept. */
  head(headers: Readonly<Record<string, string>>): void {
    if (!isText(headers)) this.#binary = headers['content-type'] ?? '';
  }

  /** A part of the response as it goes out. The bytes are copied: they may lie in a much larger buffer. */
  add(bytes: Uint8Array): void {
    this.#size += bytes.length;
    const remaining = this.#limit - this.#kept;
    if (remaining === 0 || this.#given || this.#binary !== null) return;
    const part = Buffer.from(bytes.length > remaining ? bytes.subarray(0, remaining) : bytes);
    if (!this.#holder.take(part.length)) return this.drop();
    this.#parts.push(part);
    this.#kept += part.length;
  }

  /** The whole response at once: what long runs of base64 would take is used for what stands behind them. */
  addWhole(bytes: Uint8Array): void {
    if (this.#binary !== null) return this.add(bytes);
    const { bytes: compact, whole } = compactBody(bytes, this.#limit);
    this.add(compact);
    this.#size = bytes.length;
    if (!whole) this.#kept = this.#limit;
  }

  /** Gives everything back. */
  drop(): void {
    if (this.#given) return;
    this.#given = true;
    this.#holder.give(heldBy(this.#parts));
    this.#parts = [];
    this.#request = { bytes: Buffer.alloc(0), whole: true };
  }

  /** null when there is no room. Called once, when the response is complete or broken. */
  finish(): CapturedBodies | null {
    if (this.#given) return null;
    const compact = compactBody(this.#request.bytes, this.#limit);
    const request = this.#masked({ bytes: compact.bytes, whole: compact.whole && this.#request.whole });
    const answered = this.#masked(this.#response());
    this.drop();
    const bytes = Buffer.concat([request.bytes, answered.bytes]);
    if (!this.#holder.take(bytes.length)) return null;
    return {
      path: this.#secrets.reduce((path, secret) => path.replaceAll(secret, mask), this.#path).slice(0, maxPathLength),
      maxBytes: this.#settings.max_bytes,
      ttlHours: this.#settings.ttl_hours,
      request: { size: this.#requestSize, sent: request.bytes.length, whole: request.whole },
      response: { size: this.#size, sent: answered.bytes.length, whole: answered.whole },
      bytes,
    };
  }

  #response(): CompactBody {
    if (this.#binary !== null) return { bytes: describeBytes(this.#binary, this.#size), whole: true };
    return { bytes: compactBody(Buffer.concat(this.#parts), this.#limit).bytes, whole: this.#kept < this.#limit };
  }

  /** A search over bytes: hardly ever is there anything to replace. */
  #masked({ bytes, whole }: CompactBody): CompactBody {
    let out = bytes;
    for (const secret of this.#secrets) if (out.includes(secret)) out = Buffer.from(out.toString('latin1').replaceAll(latin1(secret), mask), 'latin1');
    return { bytes: out, whole };
  }
}

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
const heldBy = (parts: readonly Buffer[]): number => parts.reduce((sum, part) => sum + part.length, 0);
