/** A master key is replaced: what is saved again, whatever of it was sent, opens without the old one. */
import { expect, test } from '@jest/globals';
import { createKeyring, generateMasterKey, type Keyring } from '@model-gateway/secrets';
import { openStorage, type Storage } from '@model-gateway/storage';
import { makeCertificate } from '../../../packages/upstream-client/test/certificates.ts';
import { type Answer, api, type Harness, startConsole, startFreshConsole } from './harness.ts';

const silent = { info: () => undefined, warn: () => undefined };
const ok = (answer: Answer): Answer => {
  if (answer.status >= 300) throw new Error(`${answer.status}: ${answer.text}`);
  return answer;
};

type Work = (harness: Harness, storage: Storage) => Promise<void>;

/** A console under the old key with a secret in every place, and what `more` adds, then what `work` does under both keys. */
async function rotate(work: Work, more: Work = async () => undefined): Promise<{ storage: Storage; alone: Keyring }> {
  const [oldKey, newKey] = [`old:${generateMasterKey()}`, `new:${generateMasterKey()}`];
  const storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent });
  const { cert, key } = await makeCertificate('client');
  const before = await startConsole(storage, { keyring: createKeyring(oldKey) });
  ok(
    await before.call('POST', `${api}/upstreams`, {
      name: 'u',
      protocol: 'alpha',
      base_url: 'https://h',
      api_keys: [{ key: 'sk-one' }, { key: 'sk-two' }],
      custom_headers: { 'x-api-token': 'token-value', 'x-team': 'plain' },
      proxy: 'http://me:pass-word@proxy.example:3128',
      tls: { client_cert: cert, client_key: key },
    }),
  );
  ok(await before.call('POST', `${api}/key-groups`, { name: 'team' }));
  ok(await before.call('POST', `${api}/access-keys`, { name: 'ada', group: 'team' }));
  await more(before, storage);
  await before.close();
  const both = await startConsole(storage, { keyring: createKeyring(`${newKey},${oldKey}`) });
  await work(both, storage);
  await both.close();
  return { storage, alone: createKeyring(newKey) };
}

async function expectAllOpen(storage: Storage, keyring: Keyring): Promise<void> {
  const alone = await startConsole(storage, { keyring });
  const file = ok(await alone.call('GET', `${api}/export`)).body;
  const open = (text: string) => keyring.open(text.slice('enc:'.length), 'export');
  const [upstream] = file.upstreams;
  expect(upstream.api_keys.map(({ key }: { key: string }) => open(key))).toEqual(['sk-one', 'sk-two']);
  expect(upstream.custom_headers).toEqual({ 'x-api-token': expect.any(String), 'x-team': 'plain' });
  expect(open(upstream.custom_headers['x-api-token'])).toBe('token-value');
  expect(open(upstream.proxy)).toBe('http://me:pass-word@proxy.example:3128');
  expect(open(upstream.tls.client_key)).toContain('PRIVATE KEY');
  expect(open(file.access_keys[0].key)).toMatch(/^gk-/);
  await alone.close();
  await storage.close();
}

test.each([
  ['as it was shown', (shown: object) => shown],
  ['with nothing in it', () => ({})],
])('saved again %s, an upstream and a key need the old master key no more', async (_how, bodyOf) => {
  const { storage, alone } = await rotate(async ({ call }) => {
    for (const path of ['upstreams/u', 'access-keys/ada']) {
      const shown = ok(await call('GET', `${api}/${path}`)).body;
      const saved = ok(await call('PATCH', `${api}/${path}`, bodyOf(shown))).body;
      expect(saved.etag).not.toBe(shown.etag);
      // All is under the new key: nothing is left to renew.
      expect(ok(await call('PATCH', `${api}/${path}`, {})).body.etag).toBe(saved.etag);
    }
  });
  await expectAllOpen(storage, alone);
});

test('an export that is applied again renews them all', async () => {
  const { storage, alone } = await rotate(async ({ call }) => {
    const file = ok(await call('GET', `${api}/export`)).body;
    expect(ok(await call('POST', `${api}/import`, file)).body.updated).toMatchObject({ upstreams: ['u'], access_keys: ['ada'] });
    expect(ok(await call('POST', `${api}/import`, file)).body.updated).toMatchObject({ upstreams: [], access_keys: [] });
  });
  await expectAllOpen(storage, alone);
});

