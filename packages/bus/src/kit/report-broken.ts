/** The last an opener hears of a stream that failed. */
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { BusLogger } from './logger.ts';

/** There is nobody to tell when that throws as well. */
export function reportBroken(handlers: { broken(error: GatewayError): void }, error: GatewayError, logger: BusLogger): void {
  try {
    handlers.broken(error);
  } catch (defect) {
    logger.error({ error: defect }, 'a stream handler threw');
  }
}
