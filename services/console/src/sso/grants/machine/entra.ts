/** Access tokens of Microsoft Entra: an application with its secret or an identity token of the platform, or a managed identity. */
import type { LoginSettings } from '@model-gateway/protocols/login';
import * as client from 'openid-client';
import { TokenFault } from '../../token-http.ts';
import type { IssuedTokens } from '../../tokens.ts';
import type { Grant, GrantContext } from '../grant.ts';
import { readTokens } from '../read-tokens.ts';
import { readIdentityToken } from './identity-token.ts';
import { byLibrary } from './library-fault.ts';
import type { TokenFetch } from './token-fetch.ts';

export const entra =
  (fetch: TokenFetch): Grant =>
  async (context) => {
    switch (context.settings['source']) {
      case 'client_secret':
        return ofApplication(context, fetch, { client_secret: required(context.settings, 'client_secret') });
      case 'federated_token':
        return ofApplication(context, fetch, {
          client_assertion: await readIdentityToken(context.settings),
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        });
      case 'managed_identity':
        return ofManagedIdentity(context.settings);
      default:
        throw new TokenFault('source', 'source must be client_secret, federated_token or managed_identity.', true);
    }
  };

function required(settings: LoginSettings, name: string): string {
  const value = settings[name];
  if (value === undefined) throw new TokenFault(name, `${name} is required for this source.`, true);
  return value;
}

/** The application says who it is by its fields: what proves it is one more of them. */
async function ofApplication({ settings, now }: GrantContext, fetch: TokenFetch, authentication: Record<string, string>): Promise<IssuedTokens> {
  const tenant = required(settings, 'tenant_id');
  const clientId = required(settings, 'client_id');
  const url = settings['token_url'] ?? '';
  const server = { issuer: new URL(url).origin, token_endpoint: url };
  const configuration = new client.Configuration(server, clientId, undefined, client.None());
  configuration[client.customFetch] = fetch as client.CustomFetch;
  // Which addresses may be http is decided by what sends the call.
  if (url.startsWith('http:')) client.allowInsecureRequests(configuration);
  const tokens = await byLibrary('Microsoft Entra', () => client.clientCredentialsGrant(configuration, { scope: settings['scopes'] ?? '', ...authentication }));
  return { ...readTokens(tokens as unknown as Record<string, unknown>, now()), account: `${tenant}/${clientId}` };
}

/** The addresses are those of the platform, and none that an admin can choose: the library asks them by itself, past the guarded dialer, which refuses such addresses. */
async function ofManagedIdentity(settings: LoginSettings): Promise<IssuedTokens> {
  const { client_id: clientId, scopes = '' } = settings;
  const { ManagedIdentityApplication } = await import('@azure/msal-node');
  return byLibrary('The managed identity', async () => {
    const identity = new ManagedIdentityApplication({
      ...(clientId !== undefined && { managedIdentityIdParams: { userAssignedClientId: clientId } }),
      system: { disableInternalRetries: true, loggerOptions: { loggerCallback: () => undefined } },
    });
    const { accessToken, expiresOn } = await identity.acquireToken({ resource: scopes.replace(/\/\.default$/, ''), forceRefresh: true });
    const issued = readTokens({ access_token: accessToken }, 0);
    return { ...issued, expires_at: expiresOn?.getTime() ?? null, ...(clientId !== undefined && { account: clientId }) };
  });
}
