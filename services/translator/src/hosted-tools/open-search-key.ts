/** Opens keys of search providers where they are used. */
import { type SearchProviderRecord, sealedAs } from '@model-gateway/contracts';
import type { Keyring } from '@model-gateway/secrets';
import type { Redactor } from '@model-gateway/telemetry';

export function createSearchKeyOpener(keyring: Keyring, redactor: Redactor): (provider: SearchProviderRecord) => string | null {
  /** By the provider's record, which stays the same object until it changes. */
  const opened = new WeakMap<SearchProviderRecord, string>();
  return (provider) => {
    if (provider.sealed_key === null) return null;
    const known = opened.get(provider);
    if (known !== undefined) return known;
    const key = keyring.open(provider.sealed_key, sealedAs.searchProviderKey(provider.id));
    redactor.add(key);
    opened.set(provider, key);
    return key;
  };
}
