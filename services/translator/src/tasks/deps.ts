/** What tasks use. */
import type { Bus } from '@model-gateway/bus';
import type { TaskFacts } from '@model-gateway/contracts';
import type { Logger } from '@model-gateway/telemetry';

/** What beginning a task uses. */
export interface BeginTaskDeps {
  readonly bus: Bus;
  readonly logger: Logger;
  mintId(prefix: string): string;
  /** Asks its upstream to stop a task. */
  cancel(task: TaskFacts): Promise<unknown>;
}
