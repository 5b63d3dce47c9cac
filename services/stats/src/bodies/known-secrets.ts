/** What the configuration keeps secret, made known to the redactor when the first body is about to be stored, and as the configuration changes. */
import { type Snapshot, sealedAs, type UpstreamRecord } from '@model-gateway/contracts';
import { credentialOf, type Keyring, mayCarryCredential } from '@model-gateway/secrets';
import type { Logger, Redactor } from '@model-gateway/telemetry';

/** What teaching the redactor the secrets of the configuration needs. */
export interface KnownSecretsDeps {
  keyring: Keyring;
  redactor: Redactor;
  logger: Logger;
}

/** Gives what is to be called before each use of the redactor: cheap while the snapshot is the same. */
export function createKnownSecrets({ keyring, redactor, logger }: KnownSecretsDeps): (snapshot: Snapshot) => void {
  /** Records are shared by the snapshots in which they did not change. */
  const read = new WeakSet<UpstreamRecord>();
  /** Nothing is forgotten: a key that was just replaced may still be in use, and in bodies under way. */
  const known = new Set<string>();
  let seen: Snapshot | undefined;

  const open = (upstream: UpstreamRecord, sealed: string, boundTo: string): string[] => {
    try {
      return [keyring.open(sealed, boundTo)];
    } catch (error) {
      // Nobody can use it either: what no process of this gateway can read comes back in no body.
      logger.warn({ upstream: upstream.name, error }, 'a secret does not open: bodies that are stored are not searched for it');
      return [];
    }
  };
  const secretsOf = (upstream: UpstreamRecord): string[] => {
    const { id, api_keys, proxy, custom_headers, sealed_headers = {} } = upstream;
    // What stands for a login has no value of its own.
    const keys = api_keys.flatMap((key) => (key.sealed === '' ? [] : open(upstream, key.sealed, sealedAs.upstreamKey(id, key.id))));
    const userInfo = proxy?.sealed ? open(upstream, proxy.sealed, sealedAs.upstreamProxy(id)) : [];
    const likely = Object.entries(custom_headers).flatMap(([name, value]) => (mayCarryCredential(name) ? [value] : []));
    const sealed = Object.entries(sealed_headers).flatMap(([name, value]) => open(upstream, value, sealedAs.upstreamHeader(id, name.toLowerCase())));
    const headers = [...likely, ...sealed].map(credentialOf);
    // A pair or a triple is secret in each of its parts.
    return [...new Set([...[...keys, ...userInfo].flatMap((value) => [value, ...value.split(':')]), ...headers])];
  };

  return (snapshot) => {
    if (snapshot === seen) return;
    for (const upstream of snapshot.upstreams.values()) {
      if (read.has(upstream)) continue;
      read.add(upstream);
      for (const secret of secretsOf(upstream)) {
        if (known.has(secret)) continue;
        known.add(secret);
        redactor.add(secret);
      }
    }
    seen = snapshot;
  };
}
