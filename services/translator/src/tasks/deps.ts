/** What tasks use. */
import type { Bus } from '@model-gateway/bus';
import type { Logger } from '@model-gateway/telemetry';

/** What beginning a task uses. */
export interface BeginTaskDeps {
  readonly bus: Bus;
  readonly logger: Logger;
  mintId(prefix: string): string;
}
