/** A real OAuth server (oidc-provider) in this process, whose refresh tokens rotate: one that is used twice ends its login. And a person at its pages. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import { Provider } from 'oidc-provider';

export interface OAuthServer {
  issuer: string;
  /** Fields of each question to the token endpoint. */
  asked: string[][];
  /** Everything that it gave out and that nobody else should see: tokens of both kinds, and codes for devices. */
  secrets: Set<string>;
  /** Whether it would take this access token now. */
  takes(token: string): Promise<boolean>;
  /** Refresh tokens that it gave out. */
  renewing: Set<string>;
  close(): Promise<void>;
}

export interface OAuthServerOptions {
  /** Seconds that access tokens live. */
  accessSeconds?: number;
  /** Seconds between two questions about a device; absent: it does not say. */
  interval?: number;
}

/** Of the client `confidential`. */
export const clientSecret = 'client-secret-canary';
/** Where the client `agent` lets browsers be sent: any port of this machine. */
const redirectPath = 'http://127.0.0.1/callback';

export async function startOAuthServer({ accessSeconds = 3600, interval }: OAuthServerOptions = {}): Promise<OAuthServer> {
  // It warns of its development settings, which is what it is used for here.
  for (const word of ['warn', 'info'] as const) jest.spyOn(console, word).mockImplementation(() => undefined);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = (id: string) => ({
    client_id: id,
    application_type: 'native' as const,
    token_endpoint_auth_method: 'none' as const,
    grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
    redirect_uris: [redirectPath],
  });
  const confidential = { ...client('confidential'), client_secret: clientSecret, token_endpoint_auth_method: 'client_secret_post' as const };
  const provider = new Provider(issuer, {
    clients: [client('agent'), client('hasty'), confidential],
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    pkce: { required: () => true },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    cookies: { keys: ['test'] },
    ttl: { AccessToken: accessSeconds, DeviceCode: (_context, _code, { clientId }) => (clientId === 'hasty' ? 1 : 600) },
    features: { devInteractions: { enabled: true }, deviceFlow: { enabled: true } },
  });
  const oauth: OAuthServer = {
    issuer,
    asked: [],
    secrets: new Set(),
    renewing: new Set(),
    takes: async (token) => (await provider.AccessToken.find(token)) !== undefined,
    close: () => close(server),
  };
  provider.use(async (context, next) => {
    await next();
    const body = (typeof context.body === 'object' && context.body !== null ? context.body : {}) as Record<string, unknown>;
    for (const name of ['access_token', 'refresh_token', 'device_code']) if (typeof body[name] === 'string') oauth.secrets.add(body[name]);
    if (typeof body['refresh_token'] === 'string') oauth.renewing.add(body['refresh_token']);
    if (context.path === '/device/auth' && interval !== undefined) body['interval'] = interval;
    if (context.path === '/token') oauth.asked.push(Object.keys((context as unknown as { oidc?: { body?: object } }).oidc?.body ?? {}).sort());
  });
  server.on('request', provider.callback());
  return oauth;
}

/** Settings of a login at it. */
export const oauthSettings = ({ issuer }: OAuthServer, clientId = 'agent') => ({
  client_id: clientId,
  issuer,
  authorize_url: `${issuer}/auth`,
  device_url: `${issuer}/device/auth`,
  token_url: `${issuer}/token`,
  scopes: 'openid offline_access',
});

/**
 * Answers every form of the server's pages as a person would: confirms, logs in, consents; or says no at the first. Resolves with the address that the
 * browser is sent to beyond the server, or with the last page.
 */
export async function visitPages(address: string, answer: 'confirm' | 'abort' = 'confirm'): Promise<string> {
  const cookies = new Map<string, string>();
  const { origin } = new URL(address);
  let next: { url: string; form?: URLSearchParams } = { url: address };
  for (let step = 0; step < 20; step++) {
    const reply: Response = await fetch(next.url, {
      method: next.form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(next.form && { body: next.form }),
    });
    for (const line of reply.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]!.split(/=(.*)/s);
      cookies.set(name, value);
    }
    const page = await reply.text();
    const location = reply.headers.get('location');
    if (location !== null) {
      next = { url: new URL(location, next.url).href };
      if (new URL(next.url).origin !== origin) return next.url;
      continue;
    }
    const action = /<form[^>]* action="([^"]*)"/.exec(page)?.[1];
    if (action === undefined || next.form?.has('abort')) return page;
    const inputs = [...page.matchAll(/<input[^>]*type="hidden"[^>]*name="([^"]*)"[^>]*value="([^"]*)"/g)].map(([, name = '', value = '']): [string, string] => [
      name,
      value,
    ]);
    const form = new URLSearchParams(inputs);
    form.delete('confirm');
    if (page.includes('name="abort"')) form.set(answer, 'yes');
    form.set('login', 'ada');
    form.set('password', 'x');
    next = { url: new URL(action.replaceAll('&amp;', '&'), next.url).href, form };
  }
  throw new Error('too many pages');
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
