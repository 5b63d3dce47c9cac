/** Machine identities against strict counterparts of the five vendors' token endpoints, with the libraries that real gateways use. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { SsoProfileId } from '@model-gateway/contracts';
import { completeSettings, loginProfiles } from '@model-gateway/protocols/login';
import { createOutbound, type Outbound } from '@model-gateway/upstream-client';
import { silent } from '../../../packages/storage/test/engines.ts';
import { makeCertificate } from '../../../packages/upstream-client/test/certificates.ts';
import { createMachineGrants } from '../src/sso/grants/machine/index.ts';
import { createSendToken, createTokenHttp, type SendToken, TokenFault } from '../src/sso/token-http.ts';
import { type IssuedTokens, noTokens } from '../src/sso/tokens.ts';
import { type CertificateVendor, certificateSettings, startCertificateVendor } from './certificate-vendor.ts';
import { identityToken, type MachineVendors, startMachineVendors } from './machine-vendors.ts';

const timeouts = { connect_ms: 2_000, first_byte_ms: 5_000, idle_ms: 5_000, total_ms: 10_000 };
const folder = mkdtempSync(join(tmpdir(), 'gateway-machine-'));
const tokenFile = join(folder, 'token');
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

let vendors: MachineVendors;
let outbound: Outbound;
const environment = { ...process.env };
beforeAll(async () => {
  vendors = await startMachineVendors();
  outbound = createOutbound({ allowPrivate: true, timeouts, userAgent: 'test', logger: { ...silent, error: () => undefined } as never });
});
beforeEach(() => {
  vendors.calls.length = 0;
  vendors.trusted = identityToken('first');
  writeFileSync(tokenFile, `${vendors.trusted}\n`);
});
afterEach(() => {
  process.env = { ...environment };
});
afterAll(async () => {
  await outbound.close(0);
  await vendors.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The addresses that a library knows by heart are those of this machine here. */
const mapped: SendToken = (call) => createSendToken(outbound)({ ...call, url: call.url.replace('https://oauth2.googleapis.com', vendors.url) });

function renew(id: SsoProfileId, given: Record<string, string>): Promise<IssuedTokens> {
  const profile = loginProfiles[id];
  const grant = createMachineGrants(mapped)[profile.grant]!;
  const secrets = Object.fromEntries(Object.entries(given).filter(([name]) => profile.settings[name]?.secret));
  return grant({ profile, settings: completeSettings(profile, given), tokens: { ...noTokens, secrets }, http: createTokenHttp(outbound), now: Date.now });
}

interface Kind {
  id: SsoProfileId;
  settings: () => Record<string, string>;
  account: string | undefined;
  /** How a refusal is named. */
  refusal: string;
}

const role = 'arn:aws:iam::123456789012:role/bedrock';
const byFile: [string, Kind][] = [
  [
    'AWS role by web identity',
    {
      id: 'cloudhost_role',
      settings: () => ({ role_arn: role, token_file: tokenFile, sts_url: vendors.url }),
      account: role,
      refusal: 'InvalidIdentityTokenException',
    },
  ],
  [
    'Anthropic federation',
    {
      id: 'beta_workload',
      settings: () => ({
        token_url: `${vendors.url}/v1/oauth/token`,
        token_file: tokenFile,
        federation_rule_id: 'fdrl_1',
        organization_id: 'org_1',
        service_account_id: 'svac_1',
      }),
      account: 'svac_1',
      refusal: 'invalid_grant',
    },
  ],
  [
    'OpenAI federation',
    {
      id: 'alpha_workload',
      settings: () => ({ token_url: `${vendors.url}/oauth/token`, token_file: tokenFile, identity_provider_id: 'idp_1', service_account_id: 'sa_1' }),
      account: 'sa_1',
      refusal: 'invalid_grant',
    },
  ],
  [
    'Google workload identity',
    {
      id: 'gamma_cloud',
      settings: () => ({
        base_url: 'https://vertex.example',
        key_json: JSON.stringify({
          type: 'external_account',
          audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster',
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
          token_url: `${vendors.url}/v1/token`,
          credential_source: { file: tokenFile },
        }),
      }),
      account: undefined,
      refusal: 'invalid_grant',
    },
  ],
  [
    'Entra federated token',
    {
      id: 'entra',
      settings: () => ({
        source: 'federated_token',
        tenant_id: 'tenant-1',
        client_id: 'app-1',
        token_url: `${vendors.url}/tenant-1/oauth2/v2.0/token`,
        token_file: tokenFile,
        base_url: 'https://azure.example',
      }),
      account: 'tenant-1/app-1',
      refusal: 'invalid_client',
    },
  ],
];