test('a seal whose master key is gone stays, and its upstream can be saved', async () => {
  const { storage, alone } = await rotate(async () => undefined);
  const before = (await storage.catalog.upstreams.find('u'))!.document;
  const { call, close } = await startConsole(storage, { keyring: alone });
  expect(ok(await call('PATCH', `${api}/upstreams/u`, { enabled: false })).body.enabled).toBe(false);
  expect((await storage.catalog.upstreams.find('u'))!.document).toEqual({ ...before, enabled: false });
  await close();
  await storage.close();
});

test('an export names what holds secrets whose master key is gone, and holds all else where masks are wanted', async () => {
  const { storage, alone } = await rotate(async () => undefined);
  const { call, close } = await startConsole(storage, { keyring: alone });
  ok(await call('POST', `${api}/access-keys`, { name: 'later', group: 'team' }));
  const refused = await call('GET', `${api}/export`);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict']);
  expect(refused.body.error.message).toContain('lost_secrets=mask');
  expect(refused.body.error.details).toEqual(
    ['upstreams.u', 'access_keys.ada'].map((field) => ({ field, message: expect.stringMatching(/^holds a secret that cannot be opened: .*"old"/) })),
  );
  const file = ok(await call('GET', `${api}/export?lost_secrets=mask`)).body;
  expect(file.upstreams[0]).toMatchObject({
    api_keys: [{ key: '********' }, { key: '********' }],
    custom_headers: { 'x-api-token': '********', 'x-team': 'plain' },
    proxy: 'http://********@proxy.example:3128',
    tls: { client_key: '********' },
  });
  expect(file.access_keys.map(({ key }: { key: string }) => key)).toEqual(['********', expect.stringMatching(/^enc:/)]);
  // Back where it comes from it changes nothing; elsewhere each secret is asked for.
  expect(ok(await call('POST', `${api}/import`, file)).body.total_changes).toBe(0);
  await close();
  await storage.close();
  const elsewhere = await startFreshConsole();
  const answer = await elsewhere.call('POST', `${api}/import`, { ...file, access_keys: [] });
  expect([answer.status, answer.body.error.details[0].field]).toEqual([422, expect.stringMatching(/^upstreams\.0\./)]);
  await elsewhere.close();
});

test('a webhook whose master key is gone is exported with the mask that an import takes as the stored address', async () => {
  const hook = { name: 'hook', kind: 'webhook', url: 'https://alerts.example.com/a-secret-path', events: ['ban'] };
  const { storage, alone } = await rotate(
    async () => undefined,
    async ({ call }) => void ok(await call('POST', `${api}/alert-channels`, hook)),
  );
  const { call, close } = await startConsole(storage, { keyring: alone });
  const file = ok(await call('GET', `${api}/export?lost_secrets=mask`)).body;
  expect(file.alert_channels[0].url).toBe(ok(await call('GET', `${api}/alert-channels/hook`)).body.url);
  expect(ok(await call('POST', `${api}/import`, file)).body.total_changes).toBe(0);
  await close();
  await storage.close();
});

test('a rollback to secrets whose master key is gone is refused by name, and nothing is changed', async () => {
  const { storage, alone } = await rotate(async ({ call }) => {
    ok(await call('PATCH', `${api}/key-groups/team`, { description: 'after' }));
    ok(await call('POST', `${api}/import`, ok(await call('GET', `${api}/export`)).body));
  });
  const sealed = (await storage.catalog.upstreams.find('u'))!.document.api_keys[0]!.sealed;
  const now = await storage.catalog.revision();
  const { call, close } = await startConsole(storage, { keyring: alone });
  for (const query of ['', '?dry_run=true']) {
    const refused = await call('POST', `${api}/history/${now - 2}/rollback${query}`);
    expect(refused.status).toBe(409);
    expect(refused.body.error.message).toContain('Add that key to GATEWAY_MASTER_KEY again');
    expect(refused.body.error.details).toEqual([
      { field: 'upstreams.u', message: 'holds secrets under the master key "old", which GATEWAY_MASTER_KEY does not have' },
      { field: 'access_keys.ada', message: 'holds secrets under the master key "old", which GATEWAY_MASTER_KEY does not have' },
    ]);
  }
  expect((await storage.catalog.upstreams.find('u'))!.document.api_keys[0]!.sealed).toBe(sealed);
  expect(await storage.catalog.revision()).toBe(now);
  // Rows that the rotation did not touch can be put back all the same.
  ok(await call('PATCH', `${api}/key-groups/team`, { description: 'later' }));
  ok(await call('POST', `${api}/history/${now}/rollback`));
  expect(ok(await call('GET', `${api}/key-groups/team`)).body.description).toBe('after');
  await close();
  await storage.close();
});
