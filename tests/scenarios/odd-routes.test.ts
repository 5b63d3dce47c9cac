/** Configurations that leave little to choose from, and edits in the middle of a request: every caller gets an answer, and the right one. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;
const keys = { brief: mintAccessKey(), odd: mintAccessKey(), spent: mintAccessKey() };

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startGateway({ arrangement: 'embedded' });
  const url = upstream.url;
  await gateway.configure({
    upstreams: [
      { name: 'fake', protocol: 'alpha', base_url: url, api_keys: [{ key: 'sk-fake' }] },
      {
        name: 'standbys',
        protocol: 'alpha',
        base_url: url,
        api_keys: [
          { key: 'first-standby', weight: 0 },
          { key: 'second-standby', weight: 0 },
        ],
      },
      { name: 'switched', protocol: 'alpha', base_url: url, api_keys: [{ key: 'sk-switched' }] },
      {
        name: 'narrow',
        protocol: 'alpha',
        base_url: url,
        api_keys: [{ key: 'sk-narrow' }],
        rate_limit: { max_concurrency: 1, wait_timeout_secs: 20 },
      },
      {
        name: 'named',
        protocol: 'alpha',
        base_url: url,
        api_keys: [{ key: 'sk-named' }],
        custom_headers: { 'x-caller': '{{header:x-nobody-sent | header:x-team | request_id}}', 'x-fixed': 'yes' },
      },
    ],
    models: [
      { name: 'a', upstream: 'fake', upstream_model_id: 'text:2' },
      { name: 'b', upstream: 'fake', upstream_model_id: 'text:3' },
      { name: 'off', upstream: 'fake', upstream_model_id: 'text:3', enabled: false },
      { name: 'standbys', upstream: 'standbys', upstream_model_id: 'text:2' },
      { name: 'switched', upstream: 'switched', upstream_model_id: 'text:40+slow:25' },
      { name: 'narrow', upstream: 'narrow', upstream_model_id: 'text:40+slow:25' },
      { name: 'named', upstream: 'named', upstream_model_id: 'text:1' },
      { name: 'limited', upstream: 'fake', upstream_model_id: 'err:429:rate_limit_exceeded:7' },
    ],
    load_balancers: [
      {
        name: 'all-standby',
        entries: [
          { model: 'b', weight: 0 },
          { model: 'a', weight: 0 },
        ],
      },
      { name: 'all-off', entries: [{ model: 'off' }, { model: 'a', enabled: false }] },
      { name: 'asleep', entries: [{ model: 'a' }], enabled: false },
    ],
    access_keys: [
      { name: 'brief', group: 'everyone', key: keys.brief },
      { name: 'spent', group: 'everyone', key: keys.spent, budget: { limit: 0, period: 'month' } },
      { name: 'odd', group: 'everyone', key: keys.odd, budget: { limit: 0.5, period: 'day' } },
    ],
  });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream.close();
});

const ask = (model: string, { key = gateway.key, stream = false, body = {} as object, headers = {} as Record<string, string> } = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
const edit = async (path: string, body: object) => {
  expect((await gateway.console('PATCH', path, body)).status).toBe(200);
  await gateway.settle();
};

test('only standbys: keys and entries are tried in their order', async () => {
  expect((await ask('standbys')).status).toBe(200);
  expect(upstream.requests.at(-1)!.headers.authorization).toBe('Bearer first-standby');
  const reply = await ask('all-standby');
  expect([reply.status, (await gateway.row(reply.headers.get('x-request-id')!)).model]).toEqual([200, 'b']);
});

test.each([
  ['all-off', 503, 'no_upstream'],
  ['asleep', 404, 'model_not_found'],
  ['off', 404, 'model_not_found'],
])('nothing is left: %s is %i %s', async (model, status, code) => {
  const reply = await ask(model);
  expect([reply.status, await reply.json()]).toEqual([status, { error: expect.objectContaining({ code }) }]);
});

test('an upstream that is disabled during a reply: it goes on to its end, the next request is refused', async () => {
  const reply = await ask('switched', { stream: true });
  expect(reply.status).toBe(200);
  await edit('/upstreams/switched', { enabled: false });
  const text = await reply.text();
  expect([text.includes('word39'), text.includes('[DONE]'), text.includes('_gateway_warning')]).toEqual([true, true, false]);
  expect((await ask('switched')).status).toBe(503);
});

test('an access key that is deleted during a reply: it goes on to its end, the next request is a 401', async () => {
  const reply = await ask('b', { key: keys.brief, stream: true });
  expect((await gateway.console('DELETE', '/access-keys/brief')).status).toBe(204);
  await gateway.settle();
  expect(await reply.text()).toContain('[DONE]');
  expect((await ask('a', { key: keys.brief })).status).toBe(401);
});

test.each([
  ['raised', { max_concurrency: 10, wait_timeout_secs: 20 }],
  ['taken away', null],
])('a limit that is %s while callers stand in line: those who come after it do not wait, nobody is lost', async (_what, rate_limit) => {
  await edit('/upstreams/narrow', { rate_limit: { max_concurrency: 1, wait_timeout_secs: 20 } });
  const first = ask('narrow', { stream: true });
  await until(async () => upstream.requests.at(-1)?.json['model'] === 'text:40+slow:25', 'the first call');
  const waiting = ask('narrow', { stream: true });
  await edit('/upstreams/narrow', { rate_limit });
  const late = await ask('narrow', { stream: true });
  expect(late.status).toBe(200);
  const texts = await Promise.all([first, waiting, Promise.resolve(late)].map(async (reply) => (await reply).text()));
  for (const text of texts) expect(text).toContain('[DONE]');
});

test('header templates: the first value that is there, and no header at all without one', async () => {
  await ask('named', { headers: { 'x-team': 'blue' } });
  expect(upstream.requests.at(-1)!.headers).toMatchObject({ 'x-caller': 'blue', 'x-fixed': 'yes' });
  await ask('named', { headers: { 'z-request-id': 'mine' } });
  expect(upstream.requests.at(-1)!.headers['x-caller']).toBe('mine');
  await ask('named');
  expect(upstream.requests.at(-1)!.headers['x-caller'] ?? '').toBe('');
});

test('an upstream that asks to wait is believed, and its own words go to the caller of a single model', async () => {
  const reply = await ask('limited');
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '7']);
});

test('figures that make no sense reserve what the model writes, and are judged by who reads them', async () => {
  for (const body of [{ max_tokens: -5 }, { max_tokens: '10' }, { n: 1e300, max_tokens: 1 }, { max_completion_tokens: [1] }, { max_tokens: 1e308 }]) {
    const reply = await ask('a', { key: keys.odd, body });
    expect([200, 400]).toContain(reply.status);
    await reply.text();
  }
  const twice = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': keys.odd, 'content-type': 'application/json' },
    body: '{"model":"a","max_tokens":1,"max_tokens":99999,"messages":[{"role":"user","content":"hi"}]}',
  });
  expect(twice.status).toBe(400);
  const reserved = async () =>
    (await gateway.console('GET', '/rate-limit-status')).body.budgets.find(({ name }: { name: string }) => name === 'odd').reserved_micros;
  await until(async () => (await reserved()) === 0, 'nothing to stay reserved');
});

test.each([
  ['/v1/chat/completions', { model: 'a', messages: [{ role: 'user', content: 'x' }] }],
  ['/v1/completions', { model: 'a', prompt: 'x' }],
  ['/v1/messages', { model: 'a', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }],
  ['/v1/responses', { model: 'a', input: 'x' }],
  ['/v1beta/models/a:generateContent', { contents: [{ role: 'user', parts: [{ text: 'x' }] }] }],
])('37: no route goes around a budget (%s)', async (path, body) => {
  const before = upstream.requests.length;
  const reply = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': keys.spent, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect([reply.status, await reply.text(), upstream.requests.length]).toEqual([402, expect.stringContaining('budget'), before]);
});

test.each([
  ['budget.amount', { budget: { amount: 5, period: 'day' } }],
  ['budget.period', { budget: { limit: 5, period: 'fortnight' } }],
  ['budget.limit', { budget: { limit: -1, period: 'day' } }],
  ['max_budget', { max_budget: 5 }],
])('37: a budget that would not hold is refused, by field (%s)', async (field, body) => {
  const { status, body: answer } = await gateway.console('PATCH', '/access-keys/odd', body);
  expect([status, JSON.stringify(answer)]).toEqual([422, expect.stringContaining(field)]);
});
