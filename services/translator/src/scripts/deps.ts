/** What running scripts uses. */
import type { Bus } from '@model-gateway/bus';
import type { Logger } from '@model-gateway/telemetry';

/** What running scripts uses. */
export interface ScriptDeps {
  readonly bus: Bus;
  readonly logger: Logger;
}