describe.each(byFile)('%s', (_name, { id, settings, account, refusal }) => {
  const failure = async (): Promise<TokenFault> => {
    const error = await renew(id, settings()).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(TokenFault);
    expect((error as Error).message).not.toMatch(/CANARY|eyJ/);
    return error as TokenFault;
  };

  test('gives a token with its end, and reads the projected file for each exchange', async () => {
    const first = await renew(id, settings());
    expect(first.access_token).toMatch(/CANARY/);
    expect(first.access_token).toMatch(/^[\x21-\x7e]+$/);
    expect(first.expires_at).toBeGreaterThan(Date.now() + 500_000);
    expect(first.account).toBe(account);
    vendors.trusted = identityToken('second');
    writeFileSync(tokenFile, vendors.trusted);
    const second = await renew(id, settings());
    expect(second.access_token).not.toBe(first.access_token);
    expect(vendors.calls).toHaveLength(2);
  });

  test('a refusal is final and named by its code alone', async () => {
    vendors.trusted = identityToken('another');
    expect(await failure()).toMatchObject({ code: refusal, terminal: true });
    expect(vendors.calls).toHaveLength(1);
  });

  test('a vendor that is ill is asked once, and may be asked again later', async () => {
    vendors.next = { status: 503, body: {} };
    expect((await failure()).terminal).toBe(false);
    expect(vendors.calls).toHaveLength(1);
  });

  test('a redirect is not followed: the identity token goes nowhere else', async () => {
    vendors.next = { status: 307, body: '' };
    await failure();
    expect(vendors.calls.map(({ path }) => path)).not.toContain('/elsewhere');
    expect(vendors.calls).toHaveLength(1);
  });

  test('a file that is missing, too large, or no identity token is refused here, and sent to nobody', async () => {
    rmSync(tokenFile);
    expect(await failure()).toMatchObject({ code: 'identity_token', terminal: false });
    writeFileSync(tokenFile, `${identityToken('x')}${'A'.repeat(16 * 1024)}`);
    expect(await failure()).toMatchObject({ code: 'identity_token', terminal: true, message: expect.stringContaining('16 KiB') });
    for (const other of ['root:x:0:0:root:/root:/bin/sh\n', 'AAAABBBBCCCCDDDD', '', `${identityToken('x')} more`]) {
      writeFileSync(tokenFile, other);
      expect(await failure()).toMatchObject({ code: 'identity_token', terminal: true });
    }
    expect(vendors.calls).toEqual([]);
  });
});

const plain: [SsoProfileId, string, Record<string, string>][] = [
  ['cloudhost_role', 'sts_url', { role_arn: role }],
  ['beta_workload', 'token_url', { federation_rule_id: 'f', organization_id: 'o' }],
  ['alpha_workload', 'token_url', { identity_provider_id: 'i', service_account_id: 's' }],
  ['entra', 'token_url', { source: 'federated_token', tenant_id: 't', client_id: 'c' }],
];
test.each(plain)('%s is asked over https alone, except on this machine', async (id, setting, given) => {
  await expect(renew(id, { ...given, token_file: tokenFile, [setting]: 'http://vendor.example/token' })).rejects.toMatchObject({
    code: 'insecure_address',
    terminal: true,
  });
});

test('an address of a workload identity’s configuration is held to the same', async () => {
  const configuration = {
    type: 'external_account',
    audience: 'a',
    subject_token_type: 't',
    token_url: 'http://vendor.example/token',
    credential_source: { file: tokenFile },
  };
  await expect(renew('gamma_cloud', { base_url: 'https://v.example', key_json: JSON.stringify(configuration) })).rejects.toMatchObject({
    code: 'insecure_address',
  });
  const program = { ...configuration, credential_source: { executable: { command: '/bin/true' } } };
  await expect(renew('gamma_cloud', { base_url: 'https://v.example', key_json: JSON.stringify(program) })).rejects.toMatchObject({
    code: 'key_json',
    terminal: true,
  });
});

test('AWS: keys of a container and of an instance, from the addresses that the platform gives', async () => {
  writeFileSync(join(folder, 'pod'), 'pod-identity-token');
  process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = `${vendors.url}/container`;
  process.env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'] = join(folder, 'pod');
  process.env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] = vendors.url;
  process.env['AWS_EC2_METADATA_DISABLED'] = 'false';
  const container = await renew('cloudhost_role', { source: 'container' });
  expect(container.access_token).toMatch(/^ASIAEXAMPLE0000000002:CANARY-aws-secret[^:]+:CANARY-aws-session[^:]+$/);
  expect(container.expires_at).toBe(Date.parse('2999-01-01T00:00:00Z'));
  const instance = await renew('cloudhost_role', { source: 'instance' });
  expect(instance.access_token).toMatch(/^ASIAEXAMPLE0000000003:/);
});

