/** Calls that are no conversation: embeddings, rerank, moderation. Recorded replies of vendors stand behind a real upstream server. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CohereClientV2, CohereError } from 'cohere-ai';
import OpenAI, { APIError } from 'openai';
import { haveFixtures, readReply } from '../fake-upstream/fixtures.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

let gateway: InProcessGateway;
let upstream: Server;
let received: Received[] = [];
/** What the upstream answers with. */
let reply: { status: number; body: unknown | ((asked: Record<string, unknown>) => unknown) } = { status: 200, body: {} };

const model = (name: string, protocol: string, more: Record<string, unknown> = {}) => ({
  name,
  upstream: protocol,
  upstream_model_id: `vendor-${name}`,
  ...more,
});

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown> });
      response.writeHead(reply.status, { 'content-type': 'application/json' });
      const body = typeof reply.body === 'function' ? (reply.body(received.at(-1)!.body) as unknown) : reply.body;
      response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const at = (name: string, protocol = name, base = address) => ({ name, protocol: protocol as 'alpha', base_url: base, api_keys: [{ key: `sk-of-${name}` }] });
  gateway = await startInProcess({
    upstreams: [
      at('alpha'),
      at('alpha_embeddings'),
      at('alpha_rerank'),
      at('cohere', 'alpha_embeddings', `${address}/v2`),
      at('gamma'),
      at('delta'),
      at('beta'),
      at('cloudhost_invoke'),
    ],
    models: [
      model('chat', 'alpha'),
      model('vectors', 'alpha_embeddings', { request_body_rules: [{ mode: 'overwrite', path: 'user', value: 'a-tenant' }] }),
      model('ranks', 'alpha_rerank'),
      model('cohere-vectors', 'cohere'),
      model('gemini', 'gamma'),
      model('qwen-vectors', 'delta', { kind: 'delta-text-embedding' }),
      { name: 'qwen-v2', upstream: 'delta', upstream_model_id: 'text-embedding-v2', kind: 'delta-text-embedding' },
      model('qwen-ranks', 'delta', { kind: 'delta-rerank' }),
      model('qwen-chat', 'delta'),
      model('claude', 'beta'),
      { name: 'titan', upstream: 'cloudhost_invoke', upstream_model_id: 'amazon.titan-embed-text-v2:0' },
      { name: 'bedrock-ranks', upstream: 'cloudhost_invoke', upstream_model_id: 'cohere.rerank-v3-5:0' },
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  upstream.close();
});

/** What the suites read of answers. */
interface Answer {
  error: { code: string; param: string; message: string };
  id: string;
  data: { embedding: number[] }[];
  results: { index: number; relevance_score: number; document?: unknown }[];
}

let asked = 0;
async function post(path: string, body: object): Promise<{ status: number; json: Answer; row: Awaited<ReturnType<InProcessGateway['row']>> }> {
  const id = `unary-${++asked}`;
  received = [];
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Answer, row: await gateway.row(id) };
}
const sdk = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
const vectorsReply = (...vectors: number[][]) => ({
  object: 'list',
  data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  model: 'vendor-name',
  usage: { prompt_tokens: 7, total_tokens: 7 },
});

