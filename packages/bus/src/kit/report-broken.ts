/** The last call to the opener of a failed stream. */
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { BusLogger } from './logger.ts';

/** When `broken` throws as well there is nobody left to report to but the log. */
export function reportBroken(handlers: { broken(error: GatewayError): void }, error: GatewayError, logger: BusLogger): void {
  try {
    handlers.broken(error);
  } catch (defect) {
    logger.error({ error: defect }, 'a stream handler threw');
  }
}
