/** Credentials in configuration files: named and described, their tokens a reference. What exists keeps its tokens: those of a file are older than any that were renewed. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { resourceName } from '@model-gateway/contracts';
import type { NewSsoCredential, SsoCredential } from '@model-gateway/storage';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { invalidField } from '../problem.ts';
import { isMachine, readSettings } from './credentials.ts';
import { readPastedTokens } from './pasted-tokens.ts';
import { noTokens, sealTokens } from './tokens.ts';

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

/** What a file says of one credential. */
export interface PlannedCredential {
  name: string;
  outcome: 'created' | 'updated' | 'unchanged';
  create?: NewSsoCredential;
  update?: { row: SsoCredential; description: string; settings: Record<string, string> };
}

/** Throws 422, also where a login is not enabled here. */
export function planCredentials(list: readonly Entry[], stored: readonly SsoCredential[], context: ConsoleContext): PlannedCredential[] {
  const known = new Map(stored.map((row) => [row.name, row]));
  const seen = new Set<string>();
  return list.map((entry, index): PlannedCredential => {
    const field = (name: string) => `sso_credentials.${index}.${name}`;
    const profile = context.sso.gates.require(entry.profile, field('profile'));
    if (seen.has(entry.name)) throw invalidField(field('name'), 'appears twice in the file');
    seen.add(entry.name);
    const row = known.get(entry.name);
    if (!row) return { name: entry.name, outcome: 'created', create: planNew(entry, context, field('tokens')) };
    if (row.profile !== profile.id) throw invalidField(field('profile'), `is ${row.profile} in the credential of this name`);
    const { settings } = readSettings(profile, entry.settings, row.settings);
    const same = entry.description === row.description && isDeepStrictEqual(settings, row.settings);
    return { name: entry.name, outcome: same ? 'unchanged' : 'updated', ...(!same && { update: { row, description: entry.description, settings } }) };
  });
}

/** Its first token is asked for by the next round of refreshes. */
function planNew(
  { name, profile: id, description, settings: given, account, tokens }: Entry,
  { sso, keyring }: ConsoleContext,
  field: string,
): NewSsoCredential {
  const profile = sso.gates.require(id);
  const now = sso.now();
  const text = tokens === undefined || tokens === null || reference.test(tokens) ? null : tokens;
  if (text !== null && isMachine(profile)) throw invalidField(field, 'is not for a machine identity, which gets its tokens by itself');
  const pasted = text === null ? null : readPastedTokens(text, now, field);
  const { settings, secrets } = readSettings(profile, given);
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

/** Before the configuration that names them. Resolves with what takes it back. */
export async function applyCredentials(planned: readonly PlannedCredential[], { storage }: Pick<ConsoleContext, 'storage'>): Promise<() => Promise<void>> {
  const made: string[] = [];
  for (const { create, update } of planned) {
    if (create && (await storage.ssoCredentials.insert(create))) made.push(create.id);
    if (update) await storage.ssoCredentials.update(update.row.id, update.row.version, { description: update.description, settings: update.settings });
  }
  return async () => {
    for (const id of made) await storage.ssoCredentials.remove(id);
  };
}
