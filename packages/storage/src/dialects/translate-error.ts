/** Driver error codes → what they mean to the rest of the gateway. */
import { type ErrorCode, GatewayError, isGatewayError } from '@model-gateway/errors';

/** First pattern that matches the driver's code decides. */
export type ErrorTable = readonly (readonly [pattern: RegExp, code: ErrorCode])[];

const messages: Partial<Record<ErrorCode, string>> = {
  service_unavailable: 'The database is unavailable.',
  conflict: 'The name already exists.',
  in_use: 'Something still refers to this.',
  validation_failed: 'The database refused a value.',
};

export function createErrorTranslator(table: ErrorTable, isLost: (error: Error) => boolean = () => false): (error: unknown) => unknown {
  return (error) => {
    if (isGatewayError(error) || !(error instanceof Error)) return error;
    const code = (error as { code?: unknown }).code;
    const known = typeof code === 'string' ? table.find(([pattern]) => pattern.test(code))?.[1] : undefined;
    const meaning = known ?? (isLost(error) ? 'service_unavailable' : undefined);
    if (!meaning) return error;
    return new GatewayError(meaning, { ...(messages[meaning] !== undefined && { message: messages[meaning] }), cause: error });
  };
}
