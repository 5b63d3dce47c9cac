/** A configuration that is edited hundreds of times under load: every process follows within a second, and no request sees two states of it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, startGateway, type TestGateway } from '../support/gateway.ts';

/** `CHURN_EDITS=1000` makes it long. */
const edits = Number(process.env['CHURN_EDITS'] ?? 250);
const callers = 8;

describe.each(arrangements('configuration-churn'))('%s', (arrangement) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;

  beforeAll(async () => {
    fake = await startFakeUpstream();
    gateway = await startGateway({ arrangement, ...(arrangement === 'split' && { twice: ['edge', 'translator'] }) });
    await gateway.configure({
      upstreams: [
        { name: 'churned', protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'sk-fake' }], user_agent: 'rev-0', custom_headers: { 'x-rev': '0' } },
      ],
      models: [{ name: 'churned', upstream: 'churned', upstream_model_id: 'ok' }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });

  test('edit after edit', async () => {
    /** When the edit with this number was answered, in ms. */
    const committed = [performance.now()];
    const started = new Map<string, number>();
    let editing = true;
    const statuses = new Set<number>();
    const call = async (edge: string, id: string) => {
      started.set(id, performance.now());
      const reply = await fetch(`${edge}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'churned', user: id, messages: [{ role: 'user', content: 'x' }] }),
      });
      statuses.add(reply.status);
      await reply.arrayBuffer();
    };
    const load = Array.from({ length: callers }, async (_, caller) => {
      const edge = gateway.edgeUrls[caller % gateway.edgeUrls.length] as string;
      for (let n = 0; editing; n++) {
        await call(edge, `${caller}-${n}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
    for (let edit = 1; edit <= edits; edit++) {
      // Both stand in one commit: a request that shows two different ones has seen two states.
      const { status } = await gateway.console('PATCH', '/upstreams/churned', { user_agent: `rev-${edit}`, custom_headers: { 'x-rev': String(edit) } });
      expect(status).toBe(200);
      committed.push(performance.now());
    }
    editing = false;
    await Promise.all(load);
    expect([...statuses]).toEqual([200]);

    const late: number[] = [];
    for (const { headers, json } of fake.requests) {
      const id = String(json['user']);
      if (!started.has(id)) continue;
      const revision = Number(headers['x-rev']);
      expect({ id, agent: headers['user-agent'] }).toEqual({ id, agent: `rev-${revision}` });
      const next = committed[revision + 1];
      late.push(next === undefined ? 0 : Math.max(0, (started.get(id) as number) - next));
    }
    late.sort((one, other) => one - other);
    expect(late.length).toBeGreaterThan(100);
    expect(late[Math.floor(late.length * 0.99)]).toBeLessThan(1000);
  }, 400_000);
});
