import type { Bus } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { DenseSet } from '@model-gateway/collections';
import type { EdgeConfig } from '@model-gateway/config';
import type { Pressure } from '@model-gateway/service-runtime';
import type { Logger, Tracer } from '@model-gateway/telemetry';
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
import type { KeptStreams } from './resume/kept-streams.ts';

/** What decides whether a request is admitted. */
export interface AdmissionControl {
  clientAddress: ClientAddress;
  capacity: Capacity;
  rateLimits: RateLimits;
  budgets: BudgetLimiter;
  bodyBudget: BodyBudget;
  sessionModels: SessionModels;
  violations: Violations;
}

/** Where it is reported what requests came to. */
export interface Reporting {
  logger: Logger;
  meters: EdgeMeters;
  /** undefined: no request is traced. */
  tracer: Tracer | undefined;
  rows: RequestLogPublisher;
  /** Bodies on their way to be stored. */
  bodies: BodyUploader;
}

/** What is open, for the end of a drain, and whether callers should go elsewhere. */
export interface OpenConnections {
  /** Replies under way. */
  replies: DenseSet<OpenReply>;
  /** Open WebSockets. */
  sockets: DenseSet<OpenSocket>;
  /** Answered callers who write on. */
  discardLimits: DenseSet<DiscardLimits>;
  /** Set once SIGTERM came: replies say `Connection: close`. */
  draining: boolean;
  pressure: Pressure;
}

/** Dependencies shared by all requests of the edge. Built once in `index.ts`; each module takes the parts it uses. */
export interface EdgeContext {
  bus: Bus;
  catalog: CatalogWatcher;
  config: EdgeConfig;
  plans: Plans;
  mintId(prefix: string): string;
  admission: AdmissionControl;
  reporting: Reporting;
  connections: OpenConnections;
  streams: KeptStreams;
}
