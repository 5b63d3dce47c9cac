import type { Bus } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { DenseSet } from '@model-gateway/collections';
import type { EdgeConfig } from '@model-gateway/config';
import type { Pressure } from '@model-gateway/service-runtime';
import type { Logger, Metrics, Tracer } from '@model-gateway/telemetry';
import type { BudgetLimiter } from './admission/budgets.ts';
import type { Capacity } from './admission/capacity.ts';
import type { ClientAddress } from './admission/client-address.ts';
import type { RateLimits } from './admission/rate-limits.ts';
import type { SessionModels } from './admission/session-models.ts';
import type { Violations } from './admission/violations.ts';
import type { BodyUploader } from './bodies/body-uploader.ts';
import type { DiscardLimits } from './http/discard-request-body.ts';
import type { BodyBudget } from './http/read-body.ts';
import type { EdgeMeters } from './meters.ts';
import type { OpenReply, OpenSocket } from './open-connections.ts';
import type { Plans } from './plans.ts';
import type { RequestLogPublisher } from './request-log-publisher.ts';

/** Dependencies shared by all requests of the edge. Built once in `index.ts`. */
export interface EdgeContext {
  bus: Bus;
  catalog: CatalogWatcher;
  config: EdgeConfig;
  logger: Logger;
  metrics: Metrics;
  meters: EdgeMeters;
  /** undefined: no request is traced. */
  tracer: Tracer | undefined;
  capacity: Capacity;
  rateLimits: RateLimits;
  budgets: BudgetLimiter;
  clientAddress: ClientAddress;
  rows: RequestLogPublisher;
  /** Bodies on their way to be stored. */
  bodies: BodyUploader;
  plans: Plans;
  violations: Violations;
  bodyBudget: BodyBudget;
  pressure: Pressure;
  sessionModels: SessionModels;
  /** Replies under way, for the end of a drain. */
  replies: DenseSet<OpenReply>;
  /** Open WebSockets, for the same. */
  sockets: DenseSet<OpenSocket>;
  /** Answered callers who write on, for the same. */
  discardLimits: DenseSet<DiscardLimits>;
  mintId(prefix: string): string;
  /** Set once SIGTERM came: replies say `Connection: close`. */
  draining: boolean;
}
