/** What a request costs and to whom it belongs, from its headers to the console: prices, sessions, statistics, tables and the live tail. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { printMoney } from '@model-gateway/contracts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { scriptedModels } from '../support/callers.ts';
import { allArrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';

const session = '0f8fad5b-d9cb-469f-a165-70867728950e';

describe.each(allArrangements('statistics'))('statistics, %s', (arrangement) => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement });
    await gateway.configure(scriptedModels(upstream.url, ['ok', 'status:500']));
    const priced = await gateway.console('POST', '/pricing', { name: 'house', model: 'alpha ok', input: '1000', output: '2000' });
    expect(priced.status).toBe(201);
    await gateway.settle();
    // Rows are priced where they are written, which may hear of prices a moment later.
    await until(async () => (await gateway.row(await ask('alpha ok'))).cost_micros !== null, 'the price to be known there too');
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  const ask = async (model: string, headers: Record<string, string> = {}, more: object = {}) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], ...more }),
    });
    await response.text();
    return response.headers.get('x-request-id') ?? '';
  };
  const stats = async (path: string) => (await gateway.console('GET', `/stats/${path}`)).body;

  test('a row is priced by the tier that the reply says it was served in', async () => {
    // It serves what it is asked for, but the one tier that it has no room for.
    const vendor = createServer(async (request, response) => {
      const { service_tier: asked } = JSON.parse(await text(request)) as { service_tier?: string };
      response.setHeader('content-type', 'application/json').end(
        JSON.stringify({
          id: 'c',
          object: 'chat.completion',
          model: 'm',
          service_tier: asked === 'priority' ? 'default' : asked,
          choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
        }),
      );
    });
    await new Promise<void>((resolve) => void vendor.listen(0, '127.0.0.1', resolve));
    try {
      const base_url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
      await gateway.configure({
        upstreams: [{ name: 'tiers', protocol: 'alpha', base_url, api_keys: [{ key: 'sk-tiers' }] }],
        models: [{ name: 'tiered', upstream: 'tiers', upstream_model_id: 'gpt-5.6' }],
      });
      const service_tiers = [
        { service_tier: 'flex', input: '0.5', output: '0.5' },
        { service_tier: 'priority', input: '9', output: '9' },
      ];
      expect((await gateway.console('POST', '/pricing', { name: 'tiered', model: 'tiered', input: '1', output: '1', service_tiers })).status).toBe(201);
      await gateway.settle();
      const rowOf = async (tier: string) => gateway.row(await ask('tiered', {}, { service_tier: tier }));
      await until(async () => (await rowOf('flex')).cost_micros === 55, 'the price to be known everywhere');
      expect(await rowOf('flex')).toMatchObject({ service_tier: 'flex', cost_micros: 55 });
      expect(await rowOf('priority')).toMatchObject({ service_tier: null, cost_micros: 110 });
    } finally {
      vendor.close();
    }
  });

  test('the live tail shows a request as it ends; its row is priced, and belongs to its session', async () => {
    const abort = new AbortController();
    const tail = await fetch(`${gateway.consoleUrl}/logs/stream?model=alpha%20ok`, {
      headers: { authorization: `Bearer ${gateway.consoleKey}` },
      signal: abort.signal,
    });
    expect(tail.headers.get('content-type')).toContain('text/event-stream');
    const reader = tail.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader.read()).value ?? '';
    const asked: string[] = [];
    const shown = () => asked.find((one) => text.includes(one));
    // What ends before the tail has begun is not in it: so one request after another, until one is shown.
    const asking = (async () => {
      for (; shown() === undefined && asked.length < 100; await new Promise((resolve) => setTimeout(resolve, 300)))
        asked.push(await ask('alpha ok', { 'x-claude-code-session-id': 'agent-7' }));
    })();
    while (shown() === undefined) text += (await reader.read()).value ?? '';
    await asking;
    abort.abort();
    const id = shown()!;
    const row = await gateway.row(id);
    expect(row).toMatchObject({ session_id: 'agent-7', currency: 'USD', usage_source: 'upstream' });
    expect(row.cost_micros).toBe(row.input_tokens * 1_000 + (row.output_tokens + row.reasoning_tokens) * 2_000);
    expect((await gateway.console('GET', `/logs/${id}`)).body).toMatchObject({ id, attempts: [{ status: 200 }] });
  });

  test('sums agree with the rows, whoever asks how', async () => {
    const ids = [
      await ask('alpha ok', {}, { prompt_cache_key: session }),
      await ask('alpha ok', { session_id: session }),
      await ask('alpha status:500'),
      await ask('no such model'),
    ];
    for (const id of ids) await gateway.row(id);
    const topOf = (top: { items: { value: string; requests: number }[] }, model: string) => top.items.find(({ value }) => value === model);
    let [rows, top] = [await gateway.rows(), await stats('top?by=model&limit=100')];
    // Rows on their way may come between the two questions.
    await until(async () => {
      [rows, top] = [await gateway.rows(), await stats('top?by=model&limit=100')];
      return ['alpha ok', 'alpha status:500'].every((model) => topOf(top, model)?.requests === rows.filter((row) => row.model === model).length);
    }, 'sums and rows to agree');
    for (const model of ['alpha ok', 'alpha status:500']) {
      const own = rows.filter((row) => row.model === model);
      const cost = own.reduce((sum, row) => sum + (row.cost_micros ?? 0), 0);
      const item = top.items.find(({ value }: { value: string }) => value === model);
      expect(item).toMatchObject({ requests: own.length, errors: own.filter((row) => row.error_code !== null).length });
      expect(item.cost).toEqual(cost === 0 ? [] : [{ currency: 'USD', cost: printMoney(cost), cost_micros: cost }]);
    }
    expect((await stats('top?by=error&model=alpha%20status%3A500')).items[0]).toMatchObject({ requests: 1, errors: 1 });
    await until(
      async () => (await stats('sessions')).items.some((one: { session_id: string; requests: number }) => one.session_id === session && one.requests === 2),
      'both of the session',
    );
    expect((await stats('sessions')).items).toEqual(
      expect.arrayContaining([expect.objectContaining({ session_id: session, access_key: 'caller', requests: 2 })]),
    );
    expect((await stats(`top?by=protocol&access_key=caller`)).items.length).toBeGreaterThan(0);
    const table = await gateway.console('GET', '/logs?format=csv');
    for (const id of ids) expect(table.body).toContain(id);
  });
});
