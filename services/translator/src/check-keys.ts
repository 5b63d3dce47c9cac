/** Says at once when stored keys of upstreams do not open, as after a start with another master key: requests would show it one by one, each as a refusal. */
import { type SealedUpstreamKey, type Snapshot, sealedAs } from '@model-gateway/contracts';
import type { Keyring } from '@model-gateway/secrets';
import type { Logger } from '@model-gateway/telemetry';

/** Names of upstreams in one line of the log. */
const maxNamed = 20;

/** Looks at each stored key once, and keeps none of the values. */
export function createKeyCheck(keyring: Pick<Keyring, 'open'>, logger: Pick<Logger, 'error'>): (snapshot: Pick<Snapshot, 'upstreams'>) => void {
  /** Records stay the same objects until they change. */
  const seen = new WeakSet<SealedUpstreamKey>();
  return ({ upstreams }) => {
    const names = new Set<string>();
    let first: unknown;
    for (const { id, name, api_keys: keys } of upstreams.values())
      for (const key of keys) {
        if (seen.has(key)) continue;
        seen.add(key);
        try {
          keyring.open(key.sealed, sealedAs.upstreamKey(id, key.id));
        } catch (error) {
          first ??= error;
          names.add(name);
        }
      }
    if (names.size === 0) return;
    const facts = { error: first, upstreams: [...names].slice(0, maxNamed), count: names.size };
    logger.error(facts, 'stored keys of upstreams cannot be opened, their calls fail: give GATEWAY_MASTER_KEY the key that sealed them, or enter them again');
  };
}
