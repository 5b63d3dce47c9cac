/** Hosted web search in a gateway as it is deployed, with providers that refuse what their documentation does: in one process, and over NATS and PostgreSQL. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, type Play, startFakeUpstream } from '../fake-upstream/index.ts';
import { answerJson } from '../support/answering-server.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { hostedReaders } from '../support/hosted-replies.ts';
import { type SearchVendor, VendorSearch } from '../support/search-vendors.ts';
import { type Answer, send } from '../support/send.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of four protocols are written freely.
type Json = any;
type Client = keyof typeof hostedReaders;

const page = { title: 'Tea', url: 'https://tea.example/steep', text: 'Steep green tea at 80 degrees.' };
const answer = `Steep it at 80 degrees ([Tea](${page.url})).`;
const question = 'How hot should green tea be?';
const place = { type: 'approximate', country: 'GB', city: 'London', timezone: 'Europe/London' };
/** What a search costs, in millionths of a dollar. */
const searchMicros = 5_000;
const kinds: readonly SearchVendor[] = ['brave', 'tavily', 'searxng', 'http'];
const clients: readonly Client[] = ['alpha', 'alpha_response', 'beta', 'gamma'];

const asks: Record<Client, (model: string, stream: boolean) => [path: string, body: Json]> = {
  alpha: (model, stream) => ['/v1/chat/completions', { model, stream, messages: [{ role: 'user', content: question }], web_search_options: {} }],
  alpha_response: (model, stream) => ['/v1/responses', { model, stream, input: question, store: false, tools: [{ type: 'web_search', user_location: place }] }],
  beta: (model, stream) => [
    '/v1/messages',
    {
      ...{ model, stream, max_tokens: 500, messages: [{ role: 'user', content: question }] },
      tools: [
        { type: 'web_search_20250305', name: 'web_search', user_location: place },
        { type: 'web_fetch_20250910', name: 'web_fetch' },
      ],
    },
  ],
  gamma: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: question }] }], tools: [{ googleSearch: {} }] },
  ],
};