describe('embeddings', () => {
  test('pass to a server of the same protocol with the model alone exchanged, and are counted', async () => {
    reply = { status: 200, body: vectorsReply([0.5, -0.25]) };
    const { status, json, row } = await post('/v1/embeddings', { model: 'chat', input: ['a'], dimensions: 2, something_new: true });
    expect(status).toBe(200);
    expect(received).toMatchObject([{ path: '/v1/embeddings', headers: { authorization: 'Bearer sk-of-alpha' } }]);
    expect(received[0]?.body).toEqual({ model: 'vendor-chat', input: ['a'], dimensions: 2, something_new: true });
    expect(json).toEqual({ ...vectorsReply([0.5, -0.25]), model: 'chat' });
    expect(row).toMatchObject({
      client_protocol: 'alpha_embeddings',
      upstream_protocol: 'alpha',
      status: 200,
      input_tokens: 7,
      output_tokens: 0,
      usage_source: 'upstream',
      losses: [],
    });
  });

  test('body rules apply', async () => {
    reply = { status: 200, body: vectorsReply([1]) };
    await post('/v1/embeddings', { model: 'vectors', input: 'a' });
    expect(received[0]?.body).toEqual({ model: 'vendor-vectors', input: 'a', user: 'a-tenant' });
  });

  test.each(['float', 'base64', undefined] as const)('come in the form that was asked for (%s), whatever the upstream knows', async (encoding_format) => {
    for (const [name, body] of [
      ['vectors', vectorsReply([0.5, -0.25], [1, 2])],
      [
        'vectors',
        {
          ...vectorsReply(),
          data: [
            { index: 0, embedding: 'AAAAPwAAgL4=' },
            { index: 1, embedding: 'AACAPwAAAEA=' },
          ],
        },
      ],
      ['gemini', { embeddings: [{ values: [0.5, -0.25] }, { values: [1, 2] }] }],
      [
        'qwen-vectors',
        {
          output: {
            embeddings: [
              { text_index: 1, embedding: [1, 2] },
              { text_index: 0, embedding: [0.5, -0.25] },
            ],
          },
          usage: { total_tokens: 7 },
        },
      ],
      [
        'cohere-vectors',
        {
          id: 'e',
          embeddings: {
            float: [
              [0.5, -0.25],
              [1, 2],
            ],
          },
          meta: { billed_units: { input_tokens: 7 } },
        },
      ],
    ] as const) {
      reply = { status: 200, body };
      const answer = await sdk().embeddings.create({ model: name, input: ['a', 'b'], ...(encoding_format && { encoding_format }) });
      const vectors = answer.data.map(({ embedding }) => {
        if (encoding_format !== 'base64') return embedding;
        const bytes = Buffer.from(embedding as unknown as string, 'base64');
        return [bytes.readFloatLE(0), bytes.readFloatLE(4)];
      });
      expect([name, vectors]).toEqual([
        name,
        [
          [0.5, -0.25],
          [1, 2],
        ],
      ]);
      expect(answer.model).toBe(name);
    }
  });

  test('are asked of generate-content and native upstreams in their own words', async () => {
    reply = { status: 200, body: { embeddings: [{ values: [3, 4] }] } };
    const gemini = await post('/v1/embeddings', { model: 'gemini', input: 'a', dimensions: 2 });
    expect(received[0]).toMatchObject({
      path: '/v1beta/models/vendor-gemini:batchEmbedContents',
      body: { requests: [{ model: 'models/vendor-gemini', content: { parts: [{ text: 'a' }] }, outputDimensionality: 2 }] },
    });
    // Shortened vectors come back in unit length; what nobody counted is an estimate.
    expect(gemini.json.data[0]?.embedding).toEqual([0.6, 0.8]);
    expect(gemini.row).toMatchObject({ usage_source: 'estimated' });
    reply = { status: 200, body: { output: { embeddings: [{ text_index: 0, embedding: [1] }] }, usage: { total_tokens: 3 } } };
    const qwen = await post('/v1/embeddings', { model: 'qwen-vectors', input: 'a', dimensions: 64, user: 'someone' });
    expect(received[0]).toMatchObject({
      path: '/api/v1/services/embeddings/text-embedding/text-embedding',
      body: { model: 'vendor-qwen-vectors', input: { texts: ['a'] }, parameters: { dimension: 64 } },
    });
    expect(qwen.row).toMatchObject({ input_tokens: 3, losses: [{ field: 'user', action: 'dropped' }] });
    reply = { status: 200, body: { embeddings: { float: [[1]] }, meta: { billed_units: { input_tokens: 2 } } } };
    await post('/v1/embeddings', { model: 'cohere-vectors', input: 'a' });
    expect(received[0]).toMatchObject({ path: '/v2/embed', body: { texts: ['a'], input_type: 'search_document', embedding_types: ['float'] } });
  });

  test('are asked of InvokeModel one by one, as the vendor of the model takes them', async () => {
    reply = { status: 200, body: ({ inputText }: Record<string, unknown>) => ({ embedding: [String(inputText).length], inputTextTokenCount: 2 }) };
    const { json, row } = await post('/v1/embeddings', { model: 'titan', input: ['a', 'bb', 'ccc'] });
    expect(json.data.map(({ embedding }) => embedding)).toEqual([[1], [2], [3]]);
    expect(received.map(({ path, body }) => [path, body])).toEqual(
      ['a', 'bb', 'ccc'].map((inputText) => ['/model/amazon.titan-embed-text-v2%3A0/invoke', { inputText }]),
    );
    expect(row).toMatchObject({ input_tokens: 6, status: 200, upstream_protocol: 'cloudhost_invoke' });
  });

  test.each(['gemini', 'qwen-vectors', 'cohere-vectors', 'titan'])('tokens of a foreign tokenizer are refused before any call: %s', async (name) => {
    const { status, json } = await post('/v1/embeddings', { model: name, input: [[1, 2]] });
    expect([status, json.error.param, received.length]).toEqual([400, 'input', 0]);
  });

  test('an answer that lacks a vector is a failure of the upstream', async () => {
    reply = { status: 200, body: { embeddings: [{ values: [3, 4] }] } };
    const { status, row } = await post('/v1/embeddings', { model: 'gemini', input: ['a', 'b'] });
    expect([status, row.error_code]).toEqual([502, 'upstream_broken']);
  });

  test.each([
    ['embeddings of a chat model', '/v1/embeddings', { model: 'claude', input: 'a' }],
    ['a chat with a model of vectors', '/v1/chat/completions', { model: 'vectors', messages: [{ role: 'user', content: 'Hi' }] }],
    ['a chat with a model that ranks', '/v1/chat/completions', { model: 'qwen-ranks', messages: [{ role: 'user', content: 'Hi' }] }],
    ['a rank of a model of vectors', '/v1/rerank', { model: 'qwen-vectors', query: 'a', documents: ['b'] }],
    ['moderation by a chat model of another protocol', '/v1/moderations', { model: 'claude', input: 'a' }],
  ])('%s: 400 that says where it is served', async (_what, path, body) => {
    const { status, json, row } = await post(path, body);
    expect([status, json.error.code, received.length]).toEqual([400, 'unsupported_operation', 0]);
    expect(json.error.message).toMatch(/served on this path, but on /);
    expect(row).toMatchObject({ status: 400, error_code: 'unsupported_operation' });
  });

  describe('of more texts than an upstream takes at once', () => {
    const texts = Array.from({ length: 37 }, (_, at) => `text ${at}`);
    /** One number for each text, the one that it ends with, in an order of its own. */
    const numbered = ({ input }: Record<string, unknown>) => {
      const embeddings = (input as { texts: string[] }).texts.map((text, at) => ({ text_index: at, embedding: [Number(text.slice(5))] }));
      return { output: { embeddings: embeddings.reverse() }, usage: { total_tokens: embeddings.length } };
    };

    test.each([
      ['qwen-vectors', [10, 10, 10, 7]],
      ['qwen-v2', [25, 12]],
    ])('%s: calls of %j, one answer in order, one row with their sum', async (name, sizes) => {
      reply = { status: 200, body: numbered };
      const { json, row } = await post('/v1/embeddings', { model: name, input: texts });
      expect(received.map(({ body }) => (body['input'] as { texts: string[] }).texts.length)).toEqual(sizes);
      expect(json.data.map(({ embedding }) => embedding)).toEqual(texts.map((_, at) => [at]));
      expect(row).toMatchObject({ input_tokens: 37, status: 200, usage_source: 'upstream' });
      expect(row.attempts).toHaveLength(sizes.length);
    });

    test('a part that fails fails the whole, with the error of that part', async () => {
      let calls = 0;
      reply = { status: 200, body: (asked: Record<string, unknown>) => (++calls === 3 ? { output: { embeddings: [] } } : numbered(asked)) };
      const { status, row } = await post('/v1/embeddings', { model: 'qwen-vectors', input: texts });
      expect([status, row.error_code, received.length]).toEqual([502, 'upstream_broken', 3]);
    });

    test('tokens among them are refused before the first call', async () => {
      const { status } = await post('/v1/embeddings', { model: 'qwen-vectors', input: [...texts, [1, 2]] });
      expect([status, received.length]).toEqual([400, 0]);
    });
  });

  describe('asked for by callers of generate-content', () => {
    const genai = () => {
      received = [];
      return new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
    };
    const ask = (name: string) =>
      genai().models.embedContent({ model: name, contents: ['a', 'b'], config: { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 2 } });

    test('pass to their own kind, with the model exchanged wherever it stands', async () => {
      reply = { status: 200, body: { embeddings: [{ values: [0.5, -0.25] }, { values: [1, 2] }], usageMetadata: { promptTokenCount: 3 } } };
      expect((await ask('gemini')).embeddings?.map(({ values }) => values)).toEqual([
        [0.5, -0.25],
        [1, 2],
      ]);
      expect(received).toMatchObject([{ path: '/v1beta/models/vendor-gemini:batchEmbedContents' }]);
      const requests = received[0]?.body['requests'] as Record<string, unknown>[];
      expect(requests.map((one) => [one['model'], one['taskType'], one['outputDimensionality']])).toEqual([
        ['models/vendor-gemini', 'RETRIEVAL_QUERY', 2],
        ['models/vendor-gemini', 'RETRIEVAL_QUERY', 2],
      ]);
      reply = { status: 200, body: { embedding: { values: [1, 2] } } };
      const one = await post('/v1beta/models/gemini:embedContent', { model: 'models/gemini', content: { parts: [{ text: 'a' }] }, title: 'T' });
      expect(received[0]).toMatchObject({
        path: '/v1beta/models/vendor-gemini:embedContent',
        body: { model: 'models/vendor-gemini', content: { parts: [{ text: 'a' }] }, title: 'T' },
      });
      expect(one.json).toEqual({ embedding: { values: [1, 2] } });
      expect(one.row).toMatchObject({ client_protocol: 'gamma', status: 200, losses: [] });
    });

    test('are served by OpenAI-compatible, native and Cohere upstreams in their own words', async () => {
      const expected = [[0.5, -0.25], [1, 2]]; // biome-ignore format: two vectors
      const vectors = async (name: string) => (await ask(name)).embeddings?.map(({ values }) => values);
      reply = { status: 200, body: vectorsReply([0.5, -0.25], [1, 2]) };
      expect(await vectors('vectors')).toEqual(expected);
      expect(received[0]?.body).toMatchObject({ input: ['a', 'b'], dimensions: 2 });
      reply = {
        status: 200,
        body: { output: { embeddings: expected.map((embedding, text_index) => ({ embedding, text_index })) }, usage: { total_tokens: 2 } },
      };
      expect(await vectors('qwen-vectors')).toEqual(expected);
      expect(received[0]?.body).toMatchObject({ input: { texts: ['a', 'b'] }, parameters: { dimension: 2, text_type: 'query' } });
      reply = { status: 200, body: { embeddings: { float: expected }, meta: { billed_units: { input_tokens: 2 } } } };
      expect(await vectors('cohere-vectors')).toEqual(expected);
      expect(received[0]?.body).toMatchObject({ input_type: 'search_query', output_dimension: 2 });
    });

    test('what an upstream is not told is declared; one text is answered by itself', async () => {
      reply = { status: 200, body: vectorsReply([1, 2]) };
      const body = { content: { parts: [{ text: 'a' }] }, taskType: 'CLUSTERING', title: 'T' };
      const { json, row } = await post('/v1beta/models/vectors:embedContent', body);
      expect(json).toEqual({ embedding: { values: [1, 2] } });
      expect(row.losses.map(({ field }) => field)).toEqual(['taskType', 'title']);
    });

    test.each([
      ['no content', {}],
      ['a picture', { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] } }],
      ['an empty list', { requests: [] }],
      ['several sizes', { requests: [1, 2].map((outputDimensionality) => ({ content: { parts: [{ text: 'a' }] }, outputDimensionality })) }],
    ])('%s: 400 before any call', async (_what, body) => {
      const { status } = await post('/v1beta/models/vectors:batchEmbedContents', body);
      expect([status, received.length]).toEqual([400, 0]);
    });
  });

  test.each([
    ['input', {}],
    ['input', { input: [] }],
    ['input.1', { input: ['a', 5] }],
    ['encoding_format', { input: 'a', encoding_format: 'int8' }],
    ['dimensions', { input: 'a', dimensions: 0 }],
  ])('a wrong %s is named', async (param, body) => {
    const { status, json } = await post('/v1/embeddings', { model: 'gemini', ...body });
    expect([status, json.error.param]).toEqual([400, param]);
  });
});

