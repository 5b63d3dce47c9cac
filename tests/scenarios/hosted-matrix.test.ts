/**
 * Hosted web search through each client protocol on each upstream of conversations, whole and streamed, by a vendor who refuses what is not his: the answer cites
 * what was found in the caller's own shape, and the next turn goes on. Where the vendor searches by himself, he is left to.
 * In one process, and over NATS and PostgreSQL.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ProtocolId } from '@model-gateway/contracts';
import { type FakeUpstream, type Play, startFakeUpstream } from '../fake-upstream/index.ts';
import { AnsweringServer, answerJson } from '../support/answering-server.ts';
import { arrangements, borrowGateway, type TestGateway, until } from '../support/gateway.ts';
import { hostedReaders } from '../support/hosted-replies.ts';
import { type Answer, send } from '../support/send.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of four protocols are written freely.
type Json = any;
type Client = keyof typeof hostedReaders;

const page = { title: 'Tea', url: 'https://tea.example/steep' };
const found = 'Steep green tea at 80 degrees.';
const answer = `Steep it at 80 degrees ([Tea](${page.url})).`;
const question = 'How hot should green tea be?';
const place = { country: 'GB', region: 'England', city: 'London', timezone: 'Europe/London' };

/** What models say, one call after the other. */
let said: ReturnType<Play>[] = [];
let fake: FakeUpstream;
let gateway: TestGateway;
const search = new AnsweringServer();

