/** What admins do with credentials: take one in, show it, change what is said of it, delete it. */
import { randomUUID } from 'node:crypto';
import type { SsoState } from '@model-gateway/contracts';
import { checkSettings, type LoginProfile, loginProfiles } from '@model-gateway/protocols/login';
import type { SsoCredential } from '@model-gateway/storage';
import { isoTime } from '../api/answers/iso-time.ts';
import type { ConsoleContext } from '../context.ts';
import { invalid, invalidField, Problem } from '../problem.ts';
import { upstreamKeyMask } from '../resources/upstream-keys.ts';
import { refuseNewName } from '../validation/new-name.ts';
import { type PastedTokens, readPastedTokens } from './pasted-tokens.ts';
import { refreshDue } from './timing.ts';
import { TokenFault } from './token-http.ts';
import { noTokens, openTokens, type SsoTokens, sealTokens } from './tokens.ts';

/** A credential that is taken in. */
export interface NewCredential {
  name: string;
  profile: string;
  description?: string | undefined;
  settings?: Readonly<Record<string, string>> | undefined;
  account?: string | undefined;
  /** Replaces the tokens of one that exists. */
  replace?: boolean | undefined;
}

/** As it is shown; neither tokens nor anything of them. */
export function showCredential(row: SsoCredential, users: readonly string[], { sso }: Pick<ConsoleContext, 'sso'>) {
  const enabled = sso.gates.isOpen(row.profile);
  const state = stateOf(row, sso.now());
  return {
    id: row.id,
    name: row.name,
    profile: row.profile,
    enabled,
    account: row.account,
    description: row.description,
    settings: row.settings,
    tokens: row.tokens === null ? null : upstreamKeyMask,
    state,
    reason: row.lastError,
    way_out: wayOut(row, enabled),
    expires_at: timeOf(row.expiresAt),
    refreshed_at: timeOf(row.refreshedAt),
    refresh_due_at: timeOf(row.refreshAt),
    upstreams: [...users],
    etag: String(row.version),
    created_at: isoTime(row.createdAt),
    updated_at: isoTime(row.updatedAt),
  };
}

const timeOf = (ms: number | null): string | null => (ms === null || ms <= 0 ? null : isoTime(ms));

const stateOf = ({ state, refreshingUntil }: SsoCredential, now: number): SsoState =>
  state === 'ok' && refreshingUntil !== null && refreshingUntil > now ? 'refreshing' : state;

/** One sentence for who has to do something; null: nobody has to. */
function wayOut({ state, profile, lastError }: SsoCredential, enabled: boolean): string | null {
  if (!enabled) return `Set [sso.profiles.${profile}] enabled = true and restart, or give its upstreams another credential.`;
  if (state === 'needs_login')
    return isMachine(loginProfiles[profile])
      ? 'Repair the identity or its settings, then refresh it.'
      : 'Log in again under the same name; the upstreams that use it come back by themselves.';
  if (state === 'revoked') return 'Log in again under the same name, or delete it.';
  return lastError === null ? null : 'Nothing: it is tried again by itself.';
}

export const isMachine = ({ flows }: LoginProfile): boolean => flows.includes('machine');

/** Names of the upstreams that use each credential. */
export async function usersOf({ storage }: Pick<ConsoleContext, 'storage'>): Promise<Map<string, string[]>> {
  const users = new Map<string, string[]>();
  for (const { document } of await storage.catalog.upstreams.all()) {
    if (!document.sso_credential) continue;
    const list = users.get(document.sso_credential) ?? [];
    users.set(document.sso_credential, [...list, document.name]);
  }
  return users;
}

export async function findCredential(name: string, { storage }: Pick<ConsoleContext, 'storage'>): Promise<SsoCredential> {
  const row = await storage.ssoCredentials.find(name);
  if (!row) throw new Problem('not_found', 'There is no credential of this name.');
  return row;
}

/** Settings apart from those that are sealed; `field`: their path in what was sent. Throws 422. */
export function readSettings(profile: LoginProfile, given: Readonly<Record<string, string>>, kept: Readonly<Record<string, string>> = {}, field = 'settings') {
  const faults = checkSettings(profile, { ...kept, ...given });
  if (faults.length > 0) throw invalid(faults.map(({ setting, message }) => ({ field: `${field}.${setting}`, message })));
  const isSecret = (name: string): boolean => profile.settings[name]?.secret === true;
  const entries = Object.entries(given);
  return {
    settings: Object.fromEntries(entries.filter(([name]) => !isSecret(name))),
    secrets: Object.fromEntries(entries.filter(([name]) => isSecret(name))),
  };
}

