/** Proxy, DNS and TLS settings of upstreams through the API: sealed, masked, kept, moved by export and import. */
import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Storage } from '@model-gateway/storage';
import { makeCertificate } from '../../../packages/upstream-client/test/certificates.ts';
import { type Answer, api, type FreshHarness, type Harness, startFreshConsole } from './harness.ts';

let cert = '';
let key = '';
let otherKey = '';
beforeAll(async () => {
  ({ cert, key } = await makeCertificate('client'));
  ({ key: otherKey } = await makeCertificate('other'));
});

let storage: Storage;
let harness: FreshHarness;
let call: Harness['call'];
beforeEach(async () => {
  harness = await startFreshConsole();
  ({ storage, call } = harness);
});
afterEach(() => harness.close());

const upstream = { name: 'u', protocol: 'alpha', base_url: 'https://h', api_keys: [{ key: 'sk-x' }] };
const stored = async () => (await storage.catalog.upstreams.find('u'))!.document;
const field = (answer: { body: Answer['body'] }) => answer.body?.error?.details?.[0]?.field;

test('credentials go in, are sealed, and come out as masks alone', async () => {
  const made = await call('POST', `${api}/upstreams`, {
    ...upstream,
    proxy: 'SOCKS5h://me:s%40fe-word@Proxy.Example:1081/',
    dns: { servers: ['1.1.1.1', 'tls://dns.example', 'https://dns.example/q'], ttl_secs: 60 },
    tls: { ca: cert, client_cert: cert, client_key: key, min_version: '1.3', server_name: 'api.example' },
  });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  expect(made.body.proxy).toBe('socks5h://********@proxy.example:1081');
  expect(made.body.tls).toEqual({ ca: cert, client_cert: cert, client_key: '********', min_version: '1.3', server_name: 'api.example' });
  expect(made.body.dns).toEqual({ servers: ['1.1.1.1', 'tls://dns.example', 'https://dns.example/q'], ttl_secs: 60 });
  const before = await stored();
  expect(JSON.stringify(before)).not.toMatch(/s%40fe|s@fe|PRIVATE/);
  expect(harness.seen.join('\n')).not.toMatch(/fe-word|PRIVATE/);
  // A whole object may be sent back as it was shown, and other fields changed.
  expect((await call('PUT', `${api}/upstreams/u`, made.body)).status).toBe(200);
  expect((await call('PATCH', `${api}/upstreams/u`, { user_agent: 'me' })).status).toBe(200);
  expect((await call('PATCH', `${api}/upstreams/u`, { tls: { client_cert: cert, min_version: '1.2' } })).body.tls).toMatchObject({
    ca: null,
    client_key: '********',
    min_version: '1.2',
  });
  const after = await stored();
  expect([after.proxy, after.tls?.sealed_key]).toEqual([before.proxy, before.tls?.sealed_key]);
});

test('a mask does not take credentials to another proxy, nor a key to another certificate', async () => {
  await call('POST', `${api}/upstreams`, { ...upstream, proxy: 'http://me:pass@one.example:3128', tls: { client_cert: cert, client_key: key } });
  const moved = await call('PATCH', `${api}/upstreams/u`, { proxy: 'http://********@two.example:3128' });
  expect([moved.status, field(moved)]).toEqual([422, 'proxy']);
  const wrong = await call('PATCH', `${api}/upstreams/u`, { tls: { client_cert: cert, client_key: otherKey } });
  expect([wrong.status, field(wrong)]).toEqual([422, 'tls.client_key']);
  const alone = await call('PATCH', `${api}/upstreams/u`, { tls: { client_key: key } });
  expect([alone.status, field(alone)]).toEqual([422, 'tls.client_cert']);
  expect((await call('PATCH', `${api}/upstreams/u`, { proxy: 'http://two.example:3128', tls: null })).body).toMatchObject({
    proxy: 'http://two.example:3128',
    tls: null,
  });
  const bare = await stored();
  expect([bare.proxy, bare.tls]).toEqual([{ url: 'http://two.example:3128', sealed: null }, undefined]);
  expect((await call('PATCH', `${api}/upstreams/u`, { proxy: '' })).body.proxy).toBeNull();
});

test('export seals them, import takes them back', async () => {
  await call('POST', `${api}/upstreams`, { ...upstream, proxy: 'http://me:pass-word@one.example:3128', tls: { client_cert: cert, client_key: key } });
  const file = await call('GET', `${api}/export`);
  expect(file.text).not.toMatch(/pass-word|PRIVATE/);
  expect(file.body.upstreams[0]).toMatchObject({ proxy: expect.stringMatching(/^enc:/), tls: { client_key: expect.stringMatching(/^enc:/) } });
  const again = await call('POST', `${api}/import`, file.body);
  expect([again.status, again.body]).toMatchObject([200, { unchanged: { upstreams: ['u'] } }]);
  await call('DELETE', `${api}/upstreams/u`);
  expect((await call('POST', `${api}/import`, file.body)).status).toBe(200);
  expect((await call('GET', `${api}/upstreams/u`)).body).toMatchObject({ proxy: 'http://********@one.example:3128', tls: { client_key: '********' } });
  const { proxy } = await stored();
  const row = await storage.catalog.upstreams.find('u');
  expect(harness.keyring.open(proxy!.sealed!, `upstreams/${row!.id}/proxy`)).toBe('me:pass-word');
});