describe('/v2/embed, in the shape of Cohere', () => {
  const asked = { input_type: 'search_query', texts: ['a', 'b'], embedding_types: ['float', 'base64'], output_dimension: 2 };
  const vectors = [
    [0.5, -0.25],
    [1, 2],
  ];

  test.each([
    ['vectors', vectorsReply(...vectors)],
    ['chat', vectorsReply(...vectors)],
    ['gemini', { embeddings: vectors.map((values) => ({ values })) }],
    ['qwen-vectors', { output: { embeddings: vectors.map((embedding, text_index) => ({ embedding, text_index })) }, usage: { total_tokens: 7 } }],
    ['cohere-vectors', { embeddings: { float: vectors }, meta: { billed_units: { input_tokens: 7 } } }],
  ])('%s answers in it', async (name, body) => {
    reply = { status: 200, body };
    const { status, json, row } = await post('/v2/embed', { model: name, ...asked });
    expect(status).toBe(200);
    const { embeddings, ...rest } = json as unknown as { embeddings: { float: number[][]; base64: string[] } };
    expect(embeddings.base64.map((text) => [...new Float32Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer)])).toEqual(
      embeddings.float.map((vector) => vector.map(Math.fround)),
    );
    // Shortened vectors of Gemini are brought to unit length.
    if (name !== 'gemini') expect(embeddings.float).toEqual(vectors);
    expect(rest).toMatchObject({
      id: expect.stringMatching(/^embed-/),
      texts: ['a', 'b'],
      response_type: 'embeddings_by_type',
      meta: { api_version: { version: '2' } },
    });
    expect(row).toMatchObject({ status: 200, model: name, client_protocol: 'alpha_rerank' });
  });

  test('what its caller says reaches an upstream of Cohere, and is a declared loss elsewhere', async () => {
    reply = { status: 200, body: { embeddings: { float: [[1]] }, meta: { billed_units: { input_tokens: 4 } } } };
    const body = { input_type: 'classification', truncate: 'END', inputs: [{ content: [{ type: 'text', text: 'a' }] }] };
    const { json, row } = await post('/v2/embed', { model: 'cohere-vectors', ...body });
    expect(received).toMatchObject([{ path: '/v2/embed' }]);
    expect(received[0]?.body).toEqual({
      ...{ model: 'vendor-cohere-vectors', texts: ['a'], input_type: 'classification', truncate: 'END', embedding_types: ['float'] },
    });
    expect(json).toMatchObject({ embeddings: { float: [[1]] }, meta: { billed_units: { input_tokens: 4 } } });
    expect(row).toMatchObject({ input_tokens: 4, usage_source: 'upstream', losses: [] });
    reply = { status: 200, body: vectorsReply([1]) };
    const lost = (await post('/v2/embed', { model: 'vectors', ...body })).row.losses.map(({ field }) => field);
    expect(lost.sort()).toEqual(['input_type', 'truncate']);
  });

  test.each([
    [{}, 'texts'],
    [{ texts: [] }, 'texts'],
    [{ texts: ['a'], embedding_types: ['int8'] }, 'embedding_types.0'],
    [{ inputs: [{ content: [{ type: 'image_url' }] }] }, 'inputs.0'],
    [{ texts: ['a'], images: ['data:'] }, 'images'],
    [{ texts: ['a'], output_dimension: 0 }, 'output_dimension'],
  ])('%j: 400 that names the field', async (body, param) => {
    received = [];
    const { status, json } = await post('/v2/embed', { model: 'vectors', ...body });
    expect([status, json.error.param, received]).toEqual([400, param, []]);
  });

  (haveFixtures() ? test : test.skip)('a recorded reply comes out as it was', async () => {
    reply = { status: 200, body: readReply('alpha_embeddings', 'cohere-v2-query', 1)!.body };
    const { json } = await post('/v2/embed', { model: 'cohere-vectors', texts: ['Hello, world!'], input_type: 'search_query' });
    const { id: _id, meta: _meta, ...recorded } = JSON.parse(String(reply.body)) as Record<string, unknown>;
    expect(json).toMatchObject(recorded);
  });
});

