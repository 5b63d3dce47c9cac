/**
 * Renews tokens. Refresh tokens rotate, and a vendor that sees an old one again ends all that came of it: so one process at a time may ask, and the new
 * pair is stored before anybody uses it. The right to ask is a row's version in SQL.
 */
import { randomUUID } from 'node:crypto';
import type { AuditAction, SsoDoubt, SsoRefusal } from '@model-gateway/contracts';
import { completeSettings } from '@model-gateway/protocols/login';
import type { Keyring } from '@model-gateway/secrets';
import type { SsoCredential, SsoCredentialPatch, SsoCredentialRepository } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import type { Gates } from './gates.ts';
import type { Grants } from './grants/grant.ts';
import { backoffMs, forcedEveryMs, isUsable, lockMs, lockSkewMs, refreshDue } from './timing.ts';
import { TokenFault, type TokenHttp } from './token-http.ts';
import { type IssuedTokens, noTokens, openTokens, type SsoTokens, sealTokens } from './tokens.ts';

/** Something happened to a credential that nobody's call did. */
export interface SsoEvent {
  credential: SsoCredential;
  action: AuditAction;
  result: 'refreshed' | 'failed' | 'rejected';
  reason?: string;
}

export interface RefresherDeps {
  repository: SsoCredentialRepository;
  keyring: Keyring;
  gates: Gates;
  grants: Grants;
  http: TokenHttp;
  logger: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  random?: () => number;
  /** What became of a credential, for the audit log and for the upstreams that use it. Not waited for. */
  report: (event: SsoEvent) => void;
}

/** A token that may be used, or why there is none. */
export type Access = { row: SsoCredential; token: string } | { refused: SsoRefusal };

/** A token that an upstream refuses. */
export interface Rejected {
  id: string;
  /** The refusal may be about what was asked for. */
  doubt?: SsoDoubt | undefined;
}

export interface Refresher {
  access(name: string, rejected?: Rejected): Promise<Access>;
  /** Renews at once, whatever the state. Throws TokenFault; 'busy' where another process is at it. */
  renew(name: string): Promise<SsoCredential>;
  /** Renews what is due. */
  scan(): Promise<void>;
}

/** A question may wait so long for a refresh, of this process or of another. */
const maxWaitMs = 25_000;
const pollMs = 100;
const scannedAtOnce = 50;
const savingTries = 5;

export function createRefresher(deps: RefresherDeps): Refresher {
  const work = new RefreshWork(deps);
  return {
    access: (name, rejected) => work.access(name, rejected),
    renew: (name) => work.renew(name),
    scan: () => work.scan(),
  };
}

class RefreshWork {
  readonly #deps: RefresherDeps;
  /** Refreshes of this process, by id. */
  readonly #running = new Map<string, Promise<void>>();
  /** Since when this process has seen another one's lock unchanged, by its own steady clock. */
  readonly #seenLocks = new Map<string, { version: number; since: number }>();
  /** By id of the credential: the renewed token that was refused in doubt, and whose call it was. */
  readonly #doubts = new Map<string, { token: string; caller: string }>();

  constructor(deps: RefresherDeps) {
    this.#deps = deps;
  }

