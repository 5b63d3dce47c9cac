/** What every part of the console may use. */
import type { Bus, Gatherer } from '@model-gateway/bus';
import type { Protocol, UpstreamAdapter } from '@model-gateway/protocols';
import type { Keyring } from '@model-gateway/secrets';
import type { MintId } from '@model-gateway/service-runtime';
import type { Storage } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import type { Outbound } from '@model-gateway/upstream-client';
import type { Audit } from './audit/audit.ts';
import type { HealthBook } from './health/health-book.ts';
import type { Sso } from './sso/sso.ts';

export type UpstreamProtocol = Protocol & { upstream: UpstreamAdapter };

/** Dependencies shared by all routes of the console. */
export interface ConsoleContext {
  bus: Bus;
  /** Asks all live processes of a kind. */
  gatherer: Gatherer;
  storage: Storage;
  keyring: Keyring;
  outbound: Outbound;
  logger: Logger;
  /** What upstreams may speak: the registry's list. */
  protocols: readonly UpstreamProtocol[];
  mintId: MintId;
  audit: Audit;
  health: HealthBook;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Credentials by login. */
  sso: Sso;
}