describe('rerank', () => {
  const documents = ['first', { text: 'second' }, 'third'];

  test.each(['/v1/rerank', '/v2/rerank', '/rerank'])('%s answers in one shape for the SDKs of Cohere and Jina', async (path) => {
    for (const [name, body] of [
      [
        'ranks',
        {
          id: 'r',
          results: [
            { index: 0, relevance_score: 0.1 },
            { index: 2, relevance_score: 0.9 },
          ],
          meta: { billed_units: { search_units: 1 } },
        },
      ],
      [
        'ranks',
        {
          model: 'x',
          results: [
            { index: 2, relevance_score: 0.9, document: { text: 'third' } },
            { index: 0, relevance_score: 0.1 },
          ],
          usage: { total_tokens: 9 },
        },
      ],
      [
        'ranks',
        {
          object: 'list',
          data: [
            { index: 2, relevance_score: 0.9 },
            { index: 0, relevance_score: 0.1 },
          ],
          usage: { total_tokens: 9 },
        },
      ],
      [
        'qwen-ranks',
        {
          output: {
            results: [
              { index: 2, relevance_score: 0.9 },
              { index: 0, relevance_score: 0.1 },
            ],
          },
          usage: { total_tokens: 9 },
        },
      ],
    ] as const) {
      reply = { status: 200, body };
      const { status, json } = await post(path, { model: name, query: 'q', documents, top_n: 2 });
      expect(status).toBe(200);
      expect(json).toMatchObject({ model: name, meta: { api_version: { version: '2' } } });
      expect(typeof json.id).toBe('string');
      expect(json.results).toEqual([
        { index: 2, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.1 },
      ]);
    }
  });

  test('documents are repeated where that is asked for, from the request if need be', async () => {
    reply = {
      status: 200,
      body: {
        results: [
          { index: 1, relevance_score: 0.5 },
          { index: 0, relevance_score: 0.4 },
        ],
      },
    };
    const { json } = await post('/v1/rerank', { model: 'ranks', query: 'q', documents, return_documents: true });
    expect(json.results.map(({ document }) => document)).toEqual([{ text: 'second' }, { text: 'first' }]);
  });

  test('the native API is asked in its own words, and fields that it lacks are declared', async () => {
    reply = { status: 200, body: { output: { results: [{ index: 0, relevance_score: 0.5 }] }, usage: { total_tokens: 5 } } };
    const { row } = await post('/v1/rerank', { model: 'qwen-ranks', query: 'q', documents: ['a'], top_k: 3, max_tokens_per_doc: 5 });
    expect(received[0]).toMatchObject({
      path: '/api/v1/services/rerank/text-rerank/text-rerank',
      body: { model: 'vendor-qwen-ranks', input: { query: 'q', documents: ['a'] }, parameters: { top_n: 3, return_documents: false } },
    });
    expect(row).toMatchObject({ client_protocol: 'alpha_rerank', input_tokens: 5, losses: [{ field: 'max_tokens_per_doc', action: 'dropped' }] });
  });

  test('is asked of InvokeModel, whose searches are counted', async () => {
    reply = {
      status: 200,
      body: {
        results: [
          { index: 1, relevance_score: 0.5 },
          { index: 0, relevance_score: 0.2 },
        ],
      },
    };
    const { json } = await post('/v2/rerank', { model: 'bedrock-ranks', query: 'q', documents, top_n: 2 });
    expect(received[0]).toMatchObject({
      path: '/model/cohere.rerank-v3-5%3A0/invoke',
      body: { query: 'q', documents: ['first', 'second', 'third'], top_n: 2, api_version: 2 },
    });
    expect(json).toMatchObject({ results: [{ index: 1 }, { index: 0 }], meta: { billed_units: { search_units: 1 } } });
  });

  test('a result that names no document is a failure of the upstream', async () => {
    reply = { status: 200, body: { results: [{ index: 7, relevance_score: 0.5 }] } };
    const { status } = await post('/v1/rerank', { model: 'ranks', query: 'q', documents: ['a'] });
    expect(status).toBe(502);
  });

  test.each([
    ['documents', { query: 'q', documents: [] }],
    ['documents.0', { query: 'q', documents: [5] }],
    ['query', { documents: ['a'] }],
    ['top_n', { query: 'q', documents: ['a'], top_n: 0 }],
  ])('a wrong %s is named', async (param, body) => {
    const { status, json } = await post('/v1/rerank', { model: 'ranks', ...body });
    expect([status, json.error.param]).toEqual([400, param]);
  });
});

