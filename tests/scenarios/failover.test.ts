/** What failover must not show and must not lose: quick next tries, keep-alives that committed first, headers and losses of the attempt before. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';

let first: FakeUpstream;
let second: FakeUpstream;
let gateway: InProcessGateway;
beforeAll(async () => {
  [first, second] = await Promise.all([startFakeUpstream(), startFakeUpstream()]);
  // Only who never answers is given little time: any other may be slow on a busy machine.
  const timeouts = { first_byte_ms: 400 };
  gateway = await startInProcess({
    edge: { keepAliveMs: 100 },
    upstreams: [
      { name: 'first', protocol: 'beta', base_url: first.url, api_keys: [{ key: 'key-of-first' }], custom_headers: { 'x-first': 'secret-of-first' } },
      { name: 'second', protocol: 'alpha', base_url: second.url, api_keys: [{ key: 'key-of-second' }] },
      { name: 'silent-first', protocol: 'beta', base_url: first.url, api_keys: [{ key: 'key-of-first' }], timeouts },
      { name: 'silent-second', protocol: 'alpha', base_url: second.url, api_keys: [{ key: 'key-of-second' }], timeouts },
    ],
    models: [
      ...['err:500', 'midstream-error'].map((script) => ({ name: `first-${script}`, upstream: 'first', upstream_model_id: script })),
      { name: 'first-hang', upstream: 'silent-first', upstream_model_id: 'hang' },
      { name: 'second-ok', upstream: 'second', upstream_model_id: 'ok' },
      { name: 'second-hang', upstream: 'silent-second', upstream_model_id: 'hang' },
    ],
    loadBalancers: [
      { name: 'after-500', strategy: 'priority', entries: [{ model: 'first-err:500' }, { model: 'second-ok' }] },
      { name: 'after-hang', strategy: 'priority', entries: [{ model: 'first-hang' }, { model: 'second-ok' }] },
      { name: 'all-hang', strategy: 'priority', entries: [{ model: 'first-hang' }, { model: 'second-hang' }] },
      { name: 'after-content', strategy: 'priority', entries: [{ model: 'first-midstream-error' }, { model: 'second-ok' }] },
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([first.close(), second.close()]);
});

async function ask(model: string, stream: boolean) {
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'nonce' }], logit_bias: { 1: 1 } }),
  });
  return { status: reply.status, text: await reply.text(), row: await gateway.row(reply.headers.get('x-request-id') ?? '') };
}

test('the next node is asked within 50 ms of the failure', async () => {
  await ask('after-500', false);
  // The quickest of some turns: what a busy machine adds says nothing of the way.
  let quickest = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 20 && quickest >= 50; turn++) {
    first.requests.length = 0;
    second.requests.length = 0;
    expect((await ask('after-500', false)).status).toBe(200);
    await first.requests[0]!.whenClosed;
    quickest = Math.min(quickest, second.requests[0]!.at - first.requests[0]!.closed!.at);
  }
  expect(quickest).toBeLessThan(50);
});

test('nothing of the first attempt goes to the second upstream, nor into the row but that it was made', async () => {
  second.requests.length = 0;
  const { row, status } = await ask('after-500', false);
  expect(status).toBe(200);
  const sent = JSON.stringify(second.requests[0]!.headers);
  expect(sent).toContain('key-of-second');
  for (const leaked of ['key-of-first', 'secret-of-first', 'x-api-key', 'anthropic-version']) expect(sent).not.toContain(leaked);
  expect(row).toMatchObject({ model: 'second-ok', upstream: 'second', upstream_protocol: 'alpha', upstream_model_id: 'ok' });
  // What the other protocol could not have carried was not lost in the end.
  expect(row.losses).toEqual([]);
  expect(row.attempts).toMatchObject([
    { upstream: 'first', status: 500 },
    { upstream: 'second', status: 200, error_code: null },
  ]);
  expect(row.ttfb_ms!).toBeGreaterThanOrEqual(row.attempts[0]!.duration_ms);
});

test('a keep-alive that committed the 200 does not end failover', async () => {
  const { status, text, row } = await ask('after-hang', true);
  expect([status, row.status, row.attempts.length]).toEqual([200, 200, 2]);
  expect(text).toContain(':keep-alive');
  expect(text).not.toContain('_gateway_warning');
  expect(text.match(/data: \[DONE\]/g)).toHaveLength(1);
});

test('all spent after a keep-alive: the stream ends in its own terms', async () => {
  const { status, text, row } = await ask('all-hang', true);
  expect([status, row.status, row.error_code, row.attempts.length]).toEqual([200, 200, 'no_upstream', 2]);
  expect(text).toContain('"_gateway_warning":{"reason":"no_upstream"');
  expect(text.match(/data: \[DONE\]/g)).toHaveLength(1);
  expect((await ask('all-hang', false)).status).toBe(503);
});

test('once there was content no other node is asked', async () => {
  second.requests.length = 0;
  const { status, text, row } = await ask('after-content', true);
  expect([status, row.attempts.length, second.requests.length]).toEqual([200, 1, 0]);
  expect(text).toContain('_gateway_warning');
});
