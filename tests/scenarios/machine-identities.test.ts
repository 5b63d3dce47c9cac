/** Upstreams whose credential is the identity of the place where the gateway runs: each call carries it as the vendor wants it, and the tokens stand nowhere. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { certificateSettings, startCertificateVendor } from '../../services/console/test/certificate-vendor.ts';
import { identityToken, type MachineVendors, startMachineVendors } from '../../services/console/test/machine-vendors.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';

interface Received {
  url: string;
  headers: IncomingHttpHeaders;
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const chat = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage,
};
/** What services answer, by the end of their paths. */
const answers: [RegExp, object][] = [
  [
    /\/converse$/,
    {
      output: { message: { role: 'assistant', content: [{ text: 'hello' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    },
  ],
  [
    /:generateContent$/,
    {
      candidates: [{ content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
  ],
  [
    /\/messages$|:rawPredict$/,
    {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  ],
  [/\/chat\/completions$/, chat],
];

describe.each(arrangements('machine identities'))('%s', (arrangement) => {
  let vendors: MachineVendors;
  let service: Server;
  let gateway: TestGateway;
  const received: Received[] = [];
  const seen: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'gateway-identity-'));
  const tokenFile = join(folder, 'token');

  beforeAll(async () => {
    vendors = await startMachineVendors();
    writeFileSync(tokenFile, vendors.trusted);
    service = createServer((request, response) => {
      request.resume();
      const url = request.url ?? '';
      received.push({ url, headers: request.headers });
      const answer = answers.find(([end]) => end.test(url))?.[1];
      response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? {}));
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const gates = ['cloudhost_role', 'beta_workload', 'alpha_workload', 'gamma_cloud', 'entra'];
    gateway = await startGateway({ arrangement, toml: Object.fromEntries(gates.map((id) => [`sso.profiles.${id}`, { enabled: true }])) });
    const project = `${base}/v1/projects/p/locations/l/publishers/google`;
    const federation = {
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${vendors.url}/v1/token`,
      credential_source: { file: tokenFile },
    };
    const entra = { tenant_id: 'tenant-1', client_id: 'app-1', client_secret: 'CANARY-client-secret', token_url: `${vendors.url}/tenant-1/oauth2/v2.0/token` };
    const made: [string, Record<string, string>, object][] = [
      [
        'cloudhost_role',
        { role_arn: 'arn:aws:iam::123456789012:role/bedrock', token_file: tokenFile, sts_url: vendors.url, region: 'eu-west-1' },
        { base_url: base },
      ],
      [
        'beta_workload',
        {
          token_url: `${vendors.url}/v1/oauth/token`,
          token_file: tokenFile,
          federation_rule_id: 'fdrl_1',
          organization_id: 'org_1',
          service_account_id: 'svac_1',
        },
        { base_url: base },
      ],
      [
        'alpha_workload',
        { token_url: `${vendors.url}/oauth/token`, token_file: tokenFile, identity_provider_id: 'idp_1', service_account_id: 'sa_1' },
        { base_url: base, protocol: 'alpha' },
      ],
      ['gamma_cloud', { key_json: JSON.stringify(federation), quota_project: 'billed', base_url: project }, {}],
      ['entra', { ...entra, base_url: base }, {}],
    ];
    for (const [profile, settings, upstream] of made) {
      const answer = await gateway.console('POST', '/sso-credentials/import', { name: profile, profile, settings, upstream: { name: profile, ...upstream } });
      expect([profile, answer.status, answer.body.upstream_error]).toEqual([profile, 201, null]);
      seen.push(JSON.stringify(answer.body));
    }
    const claude = { key_json: JSON.stringify(federation), base_url: `${base}/v1/projects/p/locations/l/publishers/anthropic` };
    const wanted = { name: 'claude', profile: 'gamma_cloud', settings: claude, upstream: { name: 'claude', protocol: 'beta' } };
    const answer = await gateway.console('POST', '/sso-credentials/import', wanted);
    expect([answer.status, answer.body.upstream_error]).toEqual([201, null]);
    await gateway.configure({ models: [...gates, 'claude'].map((name) => ({ name, upstream: name, upstream_model_id: 'm' })) });
  });
  afterAll(async () => {
    await gateway?.stop();
    service?.closeAllConnections();
    service?.close();
    await vendors?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = async (model: string): Promise<Received> => {
    received.length = 0;
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    const text = await answer.text();
    seen.push(text);
    expect([model, answer.status, text.includes('hello')]).toEqual([model, 200, true]);
    return received[0]!;
  };
  const bearer = (kind: string) => expect.stringMatching(new RegExp(`^Bearer CANARY-${kind}-`));

  test('AWS: the call is signed with the temporary keys', async () => {
    const { headers } = await ask('cloudhost_role');
    expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=ASIAEXAMPLE0000000001\/\d{8}\/eu-west-1\/bedrock\/aws4_request/);
    expect(headers['x-amz-security-token']).toMatch(/^CANARY-aws-session/);
  });

  test('Anthropic: a bearer, with the flags that belong to it', async () => {
    const { headers } = await ask('beta_workload');
    expect(headers).toMatchObject({ authorization: bearer('sk-ant-federated'), 'anthropic-beta': 'oauth-2025-04-20,oidc-federation-2026-04-01' });
    expect(headers['x-api-key']).toBeUndefined();
  });

  test('OpenAI and Azure: a bearer', async () => {
    expect((await ask('alpha_workload')).headers).toMatchObject({ authorization: bearer('alpha') });
    expect((await ask('entra')).headers).toMatchObject({ authorization: bearer('entra') });
  });

  test('Google: a bearer instead of a key, below the project, with the project that is billed', async () => {
    const { url, headers } = await ask('gamma_cloud');
    expect(url).toBe('/v1/projects/p/locations/l/publishers/google/models/m:generateContent');
    expect(headers).toMatchObject({ authorization: bearer('ya29-federated'), 'x-goog-user-project': 'billed' });
    expect(headers['x-goog-api-key']).toBeUndefined();
  });

  test('Google for Claude: the same token, and the publisher’s path', async () => {
    const { url, headers } = await ask('claude');
    expect(url).toBe('/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict');
    expect(headers).toMatchObject({ authorization: bearer('ya29-federated') });
    expect(headers['x-api-key']).toBeUndefined();
  });

  test('a certificate: token and call go over connections that show it, and without it the token is worth nothing', async () => {
    const vendor = await startCertificateVendor();
    try {
      const origin = new URL(vendor.url).origin;
      const upstream = { name: 'certified', protocol: 'alpha', base_url: `${origin}/v1` };
      const given = { name: 'certified', profile: 'alpha_workload', settings: certificateSettings(vendor), upstream };
      const made = await gateway.console('POST', '/sso-credentials/import', given);
      expect([made.status, made.body.upstream_error]).toEqual([201, null]);
      seen.push(JSON.stringify(made.body));
      const bare = {
        name: 'bare',
        protocol: 'alpha' as const,
        base_url: `${origin}/v1`,
        api_keys: [],
        sso_credential: 'certified',
        tls: { ca: vendor.server.cert },
      };
      await gateway.configure({
        upstreams: [bare],
        models: ['certified', 'bare'].map((name) => ({ name, upstream: name, upstream_model_id: 'm' })),
      });
      const call = async (model: string): Promise<number> => {
        const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
        });
        seen.push(await answer.text());
        return answer.status;
      };
      expect(await call('certified')).toBe(200);
      expect(vendor.asked[0]).toMatchObject({ subject: 'workload.test' });
      expect(vendor.calls).toEqual([{ subject: 'workload.test', authorization: 'Bearer CANARY-of-a-certificate' }]);
      // The same token on a connection that shows nothing is not even heard.
      expect(await call('bare')).toBe(502);
      expect(vendor.calls).toHaveLength(1);
      expect(seen.join('')).not.toContain('PRIVATE KEY');
    } finally {
      await vendor.close();
    }
  });

  test('an identity that is trusted no more asks for repair, and a refresh after that brings it back', async () => {
    vendors.trusted = identityToken('second');
    const refused = await gateway.console('POST', '/sso-credentials/beta_workload/refresh');
    expect([refused.status, refused.body.error.message]).toEqual([502, 'The vendor refused (invalid_grant).']);
    const shown = async () => (await gateway.console('GET', '/sso-credentials/beta_workload')).body;
    expect(await shown()).toMatchObject({ state: 'needs_login', way_out: 'Repair the identity or its settings, then refresh it.' });
    await until(
      async () => (await gateway.console('GET', '/upstreams/beta_workload')).body.unavailable === 'sso_needs_login',
      'the upstream to be out of routing',
    );
    writeFileSync(tokenFile, vendors.trusted);
    expect((await gateway.console('POST', '/sso-credentials/beta_workload/refresh')).status).toBe(200);
    expect(await shown()).toMatchObject({ state: 'ok', account: 'svac_1', tokens: '********' });
    await until(async () => (await gateway.console('GET', '/upstreams/beta_workload')).body.unavailable === null, 'the upstream to be back');
    await gateway.settle();
    await ask('beta_workload');
  });

  test('no token stands in an answer, a row, a record, an export or a log', async () => {
    for (const path of ['/sso-credentials', '/export', '/audit-logs?limit=100', '/logs?limit=100', '/history?limit=50'])
      seen.push(JSON.stringify((await gateway.console('GET', path)).body));
    for (const process of Object.values(gateway.processes)) seen.push(...process.logs());
    expect(seen.filter((text) => text.includes('CANARY') || text.includes(vendors.trusted))).toEqual([]);
  });
});
