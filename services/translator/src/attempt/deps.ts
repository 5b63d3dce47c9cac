/** What attempts use. */
import type { Bus } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { SealedUpstreamKey, UpstreamRecord } from '@model-gateway/contracts';
import type { Keyring } from '@model-gateway/secrets';
import type { Logger, Redactor } from '@model-gateway/telemetry';
import type { Outbound } from '@model-gateway/upstream-client';
import type { AccessTokens } from '../access-tokens.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { PrepareDeps } from '../prepare/deps.ts';
import type { ReplyDeps } from '../reply-transform/deps.ts';
import type { ScriptDeps } from '../scripts/deps.ts';
import type { BeginTaskDeps } from '../tasks/deps.ts';
import type { Drains } from './drains.ts';
import type { OutcomePublisher } from './outcomes.ts';
import type { RetryBudget } from './retry-budget.ts';

/** What attempts use. */
export interface AttemptDeps {
  readonly balance: BalanceDeps;
  readonly reroute: RerouteDeps;
  readonly prepare: PrepareDeps;
  readonly send: SendDeps;
}

/** What decides whether an attempt may be made, and learns how it went. */
export interface BalanceDeps {
  /** Limits before upstreams and models. */
  readonly limiter: Limiter;
  /** Bounds how many requests go on to another node. */
  readonly retries: RetryBudget;
  /** Publishes the results of attempts to the routers. */
  readonly outcomes: OutcomePublisher;
}

/** What planning a request anew uses. */
export interface RerouteDeps {
  readonly bus: Bus;
  readonly catalog: CatalogWatcher;
  /** A request that is rerouted more often than this is in a loop. */
  readonly maxHops: number;
}

/** What sending one request and reading its reply uses. */
export interface SendDeps {
  readonly outbound: Outbound;
  readonly secrets: SecretDeps;
  readonly reply: ReplyDeps;
  readonly scripts: ScriptDeps;
  readonly tasks: BeginTaskDeps;
  readonly logger: Logger;
  /** Caps of reading on after the caller left, where an upstream asks for `drain`. */
  readonly drains: Drains;
}

/** What opens secrets, and keeps them out of texts. */
export interface SecretDeps {
  readonly keyring: Keyring;
  readonly redactor: Redactor;
  /** Tokens of credentials that came by login. */
  readonly tokens: AccessTokens;
  /** Opens an upstream's key where it is used; of a login, the token, which has to be known. */
  openKey(upstream: UpstreamRecord, key: SealedUpstreamKey): string;
}
