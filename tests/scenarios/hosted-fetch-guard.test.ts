/**
 * Pages that models ask for, at addresses inside the network: however they are written, whatever their name resolves to, and wherever a redirect leads, nothing
 * there is ever asked, and the caller learns no more than that the page cannot be reached.
 * Here with a resolver and redirects of the suite's own; the written addresses also in `hosted-search`, by real processes.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createOutbound, type Outbound } from '@model-gateway/upstream-client';
import { AnsweringServer } from '../support/answering-server.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { addressesInside, addressesOfNoPage, refusalOfFetch } from '../support/inside-addresses.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';
import { send } from '../support/send.ts';

/** Stands for everything inside: counts who comes. */
const inside = new AnsweringServer();
let port = 0;
let gateway: InProcessGateway;
let guarded: Outbound;
const models = createScriptedOutbound();
/** Pages outside, which redirect. */
const outside = createScriptedOutbound();
/** Names that resolve to addresses inside. */
const names: Record<string, string> = { 'loop.example': '127.0.0.1', 'metadata.example': '169.254.169.254', 'lan.example': '10.0.0.1', 'six.example': '::1' };
let fetched: string[] = [];
let redirectTo = '';

const json = (value: unknown) => ({ contentType: 'application/json', chunks: [Buffer.from(JSON.stringify(value))], ending: 'end' as const });
let calls: string[] = [];
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
models.scriptOf = () => {
  const tool_calls = calls.map((url, at) => ({ id: `call_${at}`, type: 'function', function: { name: 'web_fetch', arguments: JSON.stringify({ url }) } }));
  const message = calls.length > 0 ? { role: 'assistant', content: null, tool_calls } : { role: 'assistant', content: 'No.' };
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  calls = [];
  return json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message, finish_reason }], usage });
};

beforeAll(async () => {
  await inside.start();
  inside.answer = (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('the secret of the network');
  port = Number(new URL(inside.address).port);
  const timeouts = { connect_ms: 1_000, first_byte_ms: 1_000, idle_ms: 1_000, total_ms: 2_000 };
  guarded = createOutbound({
    ...{ allowPrivate: false, timeouts, userAgent: 'test', logger: { warn: () => {}, error: () => {} } },
    resolve(host, _options, callback) {
      const address = names[host];
      if (address === undefined) callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
      else callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
    },
  });
  outside.scriptOf = () => ({ status: 302, headers: { location: redirectTo }, contentType: 'text/html', chunks: [], ending: 'end' });
  const pages = {
    ...guarded,
    send(request: Parameters<Outbound['send']>[0], handlers: Parameters<Outbound['send']>[1]) {
      fetched.push(String(request.url));
      return (new URL(String(request.url)).hostname === 'public.example' ? outside : guarded).send(request, handlers);
    },
    close: async () => {},
  } as Outbound;
  gateway = await startInProcess({
    outbound: models,
    publicUrls: pages,
    upstreams: [{ name: 'chat', protocol: 'alpha', base_url: 'https://chat.test', api_keys: [{ key: 'sk-one' }] }],
    models: [{ name: 'chat', upstream: 'chat', upstream_model_id: 'some-model' }],
    search: {
      provider: { ...{ id: 'sp', name: 'brave', kind: 'brave', base_url: null }, ...{ price_per_search: 0, currency: 'USD', enabled: true, description: '' } },
      config: { max_uses: 50 },
    },
    group: { server_tools: 'on' },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await guarded?.close();
  inside.stop();
});
beforeEach(() => {
  inside.received.length = 0;
  fetched = [];
});

/** What callers of either protocol that has a fetch are told of each address; they name it themselves, so that it may be fetched at all. */
const callers = {
  async messages(urls: string[]): Promise<string[]> {
    const reply = await ask('/v1/messages', {
      ...{ model: 'chat', max_tokens: 100, messages: [{ role: 'user', content: `Read ${urls.join(' ')}` }] },
      tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }],
    });
    const results = reply.content.filter(({ type }: { type: string }) => type === 'web_fetch_tool_result');
    return results.map(({ content }: { content: { error_code?: string; type: string } }) => content.error_code ?? content.type);
  },
  async 'generate-content'(urls: string[]): Promise<string[]> {
    const contents = [{ role: 'user', parts: [{ text: `Read ${urls.join(' ')}` }] }];
    const reply = await ask('/v1beta/models/chat:generateContent', { contents, tools: [{ urlContext: {} }] });
    return reply.candidates[0].urlContextMetadata.urlMetadata.map(({ urlRetrievalStatus }: { urlRetrievalStatus: string }) => urlRetrievalStatus);
  },
};
const refused = { messages: refusalOfFetch.beta, 'generate-content': refusalOfFetch.gamma };

async function ask(path: string, body: object) {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
  const reply = await send(gateway.url, path, { headers, body: JSON.stringify(body) });
  expect(reply.status).toBe(200);
  expect(reply.text).not.toMatch(/the secret|refused|ECONN|private/);
  return reply.json;
}

describe.each(['messages', 'generate-content'] as const)('a caller of %s', (protocol) => {
  test('is shown nothing of addresses inside, however they are written', async () => {
    const urls = addressesInside(port, Object.keys(names));
    calls = [...urls];
    const told = await callers[protocol](urls);
    expect(told).toHaveLength(urls.length);
    expect(told.filter((one) => !refused[protocol].test(one))).toEqual([]);
    expect(inside.received).toEqual([]);
  });

  test('nor of what is no web page, or has credentials in its address', async () => {
    const urls = addressesOfNoPage(port);
    calls = [...urls];
    const told = await callers[protocol](urls);
    expect(told.filter((one) => !refused[protocol].test(one))).toEqual([]);
    expect([inside.received, fetched]).toEqual([[], []]);
  });

  test('nor of what a page outside leads to', async () => {
    const told: string[] = [];
    for (const url of [
      ...addressesInside(port, Object.keys(names)).filter((_, at) => at % 4 === 0),
      'file:///etc/passwd',
      'javascript:alert(1)',
      '//127.0.0.1/',
    ]) {
      redirectTo = url;
      calls = ['https://public.example/page'];
      told.push(...(await callers[protocol](['https://public.example/page'])));
    }
    expect(told.filter((one) => !refused[protocol].test(one))).toEqual([]);
    expect(told.length).toBeGreaterThan(10);
    expect(inside.received).toEqual([]);
  });
});
