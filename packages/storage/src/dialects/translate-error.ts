/** Maps driver error codes to the gateway's own. */
import { isNativeError } from 'node:util/types';
import { type ErrorCode, GatewayError, isGatewayError } from '@model-gateway/contracts/errors';

/** First pattern that matches the driver's code decides; its message says more than the one of the code. */
export type ErrorTable = readonly (readonly [pattern: RegExp, code: ErrorCode, message?: string])[];

const messages: Partial<Record<ErrorCode, string>> = {
  service_unavailable: 'The database is unavailable.',
  conflict: 'The name already exists.',
  in_use: 'Something still refers to this.',
  validation_failed: 'The database refused a value.',
};

/** Of either engine. */
export const fullDisk = 'The disk of the database is full: make room on it, and it goes on by itself.';

/** Errors of the runtime may come from another realm, where `instanceof` fails; a driver's own may not be native errors, where the other test fails. */
const isError = (error: unknown): error is Error => isNativeError(error) || error instanceof Error;

/** How one driver's errors are classified. */
export interface ErrorTranslation {
  /** The driver's code for an error; default: its `code`. */
  codeOf?(error: Error): unknown;
  /** What has no code and means that the database is unavailable. */
  isLost?(error: Error): boolean;
}

const plainCode = (error: Error): unknown => (error as { code?: unknown }).code;

export function createErrorTranslator(table: ErrorTable, { codeOf = plainCode, isLost = () => false }: ErrorTranslation = {}): (error: unknown) => unknown {
  return (error) => {
    if (isGatewayError(error) || !isError(error)) return error;
    const code = codeOf(error);
    const [, known, words] = (typeof code === 'string' && table.find(([pattern]) => pattern.test(code))) || [];
    const meaning = known ?? (isLost(error) ? 'service_unavailable' : undefined);
    if (!meaning) return error;
    const message = words ?? messages[meaning];
    return new GatewayError(meaning, { ...(message !== undefined && { message }), cause: error });
  };
}