/** Tokens that a person pasted, in a text of theirs. */
export async function importPasted(given: NewCredential, tokens: string | undefined, context: ConsoleContext): Promise<SsoCredential> {
  const profile = context.sso.gates.require(given.profile);
  if (isMachine(profile)) {
    if (tokens !== undefined) throw invalidField('tokens', 'is not for a machine identity, which gets its tokens by itself');
    return takeIn(given, { access_token: null, refresh_token: null, expires_at: 0, settings: {}, secrets: {} }, context);
  }
  if (tokens === undefined) throw invalidField('tokens', 'is required: what the vendor or its client gave');
  return takeIn(given, readPastedTokens(tokens, context.sso.now()), context);
}

/** Stores a login's tokens, then uses them once: what the vendor does not renew is refused at once. */
export async function takeIn(given: NewCredential, pasted: PastedTokens, context: ConsoleContext): Promise<SsoCredential> {
  const { storage, sso } = context;
  const profile = sso.gates.require(given.profile);
  const existing = await storage.ssoCredentials.find(given.name);
  if (!existing) refuseNewName(given.name, 'name');
  if (existing && !given.replace) throw new Problem('conflict', 'There is already a credential of this name.', [{ field: 'name', message: 'is taken' }]);
  if (existing && existing.profile !== profile.id) throw invalidField('profile', `is ${existing.profile} in the credential of this name`);
  const account = given.account ?? pasted.account ?? null;
  if (existing?.account && account !== null && account !== existing.account)
    throw new Problem('conflict', 'This login is of another account than the credential of this name: give it a name of its own.');
  await store(given, pasted, { profile, existing, account }, context);
  const needsFirst = pasted.access_token === null || (pasted.expires_at !== null && pasted.expires_at <= sso.now());
  if (needsFirst) await firstRefresh({ name: given.name, isNew: existing === undefined, profile }, context);
  await sso.sync();
  return findCredential(given.name, context);
}

interface Place {
  profile: LoginProfile;
  existing: SsoCredential | undefined;
  account: string | null;
}

async function store(
  given: NewCredential,
  pasted: PastedTokens,
  { profile, existing, account }: Place,
  { storage, keyring, sso }: ConsoleContext,
): Promise<void> {
  const accepted = Object.fromEntries(Object.entries(pasted.settings).filter(([name]) => Object.hasOwn(profile.settings, name)));
  const before: SsoTokens = existing?.tokens ? openTokens(keyring, existing.id, existing.tokens) : noTokens;
  const kept = { ...existing?.settings, ...Object.fromEntries(Object.entries(before.secrets).filter(([name]) => profile.settings[name]?.secret)) };
  const { settings, secrets } = readSettings(profile, { ...accepted, ...given.settings }, kept);
  const id = existing?.id ?? randomUUID();
  const tokens: SsoTokens = {
    access_token: pasted.access_token,
    refresh_token: pasted.refresh_token,
    secrets: { ...before.secrets, ...secrets, ...pasted.secrets },
  };
  const renews = pasted.refresh_token !== null || isMachine(profile);
  const fields = {
    account,
    settings: { ...existing?.settings, ...settings },
    tokens: sealTokens(keyring, id, tokens),
    tokenId: randomUUID(),
    state: 'ok' as const,
    lastError: null,
    expiresAt: pasted.expires_at,
    refreshAt: renews && pasted.access_token !== null ? refreshDue(pasted.expires_at, sso.now(), Math.random()) : null,
  };
  const description = given.description ?? existing?.description ?? '';
  const done = existing
    ? (await storage.ssoCredentials.update(existing.id, existing.version, { ...fields, description, refreshingUntil: null, forcedAt: null })) !== null
    : await storage.ssoCredentials.insert({ ...fields, id, name: given.name, profile: profile.id, description });
  if (!done) throw new Problem('conflict', 'The credential was changed at the same time: try again.');
}

interface First {
  name: string;
  isNew: boolean;
  profile: LoginProfile;
}

async function firstRefresh({ name, isNew, profile }: First, { storage, sso, logger }: ConsoleContext): Promise<void> {
  try {
    await sso.refresher.renew(name);
  } catch (error) {
    if (!(error instanceof TokenFault)) throw error;
    logger.info({ sso_credential: name, code: error.code }, 'the first refresh of a credential failed');
    const machine = isMachine(profile);
    // No login is lost where a machine identity is refused for what may pass: a wrong file or address is said at once.
    if (!error.terminal && !(machine && isNew)) return;
    const row = await storage.ssoCredentials.find(name);
    if (isNew && row) await storage.ssoCredentials.remove(row.id);
    if (machine) throw invalidField('settings', error.message);
    throw invalidField('tokens', `${error.message} Expected a login that is still valid: log in again, then paste the result.`);
  }
}