test('Google: the key of a service account, and the default credentials of the place', async () => {
  const key = { type: 'service_account', client_email: 'robot@project.iam.gserviceaccount.com', private_key: privateKey, private_key_id: 'k1' };
  const given = { base_url: 'https://vertex.example' };
  const issued = await renew('gamma_cloud', { ...given, key_json: JSON.stringify(key) });
  expect(issued).toMatchObject({ access_token: expect.stringContaining('ya29'), account: key.client_email });
  expect(issued.expires_at).toBeGreaterThan(Date.now() + 3_000_000);
  writeFileSync(join(folder, 'adc.json'), JSON.stringify(key));
  process.env['GOOGLE_APPLICATION_CREDENTIALS'] = join(folder, 'adc.json');
  expect((await renew('gamma_cloud', given)).access_token).toContain('ya29');
  for (const wrong of ['CANARY no JSON', '{"type":"authorized_user"}', '{"type":"service_account","client_email":"x"}'])
    await expect(renew('gamma_cloud', { ...given, key_json: wrong })).rejects.toMatchObject({
      code: 'key_json',
      terminal: true,
      message: expect.not.stringContaining('CANARY'),
    });
});

describe('OpenAI federation by a certificate', () => {
  let vendor: CertificateVendor;
  beforeAll(async () => {
    vendor = await startCertificateVendor();
  });
  afterAll(() => vendor.close());
  const given = () => certificateSettings(vendor);

  test('the connection says who asks, and no identity token is sent', async () => {
    const issued = await renew('alpha_workload', given());
    expect(issued).toMatchObject({ access_token: 'CANARY-of-a-certificate', account: 'sa_1' });
    expect(issued.expires_at).toBeGreaterThan(Date.now() + 800_000);
    const body = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:openai:params:oauth:token-type:x509',
      identity_provider_id: 'idp_1',
      service_account_id: 'sa_1',
    };
    expect(vendor.asked).toEqual([{ subject: 'workload.test', body }]);
  });

  test('a certificate that is not trusted, or no pair with its key, gives nothing, and no key is repeated', async () => {
    const other = await makeCertificate('other.test');
    await expect(renew('alpha_workload', { ...given(), client_cert: other.cert, client_key: other.key })).rejects.toMatchObject({ code: 'unreachable' });
    for (const wrong of [{ client_key: other.key }, { client_cert: 'no PEM' }, { ca: 'no PEM' }])
      await expect(renew('alpha_workload', { ...given(), ...wrong })).rejects.toMatchObject({
        code: 'client_certificate',
        terminal: true,
        message: expect.not.stringContaining('BEGIN'),
      });
    const { client_cert: _cert, client_key: _key, ...without } = given();
    await expect(renew('alpha_workload', without)).rejects.toMatchObject({ code: 'client_certificate', terminal: true });
    await expect(renew('alpha_workload', { ...given(), source: 'nonsense' })).rejects.toMatchObject({ code: 'source', terminal: true });
    expect(vendor.asked).toHaveLength(1);
  });
});

test('Entra: the secret of an application, and a managed identity', async () => {
  const given = { base_url: 'https://azure.example', tenant_id: 'tenant-1', client_id: 'app-1', token_url: `${vendors.url}/tenant-1/oauth2/v2.0/token` };
  expect((await renew('entra', { ...given, client_secret: 'CANARY-client-secret' })).access_token).toContain('entra');
  await expect(renew('entra', { ...given, client_secret: 'wrong' })).rejects.toMatchObject({ code: 'invalid_client', terminal: true });
  await expect(renew('entra', given)).rejects.toMatchObject({ code: 'client_secret', terminal: true });
  process.env['IDENTITY_ENDPOINT'] = `${vendors.url}/msi`;
  process.env['IDENTITY_HEADER'] = 'app-service';
  const managed = await renew('entra', { base_url: 'https://azure.example', source: 'managed_identity' });
  expect(managed.access_token).toContain('managed');
  expect(managed.expires_at).toBeGreaterThan(Date.now() + 3_000_000);
  const again = await renew('entra', { base_url: 'https://azure.example', source: 'managed_identity' });
  expect(again.access_token).not.toBe(managed.access_token);
});