describe.each(arrangements('hosted web search'))('hosted web search, %s', (arrangement) => {
  const vendors = Object.fromEntries(kinds.map((kind) => [kind, new VendorSearch(kind, `key-of-${kind}-0123456789`, [page])])) as Record<
    SearchVendor,
    VendorSearch
  >;
  let said: ReturnType<Play>[] = [];
  let fake: FakeUpstream;
  let gateway: TestGateway;

  const ask = async (client: Client, stream = false): Promise<Answer> => {
    const [path, body] = asks[client]('chat', stream);
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
    return send(gateway.url, path, { headers, body: JSON.stringify(body) });
  };
  const choose = async (kind: SearchVendor, more: object = {}): Promise<void> => {
    expect((await gateway.console('PATCH', '/search-config', { default_provider: kind, ...more })).status).toBe(200);
    await gateway.settle();
    // A translator has a snapshot of its own: it searches where it is told once it has adopted the change.
    await until(async () => {
      said = [{ call: 'web_search', args: { query: 'ready' } }, { text: 'Ready.' }];
      const before = vendors[kind].received.length;
      await ask('beta');
      return vendors[kind].received.length > before;
    }, 'translators to ask the chosen provider');
  };
  const rowOf = (reply: Answer) => gateway.row(String(reply.headers['x-request-id']));

  beforeAll(async () => {
    for (const vendor of Object.values(vendors)) await vendor.start();
    fake = await startFakeUpstream({ play: () => said.shift() ?? { text: 'Nothing more.' } });
    gateway = await startGateway({ arrangement });
    await gateway.configure({
      upstreams: [{ name: 'up', protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'sk-fake' }] }],
      models: [{ name: 'chat', upstream: 'up', upstream_model_id: 'deepseek-chat@play' }],
      key_groups: [{ name: 'everyone', models: ['*'], server_tools: 'on' }],
    });
    for (const kind of kinds) {
      const provider = {
        name: kind,
        kind,
        base_url: vendors[kind].searchUrl,
        api_key: kind === 'searxng' ? null : vendors[kind].key,
        price_per_search: '0.005',
      };
      expect((await gateway.console('POST', '/search-providers', provider)).status).toBe(201);
    }
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
    for (const vendor of Object.values(vendors)) vendor.stop();
  });
  beforeEach(() => {
    for (const vendor of Object.values(vendors)) vendor.instead = null;
  });

  describe.each(kinds)('a provider of the kind %s', (kind) => {
    beforeAll(() => choose(kind));

    test.each(clients.flatMap((client) => [false, true].map((stream) => [client, stream] as const)))(
      '%s, streamed %s: searched, cited, priced',
      async (client, stream) => {
        said = [{ call: 'web_search', args: { query: 'green tea temperature' } }, { text: answer }];
        const before = vendors[kind].received.length;
        const reply = await ask(client, stream);
        expect([reply.status, reply.status === 200 ? '' : reply.text]).toEqual([200, '']);
        expect(hostedReaders[client].read(reply.text, stream)).toMatchObject({ text: answer, cited: [{ url: page.url, title: page.title }], faults: [] });
        expect(vendors[kind].received.length - before).toBe(1);
        expect(vendors[kind].refused).toEqual([]);
        expect(fake.requests.at(-1)?.body.toString()).toContain(page.text);
        const row = await rowOf(reply);
        expect(row).toMatchObject({ currency: 'USD', stream });
        // The search, and what its few tokens cost.
        expect(row.cost_micros).toBeGreaterThanOrEqual(searchMicros);
        expect(row.cost_micros).toBeLessThan(searchMicros + 1000);
        expect(row.pipeline).toContain('hosted-tools');
      },
    );
  });

  test('a provider with limits is not asked beyond them: the model is told to ask for less', async () => {
    for (const kind of ['brave', 'tavily'] as const) {
      await choose(kind);
      const before = vendors[kind].received.length;
      said = [{ call: 'web_search', args: { query: 'green tea '.repeat(60) } }, { text: 'I could not.' }];
      const reply = await ask('beta');
      expect(reply.json.content[1]).toMatchObject({ content: { type: 'web_search_tool_result_error', error_code: 'query_too_long' } });
      expect(fake.requests.at(-1)?.body.toString()).toContain('search for fewer words');
      expect(vendors[kind].received.length - before).toBe(0);
      expect(vendors[kind].refused).toEqual([]);
    }
  });

  test.each([
    ['busy', answerJson({ error: 'slow down' }, 429), 'too_many_requests'],
    ['broken', answerJson({ error: 'down' }, 500), 'unavailable'],
    ['cut off', ((response) => void response.socket?.destroy()) as NonNullable<VendorSearch['instead']>, 'unavailable'],
  ])('a provider that is %s: the caller is told as its vendor tells it, the answer goes on, and nothing is charged', async (_how, instead, error_code) => {
    await choose('http');
    vendors.http.instead = instead;
    said = [{ call: 'web_search', args: { query: 'tea' } }, { text: 'I could not search.' }];
    const reply = await ask('beta');
    expect(reply.status).toBe(200);
    expect(reply.json.content[1]).toMatchObject({ content: { type: 'web_search_tool_result_error', error_code } });
    expect(reply.json.content[2].text).toBe('I could not search.');
    expect((await rowOf(reply)).cost_micros ?? 0).toBeLessThan(searchMicros);
  });

  test('a provider that does not answer ends with its time, not with the caller’s patience', async () => {
    await choose('http', { timeout_ms: 300 });
    vendors.http.instead = () => undefined;
    said = [{ call: 'web_search', args: { query: 'tea' } }, { text: 'I could not search.' }];
    const reply = await ask('beta');
    expect(reply.json.content[1]).toMatchObject({ content: { error_code: 'unavailable' } });
    vendors.http.instead = null;
    await choose('http', { timeout_ms: 20_000 });
  });

  test('a page inside the network is not fetched, whoever names it', async () => {
    const inside = `${vendors.http.address}/secret`;
    const before = vendors.http.received.length;
    said = [{ call: 'web_fetch', args: { url: inside } }, { text: 'I could not read it.' }];
    const [path, body] = asks.beta('chat', false);
    body.messages[0].content = `Read ${inside}`;
    const reply = await send(gateway.url, path, {
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(body),
    });
    expect(reply.json.content[1]).toMatchObject({ type: 'web_fetch_tool_result', content: { error_code: expect.stringMatching(/^url_not_a/) } });
    expect(vendors.http.received.length).toBe(before);
  });

  test('a key that is changed is the one that is sent; no key is ever shown or logged', async () => {
    await choose('brave');
    const other = new VendorSearch('brave', 'another-key-of-brave-9876543210', [page]);
    await other.start();
    try {
      const changed = { base_url: other.searchUrl, api_key: other.key };
      expect((await gateway.console('PATCH', '/search-providers/brave', changed)).status).toBe(200);
      await until(async () => {
        said = [{ call: 'web_search', args: { query: 'green tea' } }, { text: answer }];
        const reply = await ask('beta');
        return reply.json.content[1]?.content?.[0]?.url === page.url && other.received.length > 0;
      }, 'the new key to be sent');
      expect(other.refused).toEqual([]);
    } finally {
      other.stop();
    }
    const shown = [
      ...(await Promise.all(
        ['/search-providers', '/audit-logs?limit=200', '/logs?limit=100'].map(async (path) => JSON.stringify((await gateway.console('GET', path)).body)),
      )),
      ...Object.values(gateway.processes).flatMap((one) => one.logs()),
    ].join('\n');
    for (const secret of [...Object.values(vendors), other].map(({ key }) => key)) expect(shown).not.toContain(secret);
  });
});
