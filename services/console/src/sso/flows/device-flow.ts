/** Logins by a code that is entered at the vendor's page: RFC 8628, and the same in the spelling of SSO-OIDC. */
import type { LoginProfile, LoginSettings } from '@model-gateway/protocols/login';
import { readTokens, textOf } from '../grants/read-tokens.ts';
import type { DeviceLogin } from '../login-content.ts';
import type { PastedTokens } from '../pasted-tokens.ts';
import { errorCodeOf, requireSuccess, type TokenAnswer, TokenFault, type TokenHttp } from '../token-http.ts';

export interface DeviceContext {
  profile: LoginProfile;
  /** With defaults and secrets. */
  settings: LoginSettings;
  http: TokenHttp;
  now: () => number;
}

const grantType = 'urn:ietf:params:oauth:grant-type:device_code';
const defaultIntervalMs = 5_000;
const slowDownMs = 5_000;
const maxLifeMs = 30 * 60_000;

const isAws = ({ grant }: LoginProfile): boolean => grant === 'aws-oidc';

/** Throws TokenFault. `expiresAt`: until when the code is good. */
export async function beginDevice(context: DeviceContext): Promise<{ device: DeviceLogin; expiresAt: number }> {
  const { profile, http, settings, now } = context;
  const secrets = isAws(profile) ? await registerClient(context) : {};
  const answer = await http(
    isAws(profile)
      ? {
          method: 'POST',
          url: `${settings['oidc_url']}/device_authorization`,
          json: { clientId: secrets['client_id'], clientSecret: secrets['client_secret'], startUrl: settings['start_url'] },
        }
      : {
          method: 'POST',
          url: settings['device_url'] ?? '',
          // RFC 8628, 3.1: a client that has a secret identifies itself here as at the token endpoint.
          form: { client_id: settings['client_id'], client_secret: settings['client_secret'], scope: settings['scopes'] },
        },
  );
  const body = requireSuccess(answer);
  const deviceCode = textOf(body, 'device_code', 'deviceCode');
  const userCode = textOf(body, 'user_code', 'userCode');
  const verificationUri = textOf(body, 'verification_uri', 'verificationUri', 'verification_url');
  if (deviceCode === undefined || userCode === undefined || verificationUri === undefined || !isPage(verificationUri))
    throw new TokenFault('no_code', 'The vendor answered without a code.', true);
  const complete = textOf(body, 'verification_uri_complete', 'verificationUriComplete');
  const intervalMs = numberOf(body['interval'], defaultIntervalMs / 1000) * 1000;
  const device: DeviceLogin = {
    deviceCode,
    userCode,
    verificationUri,
    verificationUriComplete: complete !== undefined && isPage(complete) ? complete : null,
    intervalMs,
    askAt: now() + intervalMs,
    secrets,
  };
  return { device, expiresAt: now() + Math.min(numberOf(body['expires_in'] ?? body['expiresIn'], 600) * 1000, maxLifeMs) };
}

/** It is shown as a link. */
const isPage = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

const numberOf = (value: unknown, fallback: number): number => (typeof value === 'number' && value > 0 ? value : fallback);

async function registerClient({ http, settings }: DeviceContext): Promise<Record<string, string>> {
  const scopes = (settings['scopes'] ?? '').split(' ').filter((scope) => scope !== '');
  const json = { clientName: 'model-gateway', clientType: 'public', scopes, grantTypes: [grantType, 'refresh_token'], issuerUrl: settings['start_url'] };
  const body = requireSuccess(await http({ method: 'POST', url: `${settings['oidc_url']}/client/register`, json }));
  const clientId = textOf(body, 'clientId');
  const clientSecret = textOf(body, 'clientSecret');
  if (clientId === undefined || clientSecret === undefined) throw new TokenFault('no_client', 'The vendor registered no client.', true);
  return { client_id: clientId, client_secret: clientSecret };
}

/** `pending`: not yet, and when to ask again. Throws TokenFault where it is over. */
export type DevicePoll = { pending: { intervalMs: number } } | { tokens: PastedTokens };

export async function pollDevice(device: DeviceLogin, context: DeviceContext): Promise<DevicePoll> {
  const { profile, http, settings, now } = context;
  const { deviceCode, secrets, intervalMs } = device;
  const answer = await http(
    isAws(profile)
      ? {
          method: 'POST',
          url: `${settings['oidc_url']}/token`,
          json: { clientId: secrets['client_id'], clientSecret: secrets['client_secret'], grantType, deviceCode },
        }
      : {
          method: 'POST',
          url: settings['token_url'] ?? '',
          form: { grant_type: grantType, device_code: deviceCode, client_id: settings['client_id'], client_secret: settings['client_secret'] },
        },
  );
  const waits = waitOf(answer, intervalMs);
  if (waits !== null) return { pending: { intervalMs: waits } };
  const issued = readTokens(requireSuccess(answer), now());
  // What GitHub's login gives lasts, and is exchanged for tokens that do not.
  const lasts = profile.grant === 'github-exchange';
  return {
    tokens: {
      access_token: lasts ? null : issued.access_token,
      refresh_token: lasts ? issued.access_token : (issued.refresh_token ?? null),
      expires_at: lasts ? 0 : issued.expires_at,
      account: issued.account,
      settings: {},
      secrets,
    },
  };
}

function waitOf(answer: TokenAnswer, intervalMs: number): number | null {
  switch (errorCodeOf(answer)) {
    case 'authorization_pending':
    case 'AuthorizationPendingException':
      return intervalMs;
    case 'slow_down':
    case 'SlowDownException':
      return intervalMs + slowDownMs;
    default:
      // A vendor that is ill for a moment is asked again.
      return answer.status >= 500 || answer.status === 429 ? intervalMs : null;
  }
}