const recorded = haveFixtures() ? describe : describe.skip;
recorded('recorded replies through the official SDK', () => {
  test.each([
    ['batch', 'vectors'],
    ['single-dims', 'vectors'],
    ['base64', 'vectors'],
  ])('embeddings %s: equal to a direct call', async (name, model) => {
    const { status, body } = readReply('alpha_embeddings', name, 1)!;
    reply = { status, body };
    const given = JSON.parse(body.toString()) as OpenAI.CreateEmbeddingResponse;
    const encoding_format = typeof given.data[0]?.embedding === 'string' ? 'base64' : 'float';
    const answer = await sdk().embeddings.create({ model, input: given.data.map(({ index }) => `text ${index}`), encoding_format });
    expect(JSON.parse(JSON.stringify(answer))).toEqual({ ...given, model });
  });

  test('vectors of generate-content: equal to a direct call', async () => {
    const { status, body } = readReply('gamma_media', 'embed-dims', 1)!;
    reply = { status, body };
    const ai = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
    const given = JSON.parse(body.toString()) as { embeddings: { values: number[] }[] };
    const answer = await ai.models.embedContent({ model: 'gemini', contents: 'Hello, world!', config: { outputDimensionality: 128 } });
    expect(answer.embeddings?.map(({ values }) => values)).toEqual(given.embeddings.map(({ values }) => values));
  });

  test.each(['text', 'text-and-image'])('moderation of %s: equal to a direct call', async (name) => {
    const { status, body } = readReply('alpha_moderations', name, 1)!;
    reply = { status, body };
    const answer = await sdk().moderations.create({ model: 'chat', input: 'This is a safe message' });
    expect(JSON.parse(JSON.stringify(answer))).toEqual({ ...(JSON.parse(body.toString()) as object), model: 'chat' });
    expect(received.at(-1)).toMatchObject({ path: '/v1/moderations', body: { model: 'vendor-chat' } });
  });

  test('an error of the vendor reaches the SDK with its status and words', async () => {
    const { status, body } = readReply('alpha_embeddings', 'err-404', 1)!;
    reply = { status, body };
    const failed = await sdk()
      .embeddings.create({ model: 'vectors', input: 'a' })
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(APIError);
    expect(failed).toMatchObject({ status: 404, code: 'model_not_found' });
  });

  test.each(['cohere-v1-documents', 'cohere-v2', 'openrouter', 'voyage'])('rerank %s: the same order and scores', async (name) => {
    const { status, body } = readReply('alpha_rerank', name, 1)!;
    reply = { status, body };
    const given = JSON.parse(body.toString()) as Record<string, { index: number; relevance_score: number }[]>;
    const documents = Array.from({ length: 10 }, (_, at) => `document ${at}`);
    const { json } = await post('/v1/rerank', { model: 'ranks', query: 'q', documents });
    expect(json.results).toEqual((given['results'] ?? given['data'])!.map(({ index, relevance_score }) => ({ index, relevance_score })));
  });
});

