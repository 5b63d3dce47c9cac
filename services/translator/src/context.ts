import type { Bus } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { DenseSet } from '@model-gateway/collections';
import type { SealedUpstreamKey, UpstreamRecord } from '@model-gateway/contracts';
import type { DerivedKey, Keyring } from '@model-gateway/secrets';
import type { Pressure } from '@model-gateway/service-runtime';
import type { Logger, Redactor, Tracer } from '@model-gateway/telemetry';
import type { Egress, Outbound } from '@model-gateway/upstream-client';
import type { Drains } from './attempt/drains.ts';
import type { OutcomePublisher } from './attempt/outcomes.ts';
import type { RefusedFlags } from './attempt/refused-flags.ts';
import type { RefusedSignatures } from './attempt/refused-signatures.ts';
import type { RetryBudget } from './attempt/retry-budget.ts';
import type { TokenCounter } from './count-tokens/counter.ts';
import type { Limiter } from './limits/limiter.ts';
import type { OpenReply } from './open-reply.ts';
import type { PromptSizes } from './prompt-sizes.ts';

/** Dependencies shared by all runs of the translator. Built once in `index.ts`. */
export interface TranslatorContext {
  bus: Bus;
  catalog: CatalogWatcher;
  outbound: Outbound;
  keyring: Keyring;
  /** Opens an upstream's key where it is used. */
  openKey: (upstream: UpstreamRecord, key: SealedUpstreamKey) => string;
  /** How calls to an upstream leave; undefined is the ordinary way. */
  egressOf: (upstream: UpstreamRecord) => Egress | undefined;
  envelopeKeys: { sealing: DerivedKey; opening: readonly DerivedKey[] };
  logger: Logger;
  redactor: Redactor;
  /** undefined: no request is traced. */
  tracer: Tracer | undefined;
  /** Runs under way, for the end of a drain. */
  running: DenseSet<OpenReply>;
  /** How near the process is to its end. */
  pressure: Pressure;
  mintId(prefix: string): string;
  counter: TokenCounter;
  /** How large prompts are, before their upstreams have counted them. */
  promptSizes: PromptSizes;
  /** Publishes the results of attempts to the routers. */
  outcomes: OutcomePublisher;
  refusedFlags: RefusedFlags;
  refusedSignatures: RefusedSignatures;
  /** Limits before upstreams and models. */
  limiter: Limiter;
  /** Bounds how many requests go on to another node. */
  retries: RetryBudget;
  /** Fetches what callers name by address, private ranges refused; null where the operator did not allow it. */
  clientUrls: Outbound | null;
  /** Cap of a whole upstream reply, in bytes. */
  maxReplyBytes: number;
  /** Cap of one upstream stream event, in bytes. */
  maxEventBytes: number;
  /** A request that is rerouted more often than this is in a loop. */
  maxHops: number;
  /** Caps of reading on after the caller left, where an upstream asks for `drain`. */
  drains: Drains;
}
