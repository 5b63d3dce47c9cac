/** What alerts find to be the case: a login that ended, and budgets among thousands, each told by its highest level alone. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sampleGroup, sampleKey, sampleRow } from '../../../packages/storage/test/samples.ts';
import { budgets, endedLogins, expiringKeys, failingUpstreams, recovered } from '../src/alerts/conditions.ts';
import type { ConsoleContext } from '../src/context.ts';
import { noState, type StateName } from '../src/health/state-of-attempts.ts';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

let harness: FreshHarness;
let context: ConsoleContext;
beforeAll(async () => {
  harness = await startFreshConsole();
  context = { storage: harness.storage, now: Date.now } as unknown as ConsoleContext;
});
afterAll(() => harness.close());

test('a credential whose login ended is told by its name and kind, one that works is not', async () => {
  const common = { profile: 'cloudhost_ide', account: null, description: '', settings: {}, tokens: null, tokenId: null, lastError: null } as const;
  const times = { expiresAt: null, refreshAt: null };
  await harness.storage.ssoCredentials.insert({ id: 'c1', name: 'ended', state: 'needs_login', ...common, ...times });
  await harness.storage.ssoCredentials.insert({ id: 'c2', name: 'working', state: 'ok', ...common, ...times });
  expect(await endedLogins(context)).toMatchObject([
    { event: 'credential_needs_login', subject: 'ended', data: { credential: 'ended', profile: 'cloudhost_ide', state: 'needs_login' } },
  ]);
});

test('budgets from half of what they have, with what was spent and when', async () => {
  const budget = { limit: 1, period: 'month' as const, currency: 'USD' as const };
  await harness.storage.catalog.change(async (writer) => {
    await writer.keyGroups.insert('g1', sampleGroup({ name: 'team', budget: { ...budget, limit: 100 } }));
    for (const name of ['little', 'half', 'over'])
      await writer.accessKeys.insert(name, sampleKey({ name, group: 'team', hash: name.padStart(64, '0'), budget }));
  });
  const spend = (access_key: string, cost_micros: number) =>
    sampleRow({ id: access_key, access_key, key_group: 'team', started_at: Date.now(), cost_micros, currency: 'USD', authority: 2 });
  await harness.storage.requests.insertRows([spend('little', 499_999), spend('half', 500_000), spend('over', 1_500_000)]);
  const found = await budgets(context);
  expect(found.map(({ subject, data }) => [subject, data['threshold'], data['spent']])).toEqual([
    ['key over', 50, '1.5'],
    ['key over', 80, '1.5'],
    ['key over', 100, '1.5'],
    ['key half', 50, '0.5'],
  ]);
  expect(found[2]?.text).toContain('Its requests are refused.');
});

test('keys within a week of their end, not those that are over or disabled', async () => {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  await harness.storage.catalog.change(async (writer) => {
    for (const [at, [name, days, enabled]] of (
      [
        ['soon', 6, true],
        ['later', 8, true],
        ['gone', -1, true],
        ['off', 6, false],
      ] as const
    ).entries())
      await writer.accessKeys.insert(name, sampleKey({ name, group: 'team', hash: `e${at}`.padStart(64, '0'), expires_at: inDays(days), enabled }));
  });
  expect((await expiringKeys(context)).map(({ subject }) => subject)).toEqual(['soon']);
});

test('an upstream that nobody calls any more has not recovered; one that was switched off or deleted has its own words', async () => {
  const sample = { protocol: 'alpha', base_url: 'http://127.0.0.1:9', api_keys: [] };
  for (const name of ['failing', 'untried', 'well', 'off']) await harness.call('POST', `${api}/upstreams`, { name, ...sample, enabled: name !== 'off' });
  const status = { failing: 'failing', untried: 'idle', well: 'healthy', off: 'failing' } as Record<string, StateName>;
  const health = { attempts: async () => ({ upstream: (name: string) => noState(status[name] ?? 'unused') }) };
  const found = await failingUpstreams({ ...context, health } as unknown as ConsoleContext);
  expect(found.map(({ subject, undecided }) => [subject, undecided])).toEqual([
    ['failing', undefined],
    ['untried', true],
  ]);
  expect(await recovered(context, 'well')).toMatchObject({ title: 'Upstream well has recovered', data: { reason: 'recovered' } });
  expect(await recovered(context, 'off')).toMatchObject({ title: 'Upstream off is switched off', data: { reason: 'disabled' } });
  expect(await recovered(context, 'gone')).toMatchObject({ title: 'Upstream gone was deleted', data: { reason: 'deleted' } });
});
