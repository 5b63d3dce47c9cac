/** What stored turns use. */
import type { Bus } from '@model-gateway/bus';
import type { StateHolder } from '@model-gateway/protocols';
import type { Keyring } from '@model-gateway/secrets';
import type { Logger } from '@model-gateway/telemetry';
import type { TaskLooks } from '../tasks/task-looks.ts';
import type { RunningTurns } from './running-turns.ts';
import type { KeeperDeps } from './upstream-keeper.ts';

/** What stored turns use. */
export interface TurnDeps {
  readonly bus: Bus;
  readonly logger: Logger;
  /** Seals endings that wait in the outbox. */
  readonly keyring: Keyring;
  mintId(prefix: string): string;
  /** Under this name the process reports that it works on turns. */
  readonly holder: string;
  readonly running: RunningTurns;
  /** Who keeps callers' turns: the gateway, or upstreams that can, of whose responses the owners are noted. undefined: nobody. */
  readonly keptBy: StateHolder | undefined;
  /** A longer history is refused. */
  readonly maxHistoryBytes: number;
  /** What upstreams are asked with about the responses that they keep. */
  readonly keeper: KeeperDeps;
  /** How callers learn of their tasks. */
  readonly looks: TaskLooks;
}
