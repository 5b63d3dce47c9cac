/**
 * Credentials in configuration files: named and described, their tokens a reference. What exists keeps its tokens: those of a file are older than any that were
 * renewed. Secret settings are no tokens: a file that holds them replaces them, one that leaves them out keeps them.
 */
import { randomUUID } from 'node:crypto';
import { resourceName } from '@model-gateway/contracts';
import type { CatalogWriter, NewSsoCredential, SsoCredential, SsoCredentialPatch } from '@model-gateway/storage';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { invalidField, Problem } from '../problem.ts';
import { upstreamKeyMask } from '../resources/upstream-keys.ts';
import { refuseNewName } from '../validation/new-name.ts';
import { type ChangedCredential, differences } from './change-credential.ts';
import { isMachine, readSettings } from './credentials.ts';
import { readPastedTokens } from './pasted-tokens.ts';
import { noTokens, openTokens, sealTokens } from './tokens.ts';

export const credentialEntry = z.strictObject({
  name: resourceName,
  profile: z.string().max(64),
  description: z.string().max(2000).default(''),
  settings: z.record(z.string().max(64), z.string().max(65_536)).default({}),
  account: z.string().min(1).max(200).nullish(),
  tokens: z.string().max(262_144).nullish(),
});
type Entry = z.output<typeof credentialEntry>;

const reference = /^\$\{[A-Z_][A-Z0-9_]*\}$/;

export const exportCredential = ({ name, profile, description, settings, account }: SsoCredential) => ({
  name,
  profile,
  description,
  settings: { ...settings },
  account,
  tokens: `\${SSO_CREDENTIAL_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}}`,
});

/** What a file did to one credential. */
export interface TakenCredential {
  name: string;
  outcome: 'created' | 'updated' | 'unchanged';
  /** The new one. */
  created?: NewSsoCredential;
  /** What the file changed of one that was there. */
  changed?: ChangedCredential['changed'];
}

/** Somebody changes a credential just now (a refresh does): looked at anew so many times. */
const tries = 10;

/**
 * Creates and changes what a file names, in the transaction of the configuration that refers to it. Throws 422, also where a login is not enabled here, and
 * 409 where others change the same credential all the time.
 */
export async function takeCredentials(list: readonly Entry[], writer: CatalogWriter, context: ConsoleContext): Promise<TakenCredential[]> {
  const taken = new Map<string, TakenCredential>();
  for (const [index, entry] of list.entries()) {
    const at = `sso_credentials.${index}`;
    if (taken.has(entry.name)) throw invalidField(`${at}.name`, 'appears twice in the file');
    taken.set(entry.name, await takeOne(entry, at, writer.ssoCredentials, context));
  }
  return [...taken.values()];
}

async function takeOne(entry: Entry, at: string, stored: CatalogWriter['ssoCredentials'], context: ConsoleContext): Promise<TakenCredential> {
  const { name, description } = entry;
  const profile = context.sso.gates.require(entry.profile, `${at}.profile`);
  for (const [setting, value] of Object.entries(entry.settings))
    if (reference.test(value)) throw invalidField(`${at}.settings.${setting}`, 'is a reference to the environment: `model-gateway apply` puts the value there');
  for (let tried = 0; tried < tries; tried++) {
    const row = await stored.find(name);
    if (!row) {
      refuseNewName(name, `${at}.name`);
      const created = planNew(entry, context, at);
      if (await stored.insert(created)) return { name, outcome: 'created', created };
      continue;
    }
    if (row.profile !== profile.id) throw invalidField(`${at}.profile`, `is ${row.profile} in the credential of this name`);
    // The file's replace those that are stored: a required one that it leaves out is missing.
    const { settings, secrets } = readSettings(profile, entry.settings, {}, `${at}.settings`);
    const wanted = { description, settings };
    const renewed = replaceSecrets(row, secrets, context);
    const changed = { ...differences(row, wanted), ...renewed?.changed };
    if (Object.keys(changed).length === 0) return { name, outcome: 'unchanged' };
    if ((await stored.update(row.id, row.version, { ...wanted, ...renewed?.patch })) !== null) return { name, outcome: 'updated', changed };
  }
  throw new Problem('conflict', `The credential ${name} is being changed by others: try again.`);
}

/** Null: there are no others than those that are stored. A machine identity asks for a token with them. Throws 409 while a refresh is running: the tokens that it brings would not be kept. */
function replaceSecrets(
  row: SsoCredential,
  given: Readonly<Record<string, string>>,
  { keyring, sso }: ConsoleContext,
): { patch: SsoCredentialPatch; changed: ChangedCredential['changed'] } | null {
  // What was revoked keeps nothing: a new login brings its own.
  if (row.state === 'revoked' || Object.keys(given).length === 0) return null;
  const held = row.tokens === null ? noTokens : openTokens(keyring, row.id, row.tokens);
  const others = Object.entries(given).filter(([name, value]) => held.secrets[name] !== value);
  if (others.length === 0) return null;
  const now = sso.now();
  if (row.refreshingUntil !== null && row.refreshingUntil > now)
    throw new Problem('conflict', `The credential ${row.name} is being refreshed: try again in a moment.`);
  const asks = isMachine(sso.gates.require(row.profile));
  return {
    patch: {
      tokens: sealTokens(keyring, row.id, { ...held, secrets: { ...held.secrets, ...given } }),
      ...(asks && { state: 'ok', lastError: null, refreshAt: now }),
    },
    changed: Object.fromEntries(
      others.map(([name]) => [`settings.${name}`, { before: held.secrets[name] === undefined ? null : upstreamKeyMask, after: upstreamKeyMask }]),
    ),
  };
}

/** Its first token is asked for by the next round of refreshes. */
function planNew({ name, profile: id, description, settings: given, account, tokens }: Entry, { sso, keyring }: ConsoleContext, at: string): NewSsoCredential {
  const profile = sso.gates.require(id);
  const now = sso.now();
  const text = tokens === undefined || tokens === null || reference.test(tokens) ? null : tokens;
  if (text !== null && isMachine(profile)) throw invalidField(`${at}.tokens`, 'is not for a machine identity, which gets its tokens by itself');
  const pasted = text === null ? null : readPastedTokens(text, now, `${at}.tokens`);
  const { settings, secrets } = readSettings(profile, given, {}, `${at}.settings`);
  const credentialId = randomUUID();
  const gives = pasted !== null || isMachine(profile);
  const held = {
    ...noTokens,
    access_token: pasted?.access_token ?? null,
    refresh_token: pasted?.refresh_token ?? null,
    secrets: { ...secrets, ...pasted?.secrets },
  };
  return {
    id: credentialId,
    name,
    profile: profile.id,
    account: account ?? pasted?.account ?? null,
    description,
    settings,
    tokens: gives || Object.keys(secrets).length > 0 ? sealTokens(keyring, credentialId, held) : null,
    tokenId: randomUUID(),
    state: gives ? 'ok' : 'needs_login',
    lastError: null,
    expiresAt: 0,
    refreshAt: gives ? now : null,
  };
}
