/** Short-lived keys as an edge knows them: it checks signatures with the public halves that translators tell, and can make none itself. */
import type { IncomingMessage } from 'node:http';
import type { Bus } from '@model-gateway/bus';
import type { AccessKeyRecord, Snapshot } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { headersAllowed } from '@model-gateway/routing/header-rules';
import { isAccessKeyFormat, isShortLivedKey, type ShortLivedClaims, ShortLivedKeyVerifier } from '@model-gateway/secrets';
import { credentialsOf, type Principal } from '../admission/credentials.ts';
import { ownerOf } from '../admission/owner.ts';

/** A key that was made here and has not expired. */
export interface ShortLivedKey {
  readonly claims: ShortLivedClaims;
  /** For the translator alone, and no key any more. */
  readonly carried: string;
}

/** Keys of an issuer that nobody here knows make the translators be asked no more often than this. */
const askAgainMs = 5000;

export class ShortLivedKeyChecks {
  readonly #bus: Bus;
  #verifier: Promise<ShortLivedKeyVerifier> | undefined;
  #askedAt = 0;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** null: the caller sent none. Throws for a key that is not ours, has expired, or came with another key. */
  async find(request: IncomingMessage, query: URLSearchParams): Promise<ShortLivedKey | null> {
    const values = credentialsOf(request, query);
    const [text, second] = values.filter(isShortLivedKey);
    if (text === undefined) return null;
    if (second !== undefined || values.some(isAccessKeyFormat)) throw new GatewayError('unauthorized', { message: 'Two different access keys were sent.' });
    const found = await this.#read(text);
    if (!found || found.claims.expiresAt <= Date.now()) throw new GatewayError('unauthorized');
    return found;
  }

  async #read(text: string): Promise<ShortLivedKey | null> {
    const read = (await this.#known()).read(text);
    if (read !== 'unknown-issuer') return read;
    // The master key was rotated.
    if (performance.now() - this.#askedAt < askAgainMs) return null;
    this.#verifier = undefined;
    const again = (await this.#known()).read(text);
    return again === 'unknown-issuer' ? null : again;
  }

  #known(): Promise<ShortLivedKeyVerifier> {
    if (this.#verifier) return this.#verifier;
    this.#askedAt = performance.now();
    const asking = this.#bus.ask('realtime.verification-keys', {}).then(({ keys }) => new ShortLivedKeyVerifier(keys));
    this.#verifier = asking;
    asking.catch(() => {
      if (this.#verifier === asking) this.#verifier = undefined;
    });
    return asking;
  }
}

/** Who made the key. Throws where its parent would not be let in either. */
export function principalOf({ claims }: ShortLivedKey, headers: Readonly<Record<string, string>>, snapshot: Snapshot): Principal {
  return letIn(findById(snapshot, claims.parent), headers, snapshot);
}

/** The maker of an open session's key, found by the same value: a rotated one ends what was made with it. Throws where it would not be let in any more. */
export function presentParent({ key }: Principal, headers: Readonly<Record<string, string>>, snapshot: Snapshot): Principal {
  return letIn(snapshot.accessKeys.get(key.hash), headers, snapshot);
}

function letIn(key: AccessKeyRecord | undefined, headers: Readonly<Record<string, string>>, snapshot: Snapshot): Principal {
  const group = key && snapshot.keyGroups.get(key.group);
  if (!key?.enabled || !group?.enabled || (key.expires_at !== null && key.expires_at <= Date.now())) throw new GatewayError('unauthorized');
  if (!headersAllowed(group.header_acl, headers)) throw new GatewayError('header_denied');
  return { key, group };
}

function findById({ accessKeys }: Snapshot, id: string): AccessKeyRecord | undefined {
  for (const key of accessKeys.values()) if (ownerOf({ key }) === id) return key;
  return undefined;
}
