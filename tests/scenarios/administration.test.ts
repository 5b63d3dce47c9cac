/** Administration through the whole gateway: every acknowledged change is in the audit log and in the history, and the data plane follows each commit. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { arrangements, startGateway, type TestGateway } from '../support/gateway.ts';

const until = async <T>(what: () => Promise<T | null | undefined | false>, ms = 30_000): Promise<T> => {
  const start = performance.now();
  for (;;) {
    const found = await what();
    if (found) return found;
    if (performance.now() - start > ms) throw new Error(`not within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

interface Item {
  action: string;
  actor: string;
  entity_type: string;
  entity_id: string;
  request_id: string | null;
  ip_address: string;
  diff: Record<string, unknown> | null;
}

describe.each(arrangements('administration'))('administration, %s', (arrangement) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ arrangement });
  });
  afterAll(() => gateway?.stop());

  const audit = async (query: string): Promise<Item[]> => (await gateway.console('GET', `/audit-logs?limit=500&${query}`)).body.items;
  const ask = (model: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}`, ...headers },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
    });

  test('twenty changes at once: twenty records when the last is answered, each with the id of its request', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `group-${index}`);
    const answers = await Promise.all(names.map((name) => gateway.console('POST', '/key-groups', { name }, { 'z-request-id': `for-${name}` })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
    const records = await until(async () => {
      const items = await audit('action=create&entity_type=key_group&actor=secret');
      const made = items.filter(({ entity_id }) => entity_id.startsWith('group-'));
      return made.length >= 20 && made;
    });
    expect(records.map(({ entity_id, request_id }) => `${entity_id} ${request_id}`).sort()).toEqual(names.map((name) => `${name} for-${name}`).sort());
    expect(records.every(({ ip_address }) => /127\.0\.0\.1|::1/.test(ip_address))).toBe(true);
  });

  test('callers who ask for what they may not use are told of, by a mask, once', async () => {
    await gateway.configure({
      upstreams: [{ name: 'up', protocol: 'alpha', base_url: 'http://127.0.0.1:9', api_keys: [{ key: 'k' }] }],
      models: [{ name: 'kept-from-all', upstream: 'up', upstream_model_id: 'x' }],
      key_groups: [{ name: 'everyone', models: ['nothing-*'] }],
    });
    const statuses = await Promise.all(Array.from({ length: 30 }, () => ask('kept-from-all', { 'z-request-id': 'caller-1' }).then(({ status }) => status)));
    expect(new Set(statuses)).toEqual(new Set([403]));
    const items = await until(async () => {
      const found = await audit('action=acl.violation');
      return found.length >= 30 && found;
    });
    // Each of them, with the key's name: the view folds them.
    expect(items).toHaveLength(30);
    expect(new Set(items.map(({ diff }) => diff?.access_key)).size).toBe(1);
    expect(items[0]).toMatchObject({ entity_type: 'model', entity_id: 'kept-from-all', request_id: 'caller-1', diff: { reason: 'model_not_granted' } });
    expect(items[0]?.actor).toBe(`api_key:${gateway.key.slice(0, 4)}****${gateway.key.slice(-4)}`);
  });

  test('rollback: the data plane is back where it was', async () => {
    const { body } = await gateway.console('GET', '/history?limit=1');
    expect((await ask('kept-from-all')).status).toBe(403);
    expect((await gateway.console('DELETE', '/models/kept-from-all')).status).toBe(204);
    await until(async () => (await ask('kept-from-all')).status === 404);
    const rolled = await gateway.console('POST', `/history/${body.revision}/rollback`);
    expect([rolled.status, rolled.body.total_changes > 0]).toEqual([200, true]);
    await until(async () => (await ask('kept-from-all')).status === 403);
    expect(await until(async () => (await audit('action=rollback'))[0])).toMatchObject({ entity_type: 'config', entity_id: String(body.revision) });
  });
});
