/** An OpenID provider that signs as the test says: honest by default, with keys that may change from one call to the next. */
import { constants, createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SigningKey {
  kid: string;
  alg: 'RS256' | 'ES256';
  privateKey: KeyObject;
}

export function makeKey(kid: string, alg: SigningKey['alg'] = 'RS256'): SigningKey {
  const { privateKey } =
    alg === 'RS256'
      ? generateKeyPairSync('rsa', {
          modulusLength: 2048,
          publicKeyEncoding: { type: 'spki', format: 'pem' },
          privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        })
      : generateKeyPairSync('ec', {
          namedCurve: 'P-256',
          publicKeyEncoding: { type: 'spki', format: 'pem' },
          privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        });
  return { kid, alg, privateKey: createPrivateKey(privateKey) };
}

export const jwkOf = ({ kid, alg, privateKey }: SigningKey): object => ({ ...createPublicKey(privateKey).export({ format: 'jwk' }), kid, alg, use: 'sig' });
export const publicPemOf = ({ privateKey }: SigningKey): string => createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** As a JSON web token; `header` adds to or replaces what is usual. */
export function signed(claims: object, key: SigningKey, header: object = {}): string {
  const text = `${encode({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(text), {
    key: key.privateKey,
    ...(key.alg === 'ES256' ? { dsaEncoding: 'ieee-p1363' as const } : { padding: constants.RSA_PKCS1_PADDING }),
  });
  return `${text}.${signature.toString('base64url')}`;
}

export const unsigned = (claims: object, header: object = {}): string => `${encode({ alg: 'none', ...header })}.${encode(claims)}.`;

export function hmacSigned(claims: object, secret: string, header: object = {}): string {
  const text = `${encode({ alg: 'HS256', typ: 'JWT', ...header })}.${encode(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

export interface LyingProvider {
  issuer: string;
  /** Of the published set. */
  keys: SigningKey[];
  /** Says more than is usual of itself. */
  metadata: object;
  /** What the token endpoint gives for these claims. */
  token(claims: Record<string, unknown>): string;
  /** Set by the test from the address of the begun sign-in. */
  nonce: string;
  claims: Record<string, unknown>;
  /** Where its sign-in page, which asks nothing, sends browsers; null: to the address that the console names. */
  callback: string | null;
  close(): Promise<void>;
}

export async function startLyingProvider(): Promise<LyingProvider> {
  const first = makeKey('first');
  const server: Server = createServer((request, response) => {
    const json = (value: object) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const { issuer } = provider;
    const path = request.url?.split('?')[0];
    if (path === '/.well-known/openid-configuration')
      json({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        ...provider.metadata,
      });
    else if (path === '/auth') {
      const { searchParams } = new URL(request.url ?? '', issuer);
      provider.nonce = searchParams.get('nonce') ?? '';
      const back = new URL(provider.callback ?? searchParams.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({ code: 'c', state: searchParams.get('state') ?? '' }).toString();
      response.writeHead(303, { location: back.href }).end();
    } else if (path === '/jwks') json({ keys: provider.keys.map(jwkOf) });
    else if (path === '/token') {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer, aud: 'console', sub: 'u-1', iat: now, exp: now + 300, nonce: provider.nonce, ...provider.claims };
      json({ access_token: 'at', token_type: 'Bearer', expires_in: 300, id_token: provider.token(claims) });
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const provider: LyingProvider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: [first],
    metadata: {},
    token: (claims) => signed(claims, provider.keys[0]!),
    nonce: '',
    claims: {},
    callback: null,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}
