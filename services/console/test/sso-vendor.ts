/** A vendor of logins in the SSO-OIDC shape (camel case, exceptions by name), whose refresh tokens rotate: one that is used twice ends its family, as real vendors do. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SsoVendor {
  url: string;
  /** Calls of the token endpoints so far, by path. */
  calls: string[];
  /** When each call came, ms. */
  times: number[];
  /** The refresh token that is good now. */
  refreshToken: string;
  /** Every secret that was ever given out. */
  secrets: Set<string>;
  /** Seconds that access tokens live. */
  life: number;
  /** What the next calls of the token endpoint are answered instead, in order. */
  answers: { status: number; body: object }[];
  /** Called with each answer before it is sent: it may wait. */
  beforeAnswer: () => Promise<void> | void;
  isDead(): boolean;
  close(): Promise<void>;
}

export async function startSsoVendor(prefix = 'CANARY'): Promise<SsoVendor> {
  let serial = 0;
  let dead = false;
  const secrets = new Set<string>();
  const mint = (kind: string): string => {
    const secret = `${prefix}-${kind}-${++serial}-${'x'.repeat(12)}`;
    secrets.add(secret);
    return secret;
  };
  const vendor: SsoVendor = {
    url: '',
    calls: [],
    times: [],
    refreshToken: mint('refresh'),
    secrets,
    life: 3600,
    answers: [],
    beforeAnswer: () => undefined,
    isDead: () => dead,
    close: () => close(server),
  };
  const issue = () => {
    vendor.refreshToken = mint('refresh');
    return { accessToken: mint('access'), refreshToken: vendor.refreshToken, expiresIn: vendor.life, tokenType: 'Bearer' };
  };
  const refused = (error: string) => ({ status: 400, body: { error, error_description: 'words of the vendor' } });
  const answerTo = (path: string, body: Record<string, unknown>): { status: number; body: object } => {
    if (path === '/client/register')
      return { status: 200, body: { clientId: 'client-1', clientSecret: mint('client'), clientSecretExpiresAt: Math.floor(Date.now() / 1000) + 7_776_000 } };
    if (path === '/device_authorization')
      return {
        status: 200,
        body: {
          deviceCode: mint('device'),
          userCode: 'WDJB-MJHT',
          verificationUri: 'https://device.example/',
          verificationUriComplete: 'https://device.example/?user_code=WDJB-MJHT',
          expiresIn: 600,
          interval: 1,
        },
      };
    const planned = vendor.answers.shift();
    if (planned) return planned;
    if (path === '/token' && body['grantType'] !== 'refresh_token') return { status: 200, body: issue() };
    if (dead || body['refreshToken'] !== vendor.refreshToken) {
      dead = true;
      return refused('invalid_grant');
    }
    return { status: 200, body: issue() };
  };
  const server: Server = createServer((request: IncomingMessage, response: ServerResponse) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const path = request.url ?? '';
      vendor.calls.push(path);
      vendor.times.push(performance.now());
      const { status, body } = answerTo(path, JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Record<string, unknown>);
      await vendor.beforeAnswer();
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vendor.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return vendor;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
