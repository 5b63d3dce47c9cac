/** Opens upstream keys where they are used. Opened values stay in memory only as long as the record they came from is in use. */

import { type SealedUpstreamKey, sealedAs, type UpstreamRecord } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Keyring } from '@model-gateway/secrets';
import type { Redactor } from '@model-gateway/telemetry';
import { type AccessTokens, NoAccessError } from './access-tokens.ts';

export function createKeyOpener(
  keyring: Keyring,
  redactor: Redactor,
  tokens?: Pick<AccessTokens, 'known'>,
): (upstream: UpstreamRecord, key: SealedUpstreamKey) => string {
  /** By the record of the key, which stays the same object until it changes. */
  const opened = new WeakMap<SealedUpstreamKey, string>();
  return (upstream, key) => {
    if (upstream.sso_credential) {
      const access = tokens?.known(upstream.sso_credential);
      if (!access) throw new NoAccessError('unavailable');
      return access.token;
    }
    const known = opened.get(key);
    if (known !== undefined) return known;
    let value: string;
    try {
      value = keyring.open(key.sealed, sealedAs.upstreamKey(upstream.id, key.id));
    } catch (cause) {
      throw new GatewayError('upstream_credential', { cause });
    }
    opened.set(key, value);
    // A pair or a triple is secret in each of its parts: signatures and refusals name them one by one.
    for (const part of new Set([value, ...value.split(':')])) redactor.add(part);
    return value;
  };
}
