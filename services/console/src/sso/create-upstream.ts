/** The upstream that a login is for: made after it, so that a fault in it does not cost the login. */
import { completeSettings, loginProfiles } from '@model-gateway/protocols/login';
import type { SsoCredential } from '@model-gateway/storage';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { type Call, commit } from '../history/commit.ts';
import { Problem } from '../problem.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { certificateOf, certificateSource } from './grants/machine/index.ts';
import { openTokens } from './tokens.ts';

/** What may be said of the upstream; all the rest is as usual. */
export const newUpstream = z.strictObject({
  name: z.string().min(1).max(200).describe('Name of the upstream that is made with the credential'),
  base_url: z.string().max(2048).optional().describe('Absent: the usual address'),
  protocol: z.string().max(100).optional().describe('Absent: the usual one'),
});
export type NewUpstream = z.infer<typeof newUpstream>;

/** What a login gives besides the credential. */
export interface MadeUpstream {
  upstream: string | null;
  upstream_error: string | null;
}

export async function createUpstream(
  row: SsoCredential,
  wanted: NewUpstream | undefined,
  { upstreams, context, call }: { upstreams: ResourceOperations; context: ConsoleContext; call: Call },
): Promise<MadeUpstream> {
  if (!wanted) return { upstream: null, upstream_error: null };
  const profile = loginProfiles[row.profile];
  const settings = completeSettings(profile, row.settings);
  const isCertified = Object.hasOwn(profile.settings, 'client_cert') && settings['source'] === certificateSource;
  const profileArn = row.account?.startsWith('arn:') ? { profile_arn: row.account } : null;
  const body = {
    name: wanted.name,
    protocol: wanted.protocol ?? profile.protocols[0],
    base_url: (wanted.base_url ?? settings[isCertified ? 'mtls_base_url' : 'base_url'] ?? '').replace(/\/+$/, ''),
    api_keys: [],
    sso_credential: row.name,
    // Its tokens are taken on connections of the same certificate alone.
    ...(isCertified && row.tokens !== null && { tls: certificateOf({ ...settings, ...openTokens(context.keyring, row.id, row.tokens).secrets }) }),
    ...(settings['region'] !== undefined && { extra_config: { region: settings['region'], ...profileArn } }),
  };
  try {
    await commit(context, call, { action: 'create', entity_type: 'upstream', entity_id: wanted.name }, (writer) => upstreams.create(writer, body));
    return { upstream: wanted.name, upstream_error: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { upstream: null, upstream_error: `The credential was kept, but the upstream could not be made: ${error.message}` };
  }
}