interface Upstream {
  protocol: ProtocolId;
  model: string;
  /** Callers whose own vendor it is and whose search it runs: nothing is emulated for them. */
  native: readonly Client[];
}
const upstreams: readonly Upstream[] = [
  { protocol: 'alpha', model: 'gpt-4o-search-preview', native: ['alpha', 'alpha_response'] },
  { protocol: 'alpha_response', model: 'gpt-5.2', native: ['alpha', 'alpha_response'] },
  { protocol: 'beta', model: 'claude-sonnet-4-5-20250929', native: ['beta'] },
  { protocol: 'gamma', model: 'gemini-2.5-flash', native: ['gamma'] },
  { protocol: 'cloudhost_converse', model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', native: [] },
  { protocol: 'cloudhost_invoke', model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', native: [] },
  { protocol: 'cloudhost_ide_streaming', model: 'claude-sonnet-4.5', native: [] },
  { protocol: 'delta', model: 'qwen-plus', native: [] },
  // Models whose endpoint speaks the caller's protocol, and whose vendor has no such search.
  { protocol: 'alpha', model: 'gpt-5.2', native: [] },
  { protocol: 'alpha', model: 'deepseek-chat', native: [] },
  { protocol: 'alpha_response', model: 'qwen3-max', native: [] },
  { protocol: 'beta', model: 'kimi-k2-0905-preview', native: [] },
];
const clients: readonly Client[] = ['alpha', 'alpha_response', 'beta', 'gamma'];
const nameOf = (upstream: Upstream): string => `m${upstreams.indexOf(upstream)}`;
/** How each vendor's own search was once answered; the first by a relay whose citations stand before all words. */
const recordings: readonly (Upstream & { id: string; recorded: string })[] = [
  { ...upstreams[0]!, native: ['alpha'], id: 'r0', recorded: 'alpha/web-search-annotations-stream' },
  { ...upstreams[1]!, id: 'r1', recorded: 'alpha_response/web-search-stream' },
  { ...upstreams[2]!, id: 'r2', recorded: 'beta/web-search-stream' },
  { ...upstreams[3]!, id: 'r3', recorded: 'gamma/grounding-stream' },
];
const cells = clients.flatMap((client) => upstreams.map((upstream) => ({ client, upstream, native: upstream.native.includes(client) })));
const named = (wanted: boolean) =>
  cells.filter(({ native }) => native === wanted).map(({ client, upstream }) => [client, upstream.protocol, upstream.model, upstream] as const);

const turns: Record<Client, (text: string) => Json> = {
  alpha: (content) => ({ role: 'user', content }),
  alpha_response: (content) => ({ role: 'user', content }),
  beta: (content) => ({ role: 'user', content }),
  gamma: (text) => ({ role: 'user', parts: [{ text }] }),
};
const asks: Record<Client, (model: string, stream: boolean, conversation: Json[]) => [path: string, body: Json]> = {
  alpha: (model, stream, messages) => [
    '/v1/chat/completions',
    { model, stream, messages, web_search_options: { user_location: { type: 'approximate', approximate: place } } },
  ],
  alpha_response: (model, stream, input) => [
    '/v1/responses',
    { model, stream, input, store: false, tools: [{ type: 'web_search', user_location: { type: 'approximate', ...place } }] },
  ],
  beta: (model, stream, messages) => [
    '/v1/messages',
    {
      ...{ model, stream, messages, max_tokens: 500 },
      tools: [{ type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate', ...place } }],
    },
  ],
  gamma: (model, stream, contents) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents, tools: [{ googleSearch: {} }] },
  ],
};

function ask(client: Client, model: string, stream: boolean, conversation: Json[]): Promise<Answer> {
  const [path, body] = asks[client](model, stream, conversation);
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
  return send(gateway.url, path, { headers, body: JSON.stringify(body) });
}

describe.each(arrangements('hosted matrix'))('hosted web search, %s', (arrangement) => {
  beforeAll(async () => {
    await search.start();
    fake = await startFakeUpstream({ play: () => said.shift() ?? { text: 'Nothing more.' } });
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      upstreams: upstreams.map((upstream) => ({
        ...{ name: nameOf(upstream), protocol: upstream.protocol, base_url: fake.url },
        api_keys: [{ key: upstream.protocol.startsWith('cloudhost') ? `AKID${nameOf(upstream)}:secret` : `sk-${nameOf(upstream)}` }],
      })),
      models: [
        ...upstreams.map((upstream) => ({ name: nameOf(upstream), upstream: nameOf(upstream), upstream_model_id: `${upstream.model}@play` })),
        ...recordings.map(({ id, model, recorded }, at) => ({ name: id, upstream: `m${at}`, upstream_model_id: `${model}@fixture/${recorded}` })),
      ],
      key_groups: [{ name: 'everyone', models: ['*'], server_tools: 'on' }],
    });
    const provider = { name: 'brave', kind: 'brave', base_url: `${search.address}/find`, api_key: 'search-secret', price_per_search: '0.005' };
    expect((await gateway.console('POST', '/search-providers', provider)).status).toBe(201);
    expect((await gateway.console('PATCH', '/search-config', { default_provider: 'brave' })).status).toBe(200);
    await gateway.settle();
    // A translator has a snapshot of its own.
    search.answer = answerJson({ web: { results: [] } });
    await until(async () => {
      said = [{ call: 'web_search', args: { query: 'ready' } }, { text: 'Ready.' }];
      await ask('beta', nameOf(upstreams.at(-1)!), false, [turns.beta(question)]);
      return search.received.length > 0;
    }, 'translators to ask the provider');
  });
  afterAll(async () => {
    await gateway?.stop();
    search.stop();
    await fake?.close();
  });
  beforeEach(() => {
    search.received.length = 0;
    fake.requests.length = 0;
    search.answer = answerJson({ web: { results: [{ ...page, description: found }] } });
  });

  /** The search by its first parts of the heading: `tools`, `web_search_options`. */
  const declared = (body: Json): Json => body.web_search_options ?? body.tools ?? body.parameters?.tools ?? body.toolConfig?.tools ?? [];

  describe.each(named(false))('%s on %s, %s', (client, _protocol, _model, upstream) => {
    test.each([['whole', false] as const, ['streamed', true] as const])('%s: searched by the gateway, cited, and gone on with', async (_name, stream) => {
      said = [{ call: 'web_search', args: { query: 'green tea temperature' } }, { text: answer }, { text: 'As I said.' }];
      const first = await ask(client, nameOf(upstream), stream, [turns[client](question)]);
      expect([first.status, first.status === 200 ? '' : first.text]).toEqual([200, '']);
      const reply = hostedReaders[client].read(first.text, stream);
      expect(reply.faults).toEqual([]);
      expect(reply.text).toBe(answer);
      expect(reply.cited).toEqual([{ url: page.url, title: page.title }]);
      expect(reply.queries).toEqual(client === 'alpha' ? [] : ['green tea temperature']);
      expect(search.received).toHaveLength(1);
      if (client !== 'gamma') expect(search.received[0]?.headers).toMatchObject({ 'x-loc-country': 'GB', 'x-loc-city': 'London' });
      expect(fake.requests).toHaveLength(2);
      expect(fake.requests[1]?.body.toString()).toContain(found);
      const row = await gateway.row(String(first.headers['x-request-id']));
      expect(row.losses).toContainEqual(expect.objectContaining({ field: 'tools.web_search', action: 'emulated' }));
      expect(row.pipeline).toContain('hosted-tools');

      const next = await ask(client, nameOf(upstream), stream, [turns[client](question), ...reply.turn, turns[client]('Are you sure?')]);
      expect([next.status, next.status === 200 ? '' : next.text]).toEqual([200, '']);
      expect(hostedReaders[client].read(next.text, stream)).toMatchObject({ text: 'As I said.', faults: [] });
      // A protocol whose blocks hold what was found shows it to the model again.
      if (client === 'beta') expect(fake.requests[2]?.body.toString()).toContain(found);
      expect(fake.requests).toHaveLength(3);
    });
  });

  describe.each(named(true))('%s on %s, %s', (client, _protocol, _model, upstream) => {
    test.each([['whole', false] as const, ['streamed', true] as const])(
      '%s: the vendor is asked to search, and the gateway does not',
      async (_name, stream) => {
        said = [{ text: answer }, { text: 'As I said.' }];
        const first = await ask(client, nameOf(upstream), stream, [turns[client](question)]);
        expect([first.status, first.status === 200 ? '' : first.text]).toEqual([200, '']);
        expect(search.received).toEqual([]);
        const sent = fake.requests[0]?.json as Json;
        expect(JSON.stringify(declared(sent))).toMatch(upstream.protocol === 'gamma' ? /googleSearch/ : /"type":"(?:web_search\w*|approximate)"/);
        if (client !== 'gamma') expect(JSON.stringify(declared(sent))).toContain('"city":"London"');
        const row = await gateway.row(String(first.headers['x-request-id']));
        expect((row.losses ?? []).filter(({ field }) => /search|tools/.test(field))).toEqual([]);
        expect(row.pipeline).not.toContain('hosted-tools');
      },
    );
  });

  describe.each(recordings.flatMap(({ native, ...recording }) => native.map((client) => [client, recording.recorded, recording] as const)))(
    '%s and what %s holds',
    (client, _recorded, { id, protocol }) => {
      test('what the vendor found and cites is shown as the caller’s own vendor shows it', async () => {
        const answered = await ask(client, id, true, [turns[client](question)]);
        expect([answered.status, answered.status === 200 ? '' : answered.text]).toEqual([200, '']);
        const reply = hostedReaders[client].read(answered.text, true);
        // A vendor's own bytes pass as they are.
        if (client !== protocol) expect(reply.faults).toEqual([]);
        expect(reply.cited.length).toBeGreaterThan(0);
        expect(search.received).toEqual([]);
      });
    },
  );
});
