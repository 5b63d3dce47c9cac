/** Rows that an earlier version stored and today's checks would refuse: they stay editable in what is not at fault. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Storage } from '@model-gateway/storage';
import { type Answer, api, type FreshHarness, type Harness, seed, startFreshConsole } from './harness.ts';

let storage: Storage;
let harness: FreshHarness;
let call: Harness['call'];
beforeEach(async () => {
  harness = await startFreshConsole();
  ({ storage, call } = harness);
  await seed(harness);
});
afterEach(() => harness.close());

const verdict = ({ status, body }: Answer) => [status, (body?.error?.details ?? []).map(({ field }: { field: string }) => field)];
const accepted = [200, []];
const old = { async_mode: true, default_max_tokens: -1, passthrough_paths: 'files/*' };

/** Past the checks, as an earlier version did. */
const storeModel = (change: object) =>
  storage.catalog.change(async (writer) => {
    const stored = (await writer.models.find('fast'))!;
    await writer.models.update(stored, { ...stored.document, ...change });
  });
const storeUpstream = (change: object) =>
  storage.catalog.change(async (writer) => {
    const stored = (await writer.upstreams.find('main'))!;
    await writer.upstreams.update(stored, { ...stored.document, ...change });
  });

test('a fault that is stored already does not block other changes, alone, in a batch or in a file', async () => {
  await storeModel({ extra_config: old });
  await storeUpstream({ extra_config: { context_window: 5 }, custom_headers: { Host: 'x' } });
  expect(verdict(await call('PATCH', `${api}/models/fast`, { enabled: false }))).toEqual(accepted);
  expect(verdict(await call('PATCH', `${api}/upstreams/main`, { enabled: false }))).toEqual(accepted);
  const shown = (await call('GET', `${api}/models/fast`)).body;
  expect(shown).toMatchObject({ enabled: false, extra_config: old });
  expect(verdict(await call('PUT', `${api}/models/fast`, { ...shown, enabled: true }))).toEqual(accepted);
  const file = (await call('GET', `${api}/export`)).body;
  expect((await call('POST', `${api}/import`, file)).body.unchanged).toMatchObject({ upstreams: ['main'], models: ['fast'] });
});

test('a group keeps patterns that no tool matches until its lists are written', async () => {
  const mcp_tool_acl = { allowed_tools: ['*'], denied_tools: ['s1.get*'], allowed_tags: [] };
  await storage.catalog.change(async (writer) => {
    const stored = (await writer.keyGroups.find('team'))!;
    await writer.keyGroups.update(stored, { ...stored.document, mcp_tool_acl });
  });
  expect(verdict(await call('PATCH', `${api}/key-groups/team`, { description: 'x' }))).toEqual(accepted);
  const written = await call('PATCH', `${api}/key-groups/team`, { mcp_tool_acl: { ...mcp_tool_acl, allowed_tags: ['t'] } });
  expect(verdict(written)).toEqual([422, ['mcp_tool_acl.denied_tools.0']]);
  expect(written.text).toContain('*, server.*, *.tool or server.tool');
});

test('a field that is written must be right, also where it was wrong before', async () => {
  await storeModel({ extra_config: old });
  const kept = await call('PATCH', `${api}/models/fast`, { extra_config: { ...old, context_window: 5 } });
  expect(verdict(kept)).toEqual([422, ['extra_config.default_max_tokens', 'extra_config.passthrough_paths']]);
  expect(verdict(await call('PATCH', `${api}/models/fast`, { enabled: false, aliases: ['fast'] }))).toEqual([422, ['aliases.0']]);
  expect(verdict(await call('PATCH', `${api}/models/fast`, { upstream: 'nobody' }))).toEqual([422, ['upstream']]);
  expect(verdict(await call('PATCH', `${api}/models/fast`, { extra_config: {} }))).toEqual(accepted);
  expect(verdict(await call('POST', `${api}/models`, { name: 'new', upstream: 'main', upstream_model_id: 'x', extra_config: old }))[0]).toBe(422);
});

test('a fault of a field that stayed, brought about by another one, is new', async () => {
  expect(verdict(await call('PATCH', `${api}/models/fast`, { direct_path: true }))).toEqual([422, ['base_url']]);
  await storeModel({ base_url: 'https://h/v1?token=x' });
  expect(verdict(await call('PATCH', `${api}/models/fast`, { enabled: false }))).toEqual(accepted);
  expect(verdict(await call('PATCH', `${api}/models/fast`, { direct_path: true }))).toEqual([422, ['base_url']]);
});

test('a model whose upstream was given a protocol that does not know its kind stays editable', async () => {
  await storeModel({ kind: 'delta-rerank' });
  expect(verdict(await call('PATCH', `${api}/models/fast`, { aliases: ['swift'] }))).toEqual(accepted);
  expect(verdict(await call('PATCH', `${api}/upstreams/main`, { enabled: false }))).toEqual(accepted);
  expect(verdict(await call('PATCH', `${api}/models/fast`, { kind: 'delta-multimodal' }))).toEqual([422, ['kind']]);
  expect(verdict(await call('PATCH', `${api}/models/fast`, { protocol: 'beta' }))).toEqual([422, ['kind']]);
  expect(verdict(await call('PATCH', `${api}/models/fast`, { kind: null }))).toEqual(accepted);
});

test('a proxy that today would be refused stays until it is written', async () => {
  const proxy = { url: 'http://169.254.169.254:80', sealed: null };
  await storeUpstream({ proxy });
  expect(verdict(await call('PATCH', `${api}/upstreams/main`, { enabled: false }))).toEqual(accepted);
  expect((await storage.catalog.upstreams.find('main'))?.document.proxy).toEqual(proxy);
  expect(verdict(await call('PATCH', `${api}/upstreams/main`, { proxy: 'http://169.254.169.254:81' }))).toEqual([422, ['proxy']]);
});
