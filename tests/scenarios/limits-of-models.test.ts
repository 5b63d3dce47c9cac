/** Limits of upstreams and models at 50 times what they allow, as the upstream itself sees them. */
import { afterEach, describe, expect, test } from '@jest/globals';
import type { RateLimit } from '@model-gateway/contracts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { type InProcessGateway, startInProcess, until } from '../support/in-process.ts';

let upstream: FakeUpstream;
let gateway: InProcessGateway;

async function start(script: string, onModel: Partial<RateLimit> | 'inherit', onUpstream: Partial<RateLimit> | null = null): Promise<void> {
  upstream = await startFakeUpstream();
  gateway = await startInProcess({
    upstreams: [{ name: 'fake', protocol: 'alpha', base_url: upstream.url, api_keys: [], rate_limit: onUpstream }],
    models: [
      { name: 'limited', upstream: 'fake', upstream_model_id: script, rate_limit: onModel },
      { name: 'other', upstream: 'fake', upstream_model_id: script },
    ],
  });
}
afterEach(async () => {
  await gateway.stop();
  await upstream.close();
});

const ask = (model = 'limited', options: { stream?: boolean; signal?: AbortSignal } = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: options.stream ?? false, messages: [{ role: 'user', content: 'hi' }] }),
    ...(options.signal && { signal: options.signal }),
  });
const many = (count: number, model?: string, options?: { stream?: boolean }) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const reply = await ask(model, options);
      return { status: reply.status, retryAfter: reply.headers.get('retry-after'), type: reply.headers.get('content-type'), text: await reply.text() };
    }),
  );

/** The most calls that the upstream had open at once, from its own record. */
function maxConcurrent(): number {
  const marks = upstream.requests.flatMap((request) => [
    { at: request.at, step: 1 },
    { at: request.closed?.at ?? Number.POSITIVE_INFINITY, step: -1 },
  ]);
  marks.sort((a, b) => a.at - b.at || a.step - b.step);
  let now = 0;
  let max = 0;
  for (const { step } of marks) {
    now += step;
    max = Math.max(max, now);
  }
  return max;
}

describe('limits of a model', () => {
  test('rpm: exactly as many reach the upstream; the rest gets 429 in JSON with Retry-After', async () => {
    await start('text:2', { rpm: 5, wait_timeout_secs: 0 });
    const replies = await many(50);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(45);
    for (const one of refused) {
      expect(JSON.parse(one.text).error.code).toBe('rate_limit_exceeded');
      expect(one.type).toContain('application/json');
      expect(Number(one.retryAfter)).toBeGreaterThanOrEqual(3);
      expect(Number(one.retryAfter)).toBeLessThanOrEqual(12);
    }
    expect(upstream.requests).toHaveLength(5);
    // Its own limit stands alone: a model beside it is not counted.
    expect((await ask('other')).status).toBe(200);
  });

  test('rpm: a request that cannot be made of what its caller sent is no call', async () => {
    await start('text:2', { rpm: 2, wait_timeout_secs: 0 });
    const wrong = () =>
      fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'limited', max_tokens: 9, messages: 'none' }),
      });
    const statuses: number[] = [];
    for (const send of [wrong, wrong, wrong, ask, wrong, ask, ask]) statuses.push((await send()).status);
    expect(statuses).toEqual([400, 400, 400, 200, 400, 200, 429]);
    expect(upstream.requests).toHaveLength(2);
  });

  test('a caller waits for its turn, up to wait_timeout_secs', async () => {
    await start('text:2', { rpm: 48, initial_tokens: 0, wait_timeout_secs: 3 });
    const began = performance.now();
    const replies = await many(4);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429]);
    // Turns come after 1.25 s and 2.5 s; the third would be too late.
    expect(performance.now() - began).toBeGreaterThan(2400);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test.each([false, true])('max_concurrency: never more at the upstream, and everybody is served (stream: %s)', async (stream) => {
    await start('text:3+slow:10', 'inherit', { max_concurrency: 4 });
    const replies = await Promise.all([many(25, 'limited', { stream }), many(25, 'other', { stream })]);
    expect(new Set(replies.flat().map(({ status }) => status))).toEqual(new Set([200]));
    expect(upstream.requests).toHaveLength(50);
    expect(maxConcurrent()).toBeLessThanOrEqual(4);
    // A whole reply comes at once: only streams are long enough to meet.
    if (stream) expect(maxConcurrent()).toBe(4);
  });

  test('the time between calls is kept', async () => {
    await start('text:1', { tps_min_interval_ms: 60 });
    const began = performance.now();
    expect(new Set((await many(12)).map(({ status }) => status))).toEqual(new Set([200]));
    // One that arrives late is close to the next; none arrives before its turn.
    const arrivals = upstream.requests.map(({ at }) => at - began).sort((one, other) => one - other);
    for (const [turn, at] of arrivals.entries()) expect(at).toBeGreaterThan(turn * 60 - 20);
  });

  test('tpm: what a reply really used counts for those after it', async () => {
    await start('text:400', { tpm: 800, wait_timeout_secs: 0 });
    const used = ((await (await ask()).json()) as { usage: { total_tokens: number } }).usage.total_tokens;
    const statuses: number[] = [200];
    while (statuses.at(-1) === 200 && statuses.length < 50) statuses.push((await ask()).status);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.length - 1).toBeLessThanOrEqual(Math.ceil(800 / used) + 1);
  });

  test('who leaves the line gives up the place, and no slot leaks', async () => {
    // Long enough for all to stand in line meanwhile.
    await start('text:3+slow:1000', { max_concurrency: 1, wait_timeout_secs: 60 });
    const first = ask('limited', { stream: true });
    await until(() => upstream.requests.length === 1, 'the first call');
    const leaving = new AbortController();
    const left = Promise.allSettled(Array.from({ length: 20 }, () => ask('limited', { signal: leaving.signal })));
    await until(() => gateway.busStats().openCalls === 21, 'all to stand in line');
    leaving.abort();
    await left;
    expect(await (await first).text()).toContain('[DONE]');
    expect((await ask()).status).toBe(200);
    expect(upstream.requests).toHaveLength(2);
    await until(() => gateway.rows.filter(({ status, authority }) => status === 499 && authority === 1).length === 20, 'the rows of those who left');
  });

  test('callers who leave during their call free its place', async () => {
    await start('pump', { max_concurrency: 2, wait_timeout_secs: 60 });
    for (let round = 0; round < 3; round++) {
      const leaving = new AbortController();
      const calls = await Promise.all([1, 2].map(() => ask('limited', { stream: true, signal: leaving.signal })));
      expect(calls.map(({ status }) => status)).toEqual([200, 200]);
      leaving.abort();
      await Promise.allSettled(calls.map((call) => call.text()));
    }
    expect(upstream.requests).toHaveLength(6);
    expect(maxConcurrent()).toBeLessThanOrEqual(2);
  });

  test('failed calls free their place too', async () => {
    await start('err:500', { max_concurrency: 1, wait_timeout_secs: 60 });
    expect(new Set((await many(10)).map(({ status }) => status))).toEqual(new Set([502]));
    expect(maxConcurrent()).toBe(1);
  });
});
