/** What tasks use. */
import type { Bus } from '@model-gateway/bus';
import type { TaskFacts } from '@model-gateway/contracts';
import type { TaskReply } from '@model-gateway/protocols';
import type { Logger } from '@model-gateway/telemetry';

/** What an upstream answered, as it would be passed on. */
export interface UpstreamAnswer extends TaskReply {
  /** The upstream's status and JSON, with the gateway's id for the task. */
  httpStatus: number;
  text: string;
}

/** What beginning a task uses. */
export interface BeginTaskDeps {
  readonly bus: Bus;
  readonly logger: Logger;
  mintId(prefix: string): string;
  /** How a task goes. Rejects with GatewayError. */
  ask(task: TaskFacts): Promise<UpstreamAnswer>;
  /** Asks its upstream to stop a task. */
  cancel(task: TaskFacts): Promise<unknown>;
}