  async access(name: string, rejected?: Rejected): Promise<Access> {
    const until = performance.now() + maxWaitMs;
    for (;;) {
      const row = await this.#deps.repository.find(name);
      const refused = this.#refusal(row);
      if (refused || !row) return { refused: refused ?? 'unknown' };
      const isRejected = rejected !== undefined && rejected.id === row.tokenId;
      if (!isRejected && isUsable(row, this.#deps.now()) && row.tokens !== null) {
        if (row.refreshAt !== null && row.refreshAt <= this.#deps.now()) void this.#refresh(row, false);
        return this.#give(row);
      }
      if (isRejected && this.#wasForced(row)) {
        if (this.#isDoubtful(row.id, rejected)) return this.#give(row);
        await this.#endIt(row, 'The upstream refuses a token that has just been renewed.', 'rejected');
        return { refused: 'needs_login' };
      }
      // A failure is waited out: calls that come in between do not each ask the vendor again.
      if (row.lastError !== null && row.refreshAt !== null && row.refreshAt > this.#deps.now())
        return rejected?.doubt && isUsable(row, this.#deps.now()) ? this.#give(row) : { refused: 'unavailable' };
      if (performance.now() > until) return { refused: 'unavailable' };
      if (this.#running.has(row.id) || this.#mayLock(row)) await this.#refresh(row, isRejected);
      else await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  async renew(name: string): Promise<SsoCredential> {
    const row = await this.#deps.repository.find(name);
    if (!row) throw new TokenFault('unknown', 'There is no credential of this name.', true);
    if (!this.#deps.gates.isOpen(row.profile)) throw new TokenFault('profile_disabled', 'This login is not enabled here.', true);
    if (!this.#mayLock(row)) throw new TokenFault('busy', 'This credential is being refreshed already.', false);
    await (this.#running.get(row.id) ?? this.#refresh(row, false, true));
    const renewed = await this.#deps.repository.find(name);
    if (!renewed) throw new TokenFault('unknown', 'There is no credential of this name.', true);
    if (renewed.lastError !== null) throw new TokenFault('refused', renewed.lastError, renewed.state !== 'ok');
    return renewed;
  }

  async scan(): Promise<void> {
    const due = await this.#deps.repository.due(scannedAtOnce);
    await Promise.all(due.filter((row) => this.#deps.gates.isOpen(row.profile) && this.#mayLock(row)).map((row) => this.#refresh(row, false)));
  }

  #refusal(row: SsoCredential | undefined): SsoRefusal | null {
    if (!row) return 'unknown';
    if (!this.#deps.gates.isOpen(row.profile)) return 'profile_disabled';
    return row.state === 'ok' ? null : row.state;
  }

  #give(row: SsoCredential): Access {
    try {
      const { access_token: token } = openTokens(this.#deps.keyring, row.id, row.tokens ?? '');
      return token === null ? { refused: 'needs_login' } : { row, token };
    } catch (error) {
      this.#deps.logger.error({ error, sso_credential: row.name }, 'the tokens of a credential do not open');
      return { refused: 'unavailable' };
    }
  }

  /** A path or a file of one caller's choosing must not cost all others the login: a refusal that may be about it counts from the second caller on. */
  #isDoubtful(id: string, { id: token, doubt }: Rejected): boolean {
    if (!doubt) return false;
    if (doubt.accepted) return true;
    const before = this.#doubts.get(id);
    if (before?.token === token) return before.caller === doubt.caller;
    this.#doubts.set(id, { token, caller: doubt.caller });
    return true;
  }

  #wasForced({ forcedAt }: SsoCredential): boolean {
    return forcedAt !== null && this.#deps.now() - forcedAt < forcedEveryMs;
  }

  /** Clocks of processes differ: another's lock is over when it is long past, or when this process has watched it for as long as one may last. */
  #mayLock({ id, version, refreshingUntil }: SsoCredential): boolean {
    if (refreshingUntil === null || this.#deps.now() > refreshingUntil + lockSkewMs) return true;
    const seen = this.#seenLocks.get(id);
    if (seen?.version === version) return performance.now() - seen.since > lockMs;
    this.#seenLocks.set(id, { version, since: performance.now() });
    return false;
  }

  /** Resolves when it is over, however it went: the row says. Never rejects because of the vendor; a database that is away does. */
  #refresh(row: SsoCredential, forced: boolean, asked = false): Promise<void> {
    const running = this.#running.get(row.id);
    if (running) return running;
    const work = this.#refreshOnce(row, forced, asked).finally(() => this.#running.delete(row.id));
    this.#running.set(row.id, work);
    // Who does not wait for it has no use for its error.
    work.catch((error: unknown) => this.#deps.logger.warn({ error, sso_credential: row.name }, 'a credential could not be refreshed'));
    return work;
  }

  async #refreshOnce(row: SsoCredential, forced: boolean, asked: boolean): Promise<void> {
    const { repository, now } = this.#deps;
    const version = await repository.update(row.id, row.version, { refreshingUntil: now() + lockMs });
    // Another process was faster.
    if (version === null) return;
    const locked = { ...row, version };
    let patch: SsoCredentialPatch;
    try {
      patch = this.#issuedPatch(locked, await this.#ask(row));
    } catch (error) {
      await this.#failed(locked, error);
      return;
    }
    if (forced) patch.forcedAt = now();
    if (!(await this.#save(locked, patch))) return;
    this.#deps.logger.info({ sso_credential: row.name, profile: row.profile, forced }, 'a credential was refreshed');
    if (!asked) this.#deps.report({ credential: { ...locked, ...patch }, action: 'rotate', result: 'refreshed' });
  }

  #ask(row: SsoCredential): Promise<IssuedTokens> {
    const { gates, grants, keyring, http, now } = this.#deps;
    const profile = gates.find(row.profile);
    const grant = profile && grants[profile.grant];
    if (!profile || !grant) throw new TokenFault('profile_disabled', 'This login is not enabled here.', true);
    const tokens = row.tokens === null ? noTokens : openTokens(keyring, row.id, row.tokens);
    return grant({ profile, settings: completeSettings(profile, { ...row.settings, ...tokens.secrets }), tokens, http, now });
  }

  #issuedPatch(row: SsoCredential, issued: IssuedTokens): SsoCredentialPatch {
    const { keyring, now, random = Math.random } = this.#deps;
    if (issued.account !== undefined && row.account !== null && issued.account !== row.account)
      throw new TokenFault('other_account', 'The vendor answered with a token of another account.', true);
    const before: SsoTokens = row.tokens === null ? noTokens : openTokens(keyring, row.id, row.tokens);
    const tokens: SsoTokens = {
      access_token: issued.access_token,
      refresh_token: issued.refresh_token ?? before.refresh_token,
      secrets: { ...before.secrets, ...issued.secrets },
    };
    return {
      tokens: sealTokens(keyring, row.id, tokens),
      tokenId: randomUUID(),
      state: 'ok',
      lastError: null,
      expiresAt: issued.expires_at,
      refreshAt: refreshDue(issued.expires_at, now(), random()),
      refreshingUntil: null,
      refreshedAt: now(),
      ...(issued.settings && { settings: { ...row.settings, ...issued.settings } }),
      ...(row.account === null && issued.account !== undefined && { account: issued.account }),
    };
  }

  /**
   * The pair before it is worth nothing any more: neither a database that is away for a moment, nor an admin who changes what is said of the credential
   * meanwhile, must cost the login.
   */
  async #save(row: SsoCredential, patch: SsoCredentialPatch): Promise<boolean> {
    const { repository, logger } = this.#deps;
    let { version } = row;
    for (let tries = 1; ; tries++) {
      try {
        if ((await repository.update(row.id, version, patch)) !== null) return true;
        const stored = await repository.find(row.name);
        const isSame = stored?.id === row.id && stored.tokens === row.tokens && stored.state === row.state;
        if (!isSame || tries >= savingTries) {
          logger.warn({ sso_credential: row.name }, 'a credential was changed while it was being refreshed: its new tokens are not kept');
          return false;
        }
        version = stored.version;
        if (patch.settings) patch.settings = { ...stored.settings, ...patch.settings };
      } catch (error) {
        if (tries >= savingTries) throw error;
        logger.error({ error, sso_credential: row.name, tries }, 'the new tokens of a credential cannot be stored: trying again');
        await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** tries));
      }
    }
  }

  async #failed(row: SsoCredential, error: unknown): Promise<void> {
    const fault = error instanceof TokenFault ? error : new TokenFault('internal', 'The refresh failed in the gateway.', false);
    if (fault !== error) this.#deps.logger.error({ error, sso_credential: row.name }, 'the refresh of a credential failed in the gateway');
    if (fault.terminal) return this.#endIt(row, fault.message, 'failed');
    this.#deps.logger.warn({ sso_credential: row.name, code: fault.code }, 'a credential could not be refreshed, and is tried again');
    await this.#deps.repository.update(row.id, row.version, { refreshingUntil: null, lastError: fault.message, refreshAt: this.#deps.now() + backoffMs });
  }

  /** Nothing renews it any more: the vendor is not asked again until somebody logs in. */
  async #endIt(row: SsoCredential, reason: string, result: SsoEvent['result']): Promise<void> {
    const patch: SsoCredentialPatch = { state: 'needs_login', lastError: reason, refreshAt: null, refreshingUntil: null };
    if ((await this.#deps.repository.update(row.id, row.version, patch)) === null) return;
    this.#deps.logger.error({ sso_credential: row.name, profile: row.profile, reason }, 'a credential needs a new login');
    this.#deps.report({ credential: { ...row, ...patch }, action: 'rotate', result, reason });
  }
}
