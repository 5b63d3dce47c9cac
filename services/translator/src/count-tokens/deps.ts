/** What counting tokens uses. */
import type { RerouteDeps, SendDeps } from '../attempt/deps.ts';
import type { PrepareDeps } from '../prepare/deps.ts';
import type { TokenCounter } from './counter.ts';

/** What counting tokens uses. */
export interface CountDeps {
  readonly counter: TokenCounter;
  readonly reroute: RerouteDeps;
  readonly prepare: PrepareDeps;
  readonly send: SendDeps;
}
