/** Search providers and the one search configuration: sealed keys, money, links, history, export. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sealedAs } from '@model-gateway/contracts';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

let harness: FreshHarness;
beforeAll(async () => {
  harness = await startFreshConsole();
});
afterAll(() => harness.close());

const providers = `${api}/search-providers`;
const config = `${api}/search-config`;
const audited = async () =>
  (await harness.call('GET', `${api}/audit-logs?limit=100`)).body.items
    .map(({ action, entity_type, entity_id }: Record<string, string>) => `${action} ${entity_type} ${entity_id}`)
    .reverse();

test('a provider is stored with its key sealed, shown with a mask, and kept when the mask comes back', async () => {
  const made = await harness.call('POST', providers, { name: 'brave', kind: 'brave', api_key: 'BSA-the-real-key', price_per_search: '0.005' });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ base_url: null, api_key: '********', price_per_search: '0.005', currency: 'USD', enabled: true });
  const [row] = (await harness.storage.catalog.load()).search_providers ?? [];
  expect(row).toMatchObject({ name: 'brave', price_per_search: 5_000 });
  expect(JSON.stringify(row)).not.toContain('BSA-the-real-key');
  expect(harness.keyring.open(row?.sealed_key ?? '', sealedAs.searchProviderKey(row?.id ?? ''))).toBe('BSA-the-real-key');
  // A seal belongs to its place: it opens neither as another provider's key nor as an upstream's.
  expect(() => harness.keyring.open(row?.sealed_key ?? '', sealedAs.searchProviderKey('other'))).toThrow();
  expect(() => harness.keyring.open(row?.sealed_key ?? '', sealedAs.upstreamProxy(row?.id ?? ''))).toThrow();

  const kept = await harness.call('PUT', `${providers}/brave`, { ...made.body, etag: undefined, price_per_search: '0.01' });
  expect([kept.status, kept.body.price_per_search, kept.body.api_key]).toEqual([200, '0.01', '********']);
  expect((await harness.storage.catalog.load()).search_providers?.[0]?.sealed_key).toBe(row?.sealed_key);
  // A key does not follow to another address, and it can be taken away.
  const moved = await harness.call('PATCH', `${providers}/brave`, { base_url: 'https://elsewhere.example/search' });
  expect([moved.status, moved.body.error.details[0].field]).toEqual([422, 'api_key']);
  const bare = await harness.call('PATCH', `${providers}/brave`, { api_key: null });
  expect(bare.body.api_key).toBeNull();
});

test.each([
  [{ kind: 'searxng' }, 'base_url'],
  [{ kind: 'http' }, 'base_url'],
  [{ kind: 'bing' }, 'kind'],
  [{ kind: 'http', base_url: 'ftp://x.example/' }, 'base_url'],
  [{ kind: 'http', base_url: 'http://169.254.169.254/latest' }, 'base_url'],
  [{ kind: 'http', base_url: 'https://x.example/?key=abc' }, 'base_url'],
  [{ kind: 'brave', price_per_search: 0.005 }, 'price_per_search'],
  [{ kind: 'brave', price_per_search: '-1' }, 'price_per_search'],
  [{ kind: 'brave', api_key: 'two words' }, 'api_key'],
  [{ kind: 'brave', api_key: '********' }, 'api_key'],
])('refuses %j and names the field', async (body, field) => {
  const refused = await harness.call('POST', providers, { name: 'p', ...body });
  expect([refused.status, refused.body.error.details[0].field]).toEqual([422, field]);
});

test('the configuration has defaults, merges, checks its provider, and keeps it from being deleted', async () => {
  const before = await harness.call('GET', config);
  expect(before.body).toEqual({
    default_provider: null,
    max_uses: 5,
    max_rounds: 8,
    max_results: 8,
    timeout_ms: 20_000,
    fetch_enabled: true,
    fetch_max_bytes: 2_097_152,
    fetch_max_chars: 100_000,
    fetch_max_redirects: 5,
    etag: '0',
  });
  const unknown = await harness.call('PUT', config, { default_provider: 'nobody' });
  expect([unknown.status, unknown.body.error.details[0].field]).toEqual([422, 'default_provider']);
  expect((await harness.call('PUT', config, { default_provider: 'brave', etag: '7' })).status).toBe(412);
  const set = await harness.call('PUT', config, { default_provider: 'brave', max_uses: 3, etag: '0' });
  expect(set.body).toMatchObject({ default_provider: 'brave', max_uses: 3, max_rounds: 8 });
  expect((await harness.call('PATCH', config, { max_uses: 0 })).status).toBe(422);
  const merged = await harness.call('PATCH', config, { max_rounds: 2, max_uses: null });
  expect(merged.body).toMatchObject({ default_provider: 'brave', max_uses: 5, max_rounds: 2 });
  expect((await harness.call('GET', config)).body).toEqual(merged.body);
  const kept = await harness.call('DELETE', `${providers}/brave`);
  expect([kept.status, kept.body.error.code]).toEqual([422, 'in_use']);
  const records = await audited();
  expect(records).toContain('create search_provider brave');
  expect(records).toContain('update search_config default');
  const [second, first] = (await harness.call('GET', `${api}/audit-logs?entity_type=search_config`)).body.items;
  expect(first.diff).toEqual({ default_provider: { before: null, after: 'brave' }, max_uses: { before: 5, after: 3 } });
  expect(second.diff).toEqual({ max_uses: { before: 3, after: 5 }, max_rounds: { before: 8, after: 2 } });
});

test('both are exported with the key sealed, imported again, and put back by the history', async () => {
  await harness.call('PATCH', `${providers}/brave`, { api_key: 'BSA-another' });
  const file = (await harness.call('GET', `${api}/export`)).body;
  expect(file.search_providers[0].api_key).toMatch(/^enc:/);
  expect(file.search_config).toEqual([expect.objectContaining({ name: 'default', default_provider: 'brave' })]);
  const { search_providers, search_config } = file;
  const again = await harness.call('POST', `${api}/import`, { search_providers, search_config });
  expect(again.body.unchanged).toMatchObject({ search_providers: ['brave'], search_config: ['default'] });
  const revision = await harness.storage.catalog.revision();
  await harness.call('PATCH', config, { default_provider: null });
  expect((await harness.call('DELETE', `${providers}/brave`)).status).toBe(204);
  const back = await harness.call('POST', `${api}/history/${revision}/rollback`);
  expect(back.status).toBe(200);
  const rows = await harness.storage.catalog.load();
  expect(rows.search_config?.[0]?.default_provider).toBe('brave');
  const [row] = rows.search_providers ?? [];
  expect(harness.keyring.open(row?.sealed_key ?? '', sealedAs.searchProviderKey(row?.id ?? ''))).toBe('BSA-another');
  expect((await harness.call('POST', `${api}/import`, { search_config: [{ default_provider: 'x', name: 'default' }] })).status).toBe(422);
});
