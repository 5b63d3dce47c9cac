/** Temporary keys of an AWS role. They sign each call, and travel as one text: `ID:SECRET:SESSION_TOKEN`. */
import { Readable } from 'node:stream';
import type { LoginSettings } from '@model-gateway/protocols/login';
import { type SendToken, TokenFault } from '../../token-http.ts';
import type { IssuedTokens } from '../../tokens.ts';
import type { Grant } from '../grant.ts';
import { readIdentityToken } from './identity-token.ts';
import { byLibrary } from './library-fault.ts';

/** As the providers of the AWS SDK give them. */
interface Keys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  expiration?: Date;
}

const metadata = { timeout: 2_000, maxRetries: 1 };

export const awsRole =
  (send: SendToken): Grant =>
  async ({ settings }) => {
    const { source, role_arn: account } = settings;
    switch (source) {
      case 'web_identity':
        return { ...issued(await assumeRole(settings, send)), account };
      case 'container':
        return { ...issued(await byLibrary('The container’s credential service', ofContainer)), ...(account !== undefined && { account }) };
      case 'instance':
        return { ...issued(await byLibrary('The instance’s metadata service', ofInstance)), ...(account !== undefined && { account }) };
      default:
        throw new TokenFault('source', 'source must be web_identity, container or instance.', true);
    }
  };

/** Libraries are loaded where they are used: most gateways have no such credential. */
async function ofContainer(): Promise<Keys> {
  const { fromHttp } = await import('@aws-sdk/credential-provider-http');
  return fromHttp({ ...metadata, logger: quiet })();
}

async function ofInstance(): Promise<Keys> {
  const { fromInstanceMetadata } = await import('@smithy/credential-provider-imds');
  return fromInstanceMetadata({ ...metadata, ec2MetadataV1Disabled: true, logger: quiet })();
}

/** The library would write to the console. */
const silent = (): void => undefined;
const quiet = { trace: silent, debug: silent, info: silent, warn: silent, error: silent };

async function assumeRole(settings: LoginSettings, send: SendToken): Promise<Keys> {
  const { region = '', role_arn: roleArn, session_name: roleSessionName, sts_url: endpoint } = settings;
  if (roleArn === undefined) throw new TokenFault('role_arn', 'role_arn is required for web_identity.', true);
  const webIdentityToken = await readIdentityToken(settings);
  return byLibrary('The token service', async () => {
    const { fromWebToken } = await import('@aws-sdk/credential-provider-web-identity');
    const clientConfig = { region, endpoint, maxAttempts: 1, requestHandler: createHandler(send), logger: quiet };
    return fromWebToken({ roleArn, roleSessionName, webIdentityToken, clientConfig: clientConfig as never, logger: quiet })();
  });
}

interface SmithyRequest {
  method: string;
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query?: Record<string, string | string[] | null>;
  headers: Record<string, string>;
  body?: unknown;
}

/** The SDK's way out: the guarded dialer. */
const createHandler = (send: SendToken) => ({
  metadata: { handlerProtocol: 'http/1.1' },
  updateHttpClientConfig: silent,
  httpHandlerConfigs: () => ({}),
  async handle({ method, protocol, hostname, port, path, headers, body }: SmithyRequest) {
    const url = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`;
    const { host: _host, 'content-length': _length, expect: _expect, ...rest } = headers;
    const sent = typeof body === 'string' || body instanceof Uint8Array ? Buffer.from(body as Uint8Array) : undefined;
    // It is asked for XML, as the SDK reads it.
    const answer = await send({ method, url, headers: { ...rest, accept: 'text/xml' }, body: sent });
    return { response: { statusCode: answer.status, headers: answer.headers, body: Readable.from([answer.bytes]) } };
  },
});

function issued({ accessKeyId, secretAccessKey, sessionToken, expiration }: Keys): IssuedTokens {
  const parts = [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])];
  if (parts.some((part) => !/^[\x21-\x39\x3b-\x7e]{1,16384}$/.test(part)))
    throw new TokenFault('no_token', 'The vendor answered with keys that cannot be sent.', false);
  return { access_token: parts.join(':'), expires_at: expiration === undefined ? null : expiration.getTime() };
}
