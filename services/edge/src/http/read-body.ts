/** Collects a request body within its caps, counting what all bodies together hold. */
import type { IncomingMessage } from 'node:http';
import { EventLoopBatcher } from '@model-gateway/collections';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { RouteMatch } from '@model-gateway/protocols';
import { isFormType, Pieces } from '@model-gateway/stream-framing';

/** Bodies whose last byte came in this turn. */
const arrivals = new EventLoopBatcher(setImmediate, { gathers: true });

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
  readonly #budget: BodyBudget;
  #released = false;

  constructor(bytes: Buffer, budget: BodyBudget) {
    this.bytes = bytes;
    this.#budget = budget;
  }

  /** The bytes are no longer needed. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#budget.give(this.bytes.length);
  }
}

/** How large a body may be, and what it may be by its headers; absent: JSON. */
export interface BodyRules {
  maxBytes: number;
  accepts?: RouteMatch['body'];
}

/** Refuses by header before reading a byte where it can (413, 415, 503); rejects with `client_gone` when the caller stops, and with the error of who watches the caller's pace. */
export function readBody(request: IncomingMessage, rules: BodyRules, budget: BodyBudget): Promise<HeldBody> {
  checkHeaders(request, rules);
  const { maxBytes } = rules;
  return new Promise((resolve, reject) => {
    const pieces = new Pieces();
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
      if (size + chunk.length > maxBytes) return fail(new GatewayError('payload_too_large'));
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

/** `application/json`, `text/json`, `application/vnd.api+json`. Anchored at the end alone: a caller's long value is searched once. */
const jsonType = /(?:^|[/+.-])json$/i;

function checkHeaders({ headers }: IncomingMessage, { maxBytes, accepts = 'json' }: BodyRules): void {
  if (Number(headers['content-length'] ?? 0) > maxBytes)
    throw new GatewayError('payload_too_large', { message: `The request body is larger than ${maxBytes} bytes.` });
  if (accepts === 'raw') return;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new GatewayError('unsupported_media_type', {
      message: 'A request body with a Content-Encoding is not accepted.',
      details: { error_code: 'request_body_encoding_unsupported' },
    });
  const type = headers['content-type'];
  const isForm = type !== undefined && isFormType(type);
  if (accepts !== 'json' && isForm) return;
  const isJson = type === undefined || jsonType.test(type.split(';', 1)[0]!.trim());
  if (accepts === 'form' || !isJson) throw new GatewayError('unsupported_media_type', { message: `The content type must be ${acceptedTypes[accepts]}.` });
}

const acceptedTypes = { json: 'application/json', form: 'multipart/form-data', either: 'application/json or multipart/form-data' } as const;
