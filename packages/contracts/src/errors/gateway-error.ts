import type { ErrorWire } from '../error-wire.ts';
import { type ErrorCode, errorCodes } from './codes.ts';

const brand = Symbol.for('model-gateway.error');

/** Optional details of an error; everything but `cause` may reach the caller. */
export interface GatewayErrorOptions {
  /** Safe for the caller; the table's sentence when absent. */
  message?: string;
  /** Overrides the table's status, for example when an upstream found a fault in the caller's request. */
  status?: number;
  /** Seconds. */
  retryAfter?: number;
  headers?: Record<string, string>;
  param?: string;
  /** Machine-readable details beside the message: printed by protocols whose errors have such a field (`error.details`). */
  details?: Readonly<Record<string, unknown>>;
  /** A finished body in the caller's protocol shape. */
  body?: string;
  /** The original, for logs only. */
  cause?: unknown;
}

/** The only error that may reach a caller. Anything else is a defect and is answered as `internal`. */
export class GatewayError extends Error {
  readonly [brand] = true;
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly headers: Record<string, string> | undefined;
  readonly param: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly body: string | undefined;

  constructor(code: ErrorCode, options: GatewayErrorOptions = {}) {
    super(options.message ?? errorCodes[code].message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = options.status ?? errorCodes[code].status;
    this.retryAfter = options.retryAfter;
    this.headers = options.headers;
    this.param = options.param;
    this.details = options.details;
    this.body = options.body;
  }

  get retryable(): boolean {
    return errorCodes[this.code].retryable;
  }

  /** The form that crosses the bus; `cause` stays behind. */
  toWire(): ErrorWire {
    return {
      code: this.code,
      message: this.message,
      status: this.status,
      ...(this.retryAfter !== undefined && { retryAfter: this.retryAfter }),
      ...(this.headers && { headers: this.headers }),
      ...(this.param !== undefined && { param: this.param }),
      ...(this.details && { details: this.details }),
      ...(this.body !== undefined && { body: this.body }),
    };
  }

  static fromWire(wire: ErrorWire): GatewayError {
    const code = (Object.hasOwn(errorCodes, wire.code) ? wire.code : 'internal') as ErrorCode;
    const { code: _code, ...options } = wire;
    return new GatewayError(code, options);
  }
}

export const isGatewayError = (value: unknown): value is GatewayError => typeof value === 'object' && value !== null && brand in value;

/** A GatewayError stays; anything else becomes `internal` with the original as its cause. */
export const toGatewayError = (value: unknown): GatewayError => (isGatewayError(value) ? value : new GatewayError('internal', { cause: value }));
