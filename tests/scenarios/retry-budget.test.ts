/** What the budget of retries bounds: work that is done twice, not a way around a node that is down. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { type BrokenHosts, startBrokenHosts } from '../support/broken-hosts.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';

let fake: FakeUpstream;
let broken: BrokenHosts;
let gateway: InProcessGateway;
beforeAll(async () => {
  [fake, broken] = await Promise.all([startFakeUpstream(), startBrokenHosts()]);
  gateway = await startInProcess({
    retryBudget: { share: 0, floor: 0 },
    upstreams: [
      { name: 'up', protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'sk-0' }, { key: 'sk-1' }] },
      ...['down', 'dying'].map((name) => ({ name, protocol: 'alpha' as const, base_url: broken.refused, api_keys: [{ key: 'sk-0' }] })),
    ],
    models: [
      { name: 'ok', upstream: 'up', upstream_model_id: 'ok' },
      { name: 'ill', upstream: 'up', upstream_model_id: 'err:500' },
      { name: 'limited', upstream: 'up', upstream_model_id: 'err:429' },
      { name: 'down', upstream: 'down', upstream_model_id: 'ok' },
      { name: 'dying', upstream: 'dying', upstream_model_id: 'ok' },
      ...['ill', 'dying'].map((use_model) => ({
        name: `to-${use_model}`,
        upstream: 'up',
        upstream_model_id: 'ok',
        request_body_rules: [{ mode: 'switch-route' as const, when: [{ path: 'model' }], use_model }],
      })),
    ],
    loadBalancers: ['ill', 'limited', 'down', 'to-ill', 'to-dying'].map((first) => ({
      name: `after-${first}`,
      strategy: 'priority',
      entries: [{ model: first }, { model: 'ok' }],
    })),
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([fake.close(), broken.close()]);
});

async function ask(model: string) {
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  return { status: reply.status, row: await gateway.row(reply.headers.get('x-request-id') ?? '') };
}

test('with nothing left of it a node that cannot be reached is passed over all the same', async () => {
  const replies = await Promise.all(Array.from({ length: 20 }, () => ask('after-down')));
  expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(replies.some(({ row }) => row.attempts.length === 2)).toBe(true);
});

test('one that had the work is not followed by another, but its keys are all tried', async () => {
  for (const model of ['after-ill', 'after-limited']) {
    fake.requests.length = 0;
    const { status, row } = await ask(model);
    expect([model, status, row.attempts.map(({ key_index }) => key_index).sort()]).toEqual([model, 503, [0, 1]]);
    expect(fake.requests.map(({ json }) => json['model'])).toEqual(Array(2).fill(model === 'after-ill' ? 'err:500' : 'err:429'));
  }
});

test('nor is going on from where a rule sent a request, unless an upstream there has worked on it', async () => {
  expect((await ask('after-to-ill')).row).toMatchObject({ status: 503, error_code: 'no_upstream', attempts: [{ status: 500 }, { status: 500 }] });
  expect((await ask('after-to-dying')).row).toMatchObject({ status: 200, attempts: [{ upstream: 'dying' }, { upstream: 'up' }] });
  // Until its circuit opens.
  let { row } = await ask('to-dying');
  for (let asked = 0; row.error_code !== 'upstream_unavailable' && asked < 50; asked++) ({ row } = await ask('to-dying'));
  expect(row).toMatchObject({ status: 502, error_code: 'upstream_unavailable', attempts: [] });
  const { status, row: after } = await ask('after-to-dying');
  expect([status, after.attempts.at(-1)?.upstream]).toEqual([200, 'up']);
});
