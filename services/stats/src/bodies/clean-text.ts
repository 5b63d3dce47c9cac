/** Takes credentials out of short texts that are kept: those of this gateway by what they are, others by their form. */
import type { Snapshot } from '@model-gateway/contracts';
import type { Keyring } from '@model-gateway/secrets';
import type { Logger, Redactor } from '@model-gateway/telemetry';
import { createKnownSecrets } from './known-secrets.ts';
import { redactBody } from './redact-body.ts';

/** What removing credentials from texts needs. */
export interface CleanerDeps {
  /** Absent: nothing of this gateway is known. */
  secrets: { keyring: Keyring; redactor: Redactor } | undefined;
  logger: Logger;
  snapshot: () => Snapshot | null;
}

export function createCleaner({ secrets, logger, snapshot }: CleanerDeps): (text: string) => string {
  if (!secrets) return (text) => redactBody(text, (same) => same);
  const learn = createKnownSecrets({ ...secrets, logger });
  return (text) => {
    const known = snapshot();
    if (known) learn(known);
    return redactBody(text, secrets.redactor.redactKnown);
  };
}
