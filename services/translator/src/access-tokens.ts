/**
 * Access tokens of credentials that came by login. The console renews them; here they are kept for a moment, so that a request costs no question, and so
 * that a credential that an admin takes away is not used for long. While the console is away, a token is used until its end.
 */
import type { Bus } from '@model-gateway/bus';
import { type SsoAccess, type SsoDoubt, type SsoRefusal, type SsoTokenRequest, sealedAs } from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import type { Keyring } from '@model-gateway/secrets';
import type { Redactor } from '@model-gateway/telemetry';
import { LRUCache } from 'lru-cache';

/** Why a credential gives no token; the caller learns no more than that the gateway was refused. */
export class NoAccessError extends GatewayError {
  readonly refusal: SsoRefusal;
  /** The console said nothing: it is away, or its answer does not open. */
  readonly away: boolean;

  constructor(refusal: SsoRefusal, cause?: unknown) {
    super('upstream_credential', { cause: cause ?? new Error(`the credential gives no token: ${refusal}`) });
    this.refusal = refusal;
    this.away = cause !== undefined;
  }
}

export interface AccessTokens {
  /** undefined: it is not known yet. */
  known(credential: string): SsoAccess | undefined;
  /** A promise only where the console has to be asked. Throws NoAccessError. */
  get(credential: string, rejected?: Rejected): SsoAccess | Promise<SsoAccess>;
  /** The upstream took this token for a call. */
  accepted(credential: string, tokenId: string): void;
}

/** A token that the upstream refused. */
export interface Rejected {
  readonly id: string;
  /** Whose call it was, where the refusal may be about what was asked for. */
  readonly caller?: string | undefined;
}

/** A token is asked for anew after so long. */
const keptMs = 20_000;
/** Not used any more so long before its end; the console gives out none that ends sooner, unless its life is that short. */
const endMs = 5_000;
/** A refresh at a slow vendor fits in. */
const askMs = 28_000;
/** With a token that is still good, a console that does not answer is waited for no longer than this. */
const answerMs = 1_000;
/** The console is away: the token at hand is used so long before it is asked for again. */
const awayMs = 5_000;
/** A refusal is remembered so long: requests that come in between do not each ask. */
const refusedMs = 2_000;
const maxCredentials = 10_000;

interface Kept {
  access: SsoAccess;
  until: number;
}

export interface AccessTokensDeps {
  bus: Pick<Bus, 'ask'>;
  keyring: Keyring;
  redactor: Redactor;
  /** A clock that only goes forward, in milliseconds. */
  steady?: () => number;
}

export function createAccessTokens({ bus, keyring, redactor, steady = () => performance.now() }: AccessTokensDeps): AccessTokens {
  const kept = new LRUCache<string, Kept>({ max: maxCredentials });
  const refused = new LRUCache<string, { refusal: SsoRefusal; until: number }>({ max: maxCredentials });
  const asking = new Map<string, Promise<SsoAccess>>();
  /** By credential: id of the newest token that an upstream took. */
  const accepted = new LRUCache<string, string>({ max: maxCredentials });

  const mask = createMask(redactor);

  const known = (credential: string): SsoAccess | undefined => {
    const found = kept.get(credential);
    return found && steady() <= found.until ? alive(found) : undefined;
  };
  /** The token at hand, where the console does not say anything of it. What an admin takes away leaves routing by the configuration, too. */
  const whileAway = (credential: string): SsoAccess | undefined => {
    const found = kept.get(credential);
    const access = found && alive(found);
    if (access) kept.set(credential, { access, until: steady() + awayMs });
    return access;
  };
  const requestOf = (credential: string, rejected: Rejected | undefined): SsoTokenRequest => {
    if (!rejected) return { credential };
    const { id, caller } = rejected;
    const doubt: SsoDoubt | undefined = caller === undefined ? undefined : { caller, accepted: accepted.get(credential) === id };
    return { credential, rejected: id, ...(doubt && { doubt }) };
  };
  const ask = async (credential: string, rejected: Rejected | undefined): Promise<SsoAccess> => {
    const access = await askConsole({ bus, keyring }, requestOf(credential, rejected)).catch((error: unknown) => {
      const isAway = error instanceof NoAccessError && error.away;
      const stays = isAway && rejected === undefined ? whileAway(credential) : undefined;
      if (stays) return stays;
      kept.delete(credential);
      if (error instanceof NoAccessError) refused.set(credential, { refusal: error.refusal, until: steady() + refusedMs });
      throw error;
    });
    if (kept.peek(credential)?.access === access) return access;
    mask(credential, access.token);
    refused.delete(credential);
    kept.set(credential, { access, until: steady() + keptMs });
    return access;
  };
  return {
    known,
    get(credential, rejected) {
      const usable = rejected === undefined ? known(credential) : undefined;
      if (usable) return usable;
      const recent = refused.get(credential);
      if (recent && steady() < recent.until) throw new NoAccessError(recent.refusal);
      const id = [credential, rejected?.id ?? '', rejected?.caller ?? ''].join('\u0000');
      const asked = asking.get(id) ?? ask(credential, rejected).finally(() => asking.delete(id));
      asking.set(id, asked);
      return rejected === undefined && kept.has(credential) ? patiently(asked, () => whileAway(credential)) : asked;
    },
    accepted(credential, tokenId) {
      accepted.set(credential, tokenId);
    },
  };
}

/** Tokens that logs never show: the one of each credential and the one before it, which an answer that is still to come may repeat. */
function createMask(redactor: Redactor): (credential: string, token: string) => void {
  const unmask = (generations: string[][]): void => {
    for (const part of generations.flat()) redactor.remove(part);
  };
  const masked = new LRUCache<string, string[][]>({ max: maxCredentials, noDisposeOnSet: true, dispose: unmask });
  return (credential, token) => {
    const generations = masked.get(credential) ?? [];
    if (generations.at(-1)?.[0] === token) return;
    // Temporary keys are several parts in one text.
    const parts = [...new Set([token, ...token.split(':')])];
    for (const part of parts) redactor.add(part);
    generations.push(parts);
    for (const part of generations.length > 2 ? generations.shift()! : []) redactor.remove(part);
    masked.set(credential, generations);
  };
}

const alive = ({ access }: Kept): SsoAccess | undefined => (access.expires_at === null || Date.now() <= access.expires_at - endMs ? access : undefined);

/** What `asked` gives, or, where that takes long, what there is instead; nothing instead: `asked` after all. */
async function patiently(asked: Promise<SsoAccess>, instead: () => SsoAccess | undefined): Promise<SsoAccess> {
  let late: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    late = setTimeout(() => resolve(undefined), answerMs);
  });
  // Callers that still wait for it get its error.
  asked.catch(() => undefined);
  try {
    return (await Promise.race([asked, over])) ?? instead() ?? (await asked);
  } finally {
    clearTimeout(late);
  }
}

async function askConsole({ bus, keyring }: { bus: Pick<Bus, 'ask'>; keyring: Keyring }, request: SsoTokenRequest): Promise<SsoAccess> {
  try {
    const { sealed, refused } = await bus.ask('sso.token', request, { deadlineMs: askMs });
    if (sealed === undefined) throw new NoAccessError(refused ?? 'unavailable');
    return JSON.parse(keyring.open(sealed, sealedAs.ssoAccess(request.credential))) as SsoAccess;
  } catch (error) {
    if (error instanceof NoAccessError) throw error;
    // The console is away, or of a version without logins.
    throw new NoAccessError('unavailable', isGatewayError(error) ? error : new Error('the answer does not open', { cause: error }));
  }
}