describe('through the official SDK of Cohere', () => {
  const cohere = () => {
    received = [];
    return new CohereClientV2({ token: gateway.key, environment: gateway.url, maxRetries: 0 });
  };
  const documents = ['first', 'second', 'third'];

  test.each([
    ['ranks', { results: [2, 0].map((index) => ({ index, relevance_score: (index + 1) / 4 })), meta: { billed_units: { search_units: 1 } } }],
    ['qwen-ranks', { output: { results: [2, 0].map((index) => ({ index, relevance_score: (index + 1) / 4 })) }, usage: { total_tokens: 79 } }],
    ['bedrock-ranks', { results: [2, 0].map((index) => ({ index, relevance_score: (index + 1) / 4 })) }],
  ])('rerank by %s', async (model, body) => {
    reply = { status: 200, body };
    const { results, meta } = await cohere().rerank({ model, query: 'q', documents, topN: 2 });
    expect(results).toEqual([
      { index: 2, relevanceScore: 0.75 },
      { index: 0, relevanceScore: 0.25 },
    ]);
    expect(meta?.apiVersion?.version).toBe('2');
    expect(JSON.stringify(received[0]?.body)).toMatch(/"top_n":2/);
  });

  test.each([
    ['cohere-vectors', { embeddings: { float: [[0.5, -0.25]] }, meta: { billed_units: { input_tokens: 7 } } }],
    ['vectors', vectorsReply([0.5, -0.25])],
    ['qwen-vectors', { output: { embeddings: [{ embedding: [0.5, -0.25], text_index: 0 }] }, usage: { total_tokens: 7 } }],
  ])('embed by %s', async (model, body) => {
    reply = { status: 200, body };
    const { embeddings, texts } = await cohere().embed({ model, texts: ['a'], inputType: 'search_query', embeddingTypes: ['float'] });
    expect([embeddings.float, texts]).toEqual([[[0.5, -0.25]], ['a']]);
  });

  test('a refusal is an error of the SDK, with its status', async () => {
    reply = { status: 200, body: {} };
    const failed = await cohere()
      .rerank({ model: 'ranks', query: 'q', documents: [] })
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(CohereError);
    expect(failed).toMatchObject({ statusCode: 400 });
    expect(received).toEqual([]);
  });

  (haveFixtures() ? test : test.skip)('recorded replies come out as from the vendor itself', async () => {
    const direct = async (name: 'cohere-v2' | 'cohere-v2-query', family: string) => JSON.parse(readReply(family, name, 1)!.body.toString()) as Json;
    const ranking = await direct('cohere-v2', 'alpha_rerank');
    reply = { status: 200, body: ranking };
    const ranked = await cohere().rerank({ model: 'ranks', query: 'q', documents: Array.from({ length: 10 }, (_, at) => `document ${at}`) });
    expect(ranked.results).toEqual(ranking.results.map((one: Json) => ({ index: one.index, relevanceScore: one.relevance_score })));
    const vectors = await direct('cohere-v2-query', 'alpha_embeddings');
    reply = { status: 200, body: vectors };
    const embedded = await cohere().embed({ model: 'cohere-vectors', texts: ['Hello, world!'], inputType: 'search_query', embeddingTypes: ['float'] });
    expect(embedded.embeddings.float).toEqual(vectors.embeddings.float);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: recordings have every shape there is
type Json = any;
