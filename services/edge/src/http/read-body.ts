/** Collects a request body within its caps, counting what all bodies together hold. */
import type { IncomingMessage } from 'node:http';
import { chunkGarbage, EventLoopBatcher } from '@model-gateway/collections';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { RouteMatch } from '@model-gateway/protocols';
import { isFormType, Pieces } from '@model-gateway/stream-framing';

/** Bodies whose last byte came in this turn. */
const arrivals = new EventLoopBatcher(setImmediate, { gathers: true });

/** From here on a body of a known length is written to its place as it comes: what is put together of many chunks is held twice at that moment. */
const largeBytes = 1024 * 1024;

/** Bytes of request bodies held at once by this process. */
export class BodyBudget {
  #held = 0;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  take(bytes: number): boolean {
    if (this.#held + bytes > this.#limit) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }

  get held(): number {
    return this.#held;
  }
}

/** A body that was read, and what it takes of the budget. */
export class HeldBody {
  readonly bytes: Buffer;
  readonly #size: number;
  readonly #budget: BodyBudget;
  #released = false;

  constructor(bytes: Buffer, budget: BodyBudget) {
    this.bytes = bytes;
    this.#size = bytes.length;
    this.#budget = budget;
  }

  /** The bytes are no longer needed. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#budget.give(this.#size);
  }

  /**
   * The same, and nobody reads the bytes any more: memory of a large body goes back at once. The collector may take seconds to find it, which an idle
   * process with many of them does not even begin to look for.
   */
  free(): void {
    this.release();
    const { buffer } = this.bytes;
    if (this.#size >= largeBytes && buffer.byteLength === this.#size && buffer instanceof ArrayBuffer) buffer.transfer(0);
  }
}

/** How large a body may be, and what it may be by its headers; absent: JSON. `any`: of any type, judged by who reads it; `raw`: of any encoding, too. */
export interface BodyRules {
  maxBytes: number;
  accepts?: RouteMatch['body'] | 'any';
}

/** Refuses by header before reading a byte where it can (413, 415, 503); rejects with `client_gone` when the caller stops, and with the error of who watches the caller's pace. */
export function readBody(request: IncomingMessage, rules: BodyRules, budget: BodyBudget): Promise<HeldBody> {
  checkHeaders(request, rules);
  // It left while something else was asked about it: nothing would say so again.
  if (request.destroyed) return Promise.reject(new GatewayError('client_gone'));
  const { maxBytes } = rules;
  return new Promise((resolve, reject) => {
    const pieces = new Collector(Number(request.headers['content-length'] ?? 0));
    let size = 0;
    let over = false;
    const fail = (error: GatewayError): void => {
      // Once: a late end must not give back what `release` gives back.
      if (over) return;
      over = true;
      // The caller may stay connected long after its refusal: released bytes must not stay referenced meanwhile.
      pieces.drop();
      budget.give(size);
      request.removeAllListeners('data');
      request.pause();
      reject(error);
    };
    request.on('data', (chunk: Buffer) => {
      if (size + chunk.length > maxBytes) return fail(tooLarge(maxBytes));
      if (!budget.take(chunk.length)) return fail(new GatewayError('overloaded', { message: 'The gateway holds too many request bodies.' }));
      size += chunk.length;
      pieces.add(chunk);
    });
    request.on('end', () => {
      if (over) return;
      over = true;
      // The listeners live as long as the request does: the pieces must not live with them.
      const held = new HeldBody(pieces.take(), budget);
      arrivals.add(() => resolve(held));
    });
    const gone = (error?: Error): void => {
      if (!over) fail(error instanceof GatewayError ? error : new GatewayError('client_gone'));
    };
    request.on('error', gone);
    request.on('close', gone);
  });
}

/** The place is taken once this share of the body is here: a length that is only announced reserves nothing. */
const earnestShare = 32;

/** The chunks of a body, and the whole of them. */
class Collector {
  readonly #pieces = new Pieces();
  readonly #announced: number;
  #place: Buffer | null = null;
  #size = 0;

  constructor(announced: number) {
    this.#announced = announced;
  }

  /** No more comes than was announced: the server cuts a body there. */
  add(chunk: Buffer): void {
    if (this.#place) {
      this.#place.set(chunk, this.#size);
      chunkGarbage.add(chunk.length);
    } else this.#pieces.add(chunk);
    this.#size += chunk.length;
    if (!this.#place && this.#announced > largeBytes && this.#size * earnestShare >= this.#announced) this.#move();
  }

  take(): Buffer {
    const bytes = this.#place?.subarray(0, this.#size) ?? this.#pieces.take();
    this.drop();
    return bytes;
  }

  drop(): void {
    this.#place = null;
    this.#pieces.drop();
  }

  /** Pages of memory that nothing was written to take none. */
  #move(): void {
    const place = Buffer.allocUnsafeSlow(this.#announced);
    place.set(this.#pieces.take());
    this.#place = place;
  }
}

const tooLarge = (maxBytes: number): GatewayError => new GatewayError('payload_too_large', { message: `The request body is larger than ${maxBytes} bytes.` });

/** `application/json`, `text/json`, `application/vnd.api+json`. Anchored at the end alone: a caller's long value is searched once. */
const jsonType = /(?:^|[/+.-])json$/i;

function checkHeaders({ headers }: IncomingMessage, { maxBytes, accepts = 'json' }: BodyRules): void {
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (accepts === 'raw') return;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new GatewayError('unsupported_media_type', {
      message: 'A request body with a Content-Encoding is not accepted.',
      details: { error_code: 'request_body_encoding_unsupported' },
    });
  if (accepts === 'any') return;
  const type = headers['content-type'];
  const isForm = type !== undefined && isFormType(type);
  if (accepts !== 'json' && isForm) return;
  const isJson = type === undefined || jsonType.test(type.split(';', 1)[0]!.trim());
  if (accepts === 'form' || !isJson) throw new GatewayError('unsupported_media_type', { message: `The content type must be ${acceptedTypes[accepts]}.` });
}

const acceptedTypes = { json: 'application/json', form: 'multipart/form-data', either: 'application/json or multipart/form-data' } as const;
