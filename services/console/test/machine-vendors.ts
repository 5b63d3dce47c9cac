/** The token endpoints of five clouds, as strict as the real ones: a wrong path, method, media type, header or field is refused in the vendor's own shape. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call of an endpoint. */
export interface MachineCall {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, string>;
}

interface Answer {
  status: number;
  type?: string;
  body: string | object;
}

export interface MachineVendors {
  url: string;
  calls: MachineCall[];
  /** The identity token that is trusted now. */
  trusted: string;
  /** What the next call is answered instead. */
  next: Answer | undefined;
  /** Every secret that was given out. */
  secrets: string[];
  close(): Promise<void>;
}

/** A token in three parts, as platforms project them. `mark` makes it unique. */
export const identityToken = (mark: string): string =>
  [
    { alg: 'RS256', kid: 'k' },
    { iss: 'https://cluster.example', sub: mark, exp: 4_102_444_800 },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat('c2lnbmF0dXJl')
    .join('.');

const oauthRefusal = (error: string): Answer => ({ status: 400, body: { error, error_description: 'CANARY words of the vendor' } });

type Endpoint = (call: MachineCall & { method: string }, vendors: MachineVendors, mint: (kind: string) => string) => Answer;

const requireJson = ({ headers }: MachineCall): boolean => headers['content-type'] === 'application/json';
const requireForm = ({ headers }: MachineCall): boolean => /^application\/x-www-form-urlencoded(?:;|$)/.test(String(headers['content-type']));
/** As far as these fields are concerned, and no other field is sent. */
const isExactly = (body: Record<string, string>, wanted: Record<string, string>): boolean =>
  Object.keys(body).length === Object.keys(wanted).length && Object.entries(wanted).every(([name, value]) => body[name] === value);

const endpoints: Record<string, Endpoint> = {
  'POST /v1/oauth/token': (call, { trusted }, mint) => {
    const flags = String(call.headers['anthropic-beta']);
    if (!requireJson(call) || flags !== 'oauth-2025-04-20,oidc-federation-2026-04-01') return oauthRefusal('invalid_request');
    const wanted = {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: trusted,
      federation_rule_id: 'fdrl_1',
      organization_id: 'org_1',
      service_account_id: 'svac_1',
    };
    if (!isExactly(call.body, wanted)) return oauthRefusal('invalid_grant');
    return { status: 200, body: { access_token: mint('sk-ant-federated'), token_type: 'Bearer', expires_in: 600 } };
  },
  'POST /oauth/token': (call, { trusted }, mint) => {
    const wanted = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: trusted,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      identity_provider_id: 'idp_1',
      service_account_id: 'sa_1',
    };
    if (!requireJson(call) || !isExactly(call.body, wanted)) return oauthRefusal('invalid_grant');
    return { status: 200, body: { access_token: mint('alpha'), issued_token_type: 'urn:ietf:params:oauth:token-type:access_token', expires_in: 900 } };
  },
  'POST /': (call, { trusted }, mint) => {
    const { Action, Version, RoleArn, RoleSessionName, WebIdentityToken } = call.body;
    const refused = (code: string): Answer => ({
      status: 400,
      type: 'text/xml',
      body: `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>CANARY words</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
    });
    if (!requireForm(call) || call.headers.authorization !== undefined) return refused('MalformedQueryString');
    if (Action !== 'AssumeRoleWithWebIdentity' || Version !== '2011-06-15' || RoleSessionName !== 'model-gateway') return refused('InvalidAction');
    if (RoleArn !== 'arn:aws:iam::123456789012:role/bedrock') return refused('AccessDenied');
    if (WebIdentityToken !== trusted) return refused('InvalidIdentityToken');
    return {
      status: 200,
      type: 'text/xml',
      body: `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><AssumedRoleUser><AssumedRoleId>A:s</AssumedRoleId><Arn>arn:aws:sts::123456789012:assumed-role/bedrock/model-gateway</Arn></AssumedRoleUser><Credentials><AccessKeyId>ASIAEXAMPLE0000000001</AccessKeyId><SecretAccessKey>${mint('aws-secret')}</SecretAccessKey><SessionToken>${mint('aws-session')}</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></AssumeRoleWithWebIdentityResponse>`,
    };
  },
  'GET /container': ({ headers }, _vendors, mint) =>
    headers.authorization === 'pod-identity-token'
      ? {
          status: 200,
          body: {
            AccessKeyId: 'ASIAEXAMPLE0000000002',
            SecretAccessKey: mint('aws-secret'),
            Token: mint('aws-session'),
            Expiration: '2999-01-01T00:00:00Z',
            AccountId: '123456789012',
          },
        }
      : { status: 401, body: { code: 'AccessDenied' } },
  'PUT /latest/api/token': ({ headers }) =>
    headers['x-aws-ec2-metadata-token-ttl-seconds'] === undefined ? { status: 400, body: '' } : { status: 200, type: 'text/plain', body: 'imds-token' },
  'GET /latest/meta-data/iam/security-credentials/': ({ headers }) =>
    headers['x-aws-ec2-metadata-token'] === 'imds-token' ? { status: 200, type: 'text/plain', body: 'node-role' } : { status: 401, body: '' },
  'GET /latest/meta-data/iam/security-credentials/node-role': ({ headers }, _vendors, mint) =>
    headers['x-aws-ec2-metadata-token'] === 'imds-token'
      ? {
          status: 200,
          body: {
            Code: 'Success',
            Type: 'AWS-HMAC',
            LastUpdated: '2020-01-01T00:00:00Z',
            AccessKeyId: 'ASIAEXAMPLE0000000003',
            SecretAccessKey: mint('aws-secret'),
            Token: mint('aws-session'),
            Expiration: '2999-01-01T00:00:00Z',
          },
        }
      : { status: 401, body: '' },
  // Google's exchange of a service account's signed statement; the library knows one address of it, which the test's way out maps here.
  'POST /token': (call, _vendors, mint) => {
    const { grant_type, assertion = '' } = call.body;
    if (!requireForm(call) || grant_type !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return oauthRefusal('unsupported_grant_type');
    const claims = JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString() || '{}') as Record<string, unknown>;
    if (claims['iss'] !== 'robot@project.iam.gserviceaccount.com' || claims['scope'] !== 'https://www.googleapis.com/auth/cloud-platform')
      return oauthRefusal('invalid_grant');
    return { status: 200, body: { access_token: mint('ya29'), token_type: 'Bearer', expires_in: 3599 } };
  },
  'POST /v1/token': (call, { trusted }, mint) => {
    const { grant_type, audience, subject_token, subject_token_type, scope, requested_token_type } = call.body;
    const right =
      requireForm(call) &&
      grant_type === 'urn:ietf:params:oauth:grant-type:token-exchange' &&
      audience === '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster' &&
      subject_token_type === 'urn:ietf:params:oauth:token-type:jwt' &&
      requested_token_type === 'urn:ietf:params:oauth:token-type:access_token' &&
      scope === 'https://www.googleapis.com/auth/cloud-platform' &&
      subject_token === trusted;
    return right
      ? { status: 200, body: { access_token: mint('ya29-federated'), issued_token_type: requested_token_type, token_type: 'Bearer', expires_in: 3600 } }
      : oauthRefusal('invalid_grant');
  },
  'POST /tenant-1/oauth2/v2.0/token': (call, { trusted }, mint) => {
    const { grant_type, scope, client_id, client_secret, client_assertion, client_assertion_type } = call.body;
    if (!requireForm(call) || call.headers.authorization !== undefined) return oauthRefusal('invalid_request');
    if (grant_type !== 'client_credentials' || client_id !== 'app-1' || scope !== 'https://cognitiveservices.azure.com/.default')
      return oauthRefusal('unauthorized_client');
    const bySecret = client_secret === 'CANARY-client-secret' && client_assertion === undefined;
    const byToken =
      client_assertion === trusted && client_assertion_type === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' && client_secret === undefined;
    if (!bySecret && !byToken) return { status: 401, body: { error: 'invalid_client', error_description: 'CANARY: AADSTS7000215', error_codes: [7000215] } };
    return { status: 200, body: { token_type: 'Bearer', expires_in: 3599, ext_expires_in: 3599, access_token: mint('entra') } };
  },
  'GET /msi': ({ headers, path }, _vendors, mint) => {
    const query = new URL(path, 'http://h').searchParams;
    if (headers['x-identity-header'] !== 'app-service' || query.get('resource') !== 'https://cognitiveservices.azure.com') return { status: 400, body: {} };
    const token = mint('managed');
    return {
      status: 200,
      body: {
        access_token: token,
        expires_on: String(Math.floor(Date.now() / 1000) + 3600),
        resource: 'https://cognitiveservices.azure.com',
        token_type: 'Bearer',
        client_id: 'managed-1',
      },
    };
  },
};

export async function startMachineVendors(): Promise<MachineVendors> {
  let serial = 0;
  const mint = (kind: string): string => {
    const secret = `CANARY-${kind}-${++serial}-${'x'.repeat(12)}`;
    vendors.secrets.push(secret);
    return secret;
  };
  const server: Server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString('utf8');
      const isJson = request.headers['content-type'] === 'application/json';
      const body = (isJson ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))) as Record<string, string>;
      const { method = '', url: path = '' } = request;
      const call = { method, path, headers: request.headers, body };
      vendors.calls.push(call);
      const planned = vendors.next;
      vendors.next = undefined;
      const endpoint = endpoints[`${method} ${path.split('?')[0]}`];
      const { status, type = 'application/json', body: answer } = planned ?? endpoint?.(call, vendors, mint) ?? { status: 404, body: {} };
      const headers: Record<string, string> = status >= 300 && status < 400 ? { location: `${vendors.url}/elsewhere` } : { 'content-type': type };
      response.writeHead(status, headers).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    })();
  });
  const vendors: MachineVendors = { url: '', calls: [], trusted: identityToken('first'), next: undefined, secrets: [], close: () => close(server) };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vendors.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return vendors;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
