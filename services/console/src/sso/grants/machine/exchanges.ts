/**
 * Exchanges of an identity token for an access token at two vendors, as their own SDKs make them: JSON, not the form of RFC 8693 and RFC 7523, which is
 * all that general OAuth clients send.
 */
import { requireSuccess, TokenFault } from '../../token-http.ts';
import type { Grant } from '../grant.ts';
import { readTokens } from '../read-tokens.ts';
import { certificateEgress, certificateSource } from './client-certificate.ts';
import { readIdentityToken } from './identity-token.ts';

/** Source: `lib/credentials/oidc-federation` of the vendor's SDK. */
export const jwtBearer: Grant = async ({ settings, profile, http, now }) => {
  const json = {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: await readIdentityToken(settings),
    federation_rule_id: settings['federation_rule_id'],
    organization_id: settings['organization_id'],
    service_account_id: settings['service_account_id'],
    workspace_id: settings['workspace_id'],
  };
  const answer = await http({ method: 'POST', url: settings['token_url'] ?? '', headers: { ...profile.headers }, json });
  return { ...readTokens(requireSuccess(answer), now()), account: settings['service_account_id'] ?? settings['organization_id'] };
};

const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Source: `auth/workload-identity-auth` of the vendor's SDK. */
export const tokenExchange: Grant = async (context) => {
  const { settings, http, now } = context;
  const { source } = settings;
  if (source === certificateSource) return certificateExchange(context);
  if (source !== 'token_file') throw new TokenFault('source', `source must be token_file or ${certificateSource}.`, true);
  const json = {
    grant_type: exchangeGrant,
    subject_token: await readIdentityToken(settings),
    subject_token_type: settings['subject_token_type'],
    identity_provider_id: settings['identity_provider_id'],
    service_account_id: settings['service_account_id'],
    client_id: settings['client_id'],
    audience: settings['audience'],
  };
  const answer = await http({ method: 'POST', url: settings['token_url'] ?? '', json });
  return { ...readTokens(requireSuccess(answer), now()), account: settings['service_account_id'] };
};

/** Source: `internal/auth/x509-token-exchange` of the same SDK. The connection identifies the caller; its tokens are taken on such connections alone. */
const certificateExchange: Grant = async ({ settings, http, now }) => {
  const json = {
    grant_type: exchangeGrant,
    subject_token_type: 'urn:openai:params:oauth:token-type:x509',
    identity_provider_id: settings['identity_provider_id'],
    service_account_id: settings['service_account_id'],
  };
  const answer = await http({ method: 'POST', url: settings['mtls_token_url'] ?? '', json, egress: certificateEgress(settings) });
  return { ...readTokens(requireSuccess(answer), now()), account: settings['service_account_id'] };
};
