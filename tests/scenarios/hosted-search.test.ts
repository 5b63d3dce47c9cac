/** Hosted web search in a gateway as it is deployed, with providers that refuse what their documentation does: in one process, and over NATS and PostgreSQL. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, type Play, startFakeUpstream } from '../fake-upstream/index.ts';
import { AnsweringServer, answerJson } from '../support/answering-server.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { hostedReaders } from '../support/hosted-replies.ts';
import { addressesInside, addressesOfNoPage, refusalOfFetch } from '../support/inside-addresses.ts';
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
  /** What the model says to a request, where several are asked at once. */
  let answering: Play | null = null;
  let fake: FakeUpstream;
  let gateway: TestGateway;

  /** Of a group that does not ask for the gateway's searches. */
  const plainKey = mintAccessKey();
  /** What the key `thrifty` may spend: four searches. */
  const thriftyMicros = 4 * searchMicros;
  const thriftyKey = mintAccessKey();

  const ask = async (client: Client, stream = false, more: Json = {}, key = gateway.key): Promise<Answer> => {
    const [path, body] = asks[client]('chat', stream);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
    return send(gateway.url, path, { headers, body: JSON.stringify({ ...body, ...more }) });
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
    fake = await startFakeUpstream({ play: (...asked) => answering?.(...asked) ?? said.shift() ?? { text: 'Nothing more.' } });
    gateway = await startGateway({ arrangement });
    await gateway.configure({
      upstreams: ['up', 'spare'].map((name) => ({ name, protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'sk-fake' }] })),
      models: [
        { name: 'chat', upstream: 'up', upstream_model_id: 'deepseek-chat@play' },
        { name: 'first', upstream: 'up', upstream_model_id: 'deepseek-chat@play' },
        { name: 'second', upstream: 'spare', upstream_model_id: 'deepseek-chat@play' },
      ],
      load_balancers: [{ name: 'balanced', strategy: 'priority', entries: [{ model: 'first' }, { model: 'second' }] }],
      key_groups: [
        { name: 'everyone', models: ['*'], server_tools: 'on' },
        { name: 'plain', models: ['*'] },
      ],
      access_keys: [
        { name: 'plain', group: 'plain', key: plainKey },
        { name: 'thrifty', group: 'everyone', key: thriftyKey, budget: { limit: thriftyMicros / 1_000_000, period: 'total' } },
      ],
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

  test('an upstream that fails after a search: what was paid there stays in the row', async () => {
    await choose('http');
    // A token that the first model reads costs a thousandth of a dollar; nothing else of either model costs anything.
    for (const [model, input] of [
      ['first', '1000'],
      ['second', '0'],
    ]) {
      const made = await gateway.console('POST', '/pricing', { name: `of-${model}`, model, input, output: '0' });
      expect(made.status).toBe(201);
    }
    await gateway.settle();
    said = [{ call: 'web_search', args: { query: 'tea' } }, { text: '', script: 'err:500' }, { call: 'web_search', args: { query: 'tea' } }, { text: answer }];
    const reply = await ask('beta', false, { model: 'balanced' });
    expect([reply.status, hostedReaders.beta.read(reply.text, false).text]).toEqual([200, answer]);
    const row = await rowOf(reply);
    expect(row).toMatchObject({ model: 'second', attempts: [{ status: 200 }, { status: 500 }, { status: 200 }, { status: 200 }] });
    const read = (row.cost_micros! - 2 * searchMicros) / 1_000;
    expect(read).toBeGreaterThan(0);
    // The row's tokens are those of all calls, of which the caller is told the second model's.
    expect(row.input_tokens).toBe(reply.json.usage.input_tokens + read);
  });

  test.each(clients)('%s: a group that does not ask for it gets no search, and what is lost is declared', async (client) => {
    await choose('http');
    const before = vendors.http.received.length;
    said = [{ text: 'I do not know.' }];
    const reply = await ask(client, false, {}, plainKey);
    expect(hostedReaders[client].read(reply.text, false)).toMatchObject({ text: 'I do not know.', cited: [], faults: [] });
    const row = await rowOf(reply);
    // A field of the upstream's own protocol is for the upstream to judge.
    if (client === 'alpha') expect(fake.requests.at(-1)?.json).toMatchObject({ web_search_options: {} });
    else expect(row.losses).toContainEqual(expect.objectContaining({ action: 'dropped' }));
    expect(row.pipeline ?? []).not.toContain('hosted-tools');
    expect(vendors.http.received.length).toBe(before);
  });

  describe('bounds', () => {
    const rounds = 4;
    const searches = { call: 'web_search', args: { query: 'tea' }, also: [{ call: 'web_search', args: { query: 'more tea' } }] };
    const asksTwice = (body: Json): Json => body.tools.map((tool: Json) => (tool.name === 'web_search' ? { ...tool, max_uses: 2 } : tool));
    beforeAll(() => choose('http', { max_uses: 3, max_rounds: rounds }));
    afterAll(() => choose('http', { max_uses: 5, max_rounds: 8 }));

    test('a budget is passed by what one request may cost, however many search at once', async () => {
      answering = (body) => (JSON.stringify(body).includes(page.url) ? { text: answer } : { call: 'web_search', args: { query: 'tea' } });
      try {
        const replies = await Promise.all([...clients, ...clients, ...clients].map((client) => ask(client, false, {}, thriftyKey)));
        const served = replies.filter(({ status }) => status === 200);
        expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 402]));
        const costs = await Promise.all(served.map(async (reply) => (await rowOf(reply)).cost_micros ?? 0));
        expect(Math.min(...costs)).toBeGreaterThanOrEqual(searchMicros);
        // Of the one request that passes it, its search and few tokens.
        expect(costs.reduce((sum, cost) => sum + cost, 0)).toBeLessThan(thriftyMicros + searchMicros + 1000);
      } finally {
        answering = null;
      }
    });

    test.each([
      ['the caller', asksTwice(asks.beta('chat', false)[1]), 2],
      ['the gateway', asks.beta('chat', false)[1].tools, 3],
    ] as const)('uses are bounded by %s, and rounds end', async (_who, tools, most) => {
      for (const stream of [false, true]) {
        said = Array.from({ length: 10 }, () => searches);
        const before = [vendors.http.received.length, fake.requests.length] as const;
        const reply = await ask('beta', stream, { tools });
        expect(hostedReaders.beta.read(reply.text, stream).faults).toEqual(['stop_reason pause_turn']);
        expect(vendors.http.received.length - before[0]).toBe(most);
        expect(fake.requests.length - before[1]).toBe(rounds);
        expect((fake.requests.at(-1)!.json as Json).tool_choice).toBe('none');
        expect(reply.text.match(/max_uses_exceeded/g)).toHaveLength(2 * rounds - most);
        expect((await rowOf(reply)).cost_micros).toBeGreaterThanOrEqual(most * searchMicros);
      }
    });
  });

  test('a call of the caller’s own tool ends the reply, with what the search found', async () => {
    await choose('http');
    const kettle = { name: 'kettle', input_schema: { type: 'object', properties: { degrees: { type: 'number' } } } };
    const { tools } = asks.beta('chat', false)[1];
    for (const stream of [false, true]) {
      said = [{ call: 'web_search', args: { query: 'tea' }, also: [{ call: 'kettle', args: { degrees: 80 } }] }];
      const before = fake.requests.length;
      const reply = await ask('beta', stream, { tools: [...tools, kettle] });
      const { faults, turn } = hostedReaders.beta.read(reply.text, stream);
      expect(faults).toEqual(['stop_reason tool_use']);
      const types = turn.flatMap(({ content }: Json) => content.map(({ type }: Json) => type));
      expect(types.sort()).toEqual(['server_tool_use', 'tool_use', 'web_search_tool_result']);
      expect(fake.requests.length - before).toBe(1);
    }
  });

  test('the next turn shows the model what was found before, and a token that was changed is not believed', async () => {
    await choose('http');
    said = [{ call: 'web_search', args: { query: 'tea' } }, { text: answer }];
    const { turn } = hostedReaders.beta.read((await ask('beta')).text, false);
    const { messages } = asks.beta('chat', false)[1];
    const goOn = async (change: (token: string) => string) => {
      const history = JSON.parse(JSON.stringify(turn), (name, value) => (name === 'encrypted_content' ? change(value) : value));
      said = [{ text: 'As I said.' }];
      const reply = await ask('beta', false, { messages: [...messages, ...history, { role: 'user', content: 'Are you sure?' }] });
      return { sent: fake.requests.at(-1)?.body.toString() ?? '', losses: (await rowOf(reply)).losses };
    };
    const unreadable = expect.objectContaining({ field: 'messages.web_search', action: 'dropped' });
    const kept = await goOn((token) => token);
    expect(kept.sent).toContain(page.text);
    expect(kept.losses).not.toContainEqual(unreadable);
    const changed = await goOn((token) => `${token.slice(0, -6)}AAAAAA`);
    expect(changed.sent).not.toContain(page.text);
    expect(changed.sent).toContain(page.url);
    expect(changed.losses).toContainEqual(unreadable);
  });

  describe('addresses inside the network', () => {
    beforeAll(() => choose('http', { max_uses: 50 }));
    afterAll(() => choose('http', { max_uses: 5 }));

    /** What a caller who names the addresses itself is told of each. */
    const told: Record<'beta' | 'gamma', (urls: string[]) => Promise<string[]>> = {
      async beta(urls) {
        const { json, text } = await ask('beta', false, { messages: [{ role: 'user', content: `Read ${urls.join(' ')}` }] });
        expect(text).not.toMatch(/the secret|refused|ECONN|private/);
        const results = json.content.filter(({ type }: Json) => type === 'web_fetch_tool_result');
        return results.map(({ content }: Json) => content.error_code ?? content.type);
      },
      async gamma(urls) {
        const contents = [{ role: 'user', parts: [{ text: `Read ${urls.join(' ')}` }] }];
        const { json, text } = await ask('gamma', false, { contents, tools: [{ urlContext: {} }] });
        expect(text).not.toMatch(/the secret|refused|ECONN|private/);
        return json.candidates[0].urlContextMetadata.urlMetadata.map((one: Json) => one.urlRetrievalStatus);
      },
    };

    test.each(['beta', 'gamma'] as const)('%s: nothing there is asked, however it is written and whoever names it', async (client) => {
      const inside = new AnsweringServer();
      inside.answer = (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('the secret of the network');
      await inside.start();
      try {
        const port = Number(new URL(inside.address).port);
        for (const urls of [addressesInside(port), addressesOfNoPage(port)]) {
          const [first, ...others] = urls.map((url) => ({ call: 'web_fetch', args: { url } }));
          said = [{ ...first!, also: others }, { text: 'I could not read it.' }];
          const answers = await told[client](urls);
          expect(answers).toHaveLength(urls.length);
          expect(answers.filter((one) => !refusalOfFetch[client].test(one))).toEqual([]);
        }
        expect(inside.received).toEqual([]);
        // It does listen.
        expect((await fetch(inside.address)).status).toBe(200);
      } finally {
        inside.stop();
      }
    });
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
