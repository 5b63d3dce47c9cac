/** What runs of requests use. Composed once in `index.ts`. */
import type { Bus } from '@model-gateway/bus';
import type { DenseSet } from '@model-gateway/collections';
import type { PriceOf } from '@model-gateway/model-catalog';
import type { Pressure } from '@model-gateway/service-runtime';
import type { Logger, Redactor, Tracer } from '@model-gateway/telemetry';
import type { AttemptDeps } from './attempt/deps.ts';
import type { CountDeps } from './count-tokens/deps.ts';
import type { OpenReply } from './open-reply.ts';
import type { TurnDeps } from './turns/deps.ts';

/** What runs of requests use; each part of the translator is given its own group. */
export interface RunDeps {
  readonly bus: Bus;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** undefined: no request is traced. */
  readonly tracer: Tracer | undefined;
  /** Runs under way, for the end of a drain. */
  readonly running: DenseSet<OpenReply>;
  /** How near the process is to its end. */
  readonly pressure: Pressure;
  readonly attempts: AttemptDeps;
  readonly counting: CountDeps;
  readonly turns: TurnDeps;
  /** Prices of models, for rows whose cost is not that of the model alone. */
  readonly priceOf: PriceOf;
}
