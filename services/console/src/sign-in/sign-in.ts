/** Everything that signing in needs, put together once. */
import type { Bus } from '@model-gateway/bus';
import type { ConsoleConfig } from '@model-gateway/config';
import type { Attempts } from '@model-gateway/distributed-state';
import type { ConsoleStore } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import type { Audit } from '../audit/audit.ts';
import { type AttemptGuard, createAttemptGuard } from './attempt-guard.ts';
import { createPasswords, type Passwords } from './passwords.ts';
import { createSessionKeeper, type SessionKeeper } from './session-keeper.ts';

export interface SignIn {
  store: ConsoleStore;
  passwords: Passwords;
  sessions: SessionKeeper;
  guard: AttemptGuard;
  audit: Audit;
  now: () => number;
}

/** What sign-in is built from. */
export interface SignInDeps {
  bus: Bus;
  store: ConsoleStore;
  attempts: Attempts;
  audit: Audit;
  config: ConsoleConfig;
  logger: Logger;
  now: () => number;
  /** Called once for each address that is banned. */
  onBan?: (ipAddress: string) => void;
  sleep?: ((ms: number) => Promise<void>) | undefined;
}

export function createSignIn({ bus, store, attempts, audit, config, logger, now, onBan, sleep }: SignInDeps): SignIn {
  const { maxFailures, banMs, sessionMaxMs } = config;
  return {
    store,
    passwords: createPasswords(),
    sessions: createSessionKeeper({ store, bus, logger, now, sessionMaxMs }),
    guard: createAttemptGuard({ attempts, maxFailures, banMs, ...(onBan && { onBan }), ...(sleep && { sleep }) }),
    audit,
    now,
  };
}
