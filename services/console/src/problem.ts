/** An answer that is not a success, in the console's shape: `{"error":{"code","message","details?"}}`. */
import { type ErrorCode, errorCodes } from '@model-gateway/contracts/errors';

/** A field of the input, and what is wrong with it. */
export interface Detail {
  /** Dotted path into the body, or the query parameter. */
  field: string;
  message: string;
}

export class Problem extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly details: readonly Detail[] | undefined;
  /** Seconds after which trying again can help. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message: string = errorCodes[code].message,
    details?: readonly Detail[] | { retryAfter: number },
    status: number = errorCodes[code].status,
  ) {
    super(message);
    this.name = 'Problem';
    this.code = code;
    this.status = status;
    this.details = isDetails(details) ? details : undefined;
    this.retryAfter = isDetails(details) ? undefined : details?.retryAfter;
  }
}

const isDetails = (value: readonly Detail[] | { retryAfter: number } | undefined): value is readonly Detail[] => Array.isArray(value);

/** One kind of what refers to a row. */
export interface Reference {
  /** A sentence that lists them. */
  message: string;
  details: readonly Detail[];
}

/** Throws 422 that lists what refers to a row, of every kind; nothing where nothing does. */
export function refuseReferred(references: readonly (Reference | null)[]): void {
  const found = references.filter((one) => one !== null);
  if (found.length === 0) return;
  throw new Problem(
    'in_use',
    found.map(({ message }) => message).join(' '),
    found.flatMap(({ details }) => details),
  );
}

/** 422 that names every field at fault. */
export function invalid(details: readonly Detail[]): Problem {
  const [first] = details;
  const rest = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
  return new Problem('validation_failed', first ? `${first.field}: ${first.message}${rest}` : undefined, details);
}

export const invalidField = (field: string, message: string): Problem => invalid([{ field, message }]);
