/** What realtime sessions use of the translator. */
import type { Bus } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { DenseSet } from '@model-gateway/collections';
import type { UpstreamRecord } from '@model-gateway/contracts';
import type { ShortLivedKeys } from '@model-gateway/secrets';
import type { Logger, Tracer } from '@model-gateway/telemetry';
import type { Egress, Outbound } from '@model-gateway/upstream-client';
import type { BalanceDeps, SecretDeps } from '../attempt/deps.ts';
import type { OpenReply } from '../open-reply.ts';
import type { TurnDeps } from '../turns/deps.ts';

/** What realtime sessions use of the translator. */
export interface RealtimeDeps {
  readonly bus: Bus;
  readonly logger: Logger;
  /** undefined: this process traces nothing. */
  readonly tracer: Tracer | undefined;
  readonly catalog: CatalogWatcher;
  readonly balance: BalanceDeps;
  readonly outbound: Outbound;
  readonly secrets: SecretDeps;
  readonly shortLivedKeys: ShortLivedKeys;
  /** Where it is noted which account can resume a session. */
  readonly turns: Pick<TurnDeps, 'keptBy' | 'holder'>;
  egressOf(upstream: UpstreamRecord): Egress | undefined;
  /** Runs under way, for the end of a drain. */
  readonly running: DenseSet<OpenReply>;
}
