import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type OpenAI from 'openai';
import { APIError } from 'openai';
import { haveFixtures, readReply } from '../fake-upstream/fixtures.ts';
import { gateway, post, sdk, startVectors, stopVectors, vectorsReply, vendor } from './embeddings-stage.ts';

beforeAll(startVectors);
afterAll(stopVectors);

describe('embeddings', () => {
  test('pass to a server of the same protocol with the model alone exchanged, and are counted', async () => {
    vendor.reply = { status: 200, body: vectorsReply([0.5, -0.25]) };
    const { status, json, row } = await post('/v1/embeddings', { model: 'chat', input: ['a'], dimensions: 2, something_new: true });
    expect(status).toBe(200);
    expect(vendor.received).toMatchObject([{ path: '/v1/embeddings', headers: { authorization: 'Bearer sk-of-alpha' } }]);
    expect(vendor.received[0]?.body).toEqual({ model: 'vendor-chat', input: ['a'], dimensions: 2, something_new: true });
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
    vendor.reply = { status: 200, body: vectorsReply([1]) };
    await post('/v1/embeddings', { model: 'vectors', input: 'a' });
    expect(vendor.received[0]?.body).toEqual({ model: 'vendor-vectors', input: 'a', user: 'a-tenant' });
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
      vendor.reply = { status: 200, body };
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

  test('are asked of Vertex AI by its own verbs, which its models differ in', async () => {
    const models = '/v1/projects/p/locations/l/publishers/google/models';
    const predictions = [
      [3, 4],
      [1, 0],
    ].map((values) => ({ embeddings: { values, statistics: { token_count: 2, truncated: false } } }));
    vendor.reply = { status: 200, body: { predictions, metadata: { billableCharacterCount: 2 } } };
    const older = await post('/v1/embeddings', { model: 'vertex-older', input: ['a', 'b'], dimensions: 2 });
    expect(vendor.received).toMatchObject([{ path: `${models}/text-embedding-005:predict` }]);
    expect(vendor.received[0]?.body).toEqual({ instances: [{ content: 'a' }, { content: 'b' }], parameters: { outputDimensionality: 2 } });
    expect(older.json.data.map(({ embedding }) => embedding)).toEqual([
      [0.6, 0.8],
      [1, 0],
    ]);
    expect(older.row).toMatchObject({ input_tokens: 4, usage_source: 'upstream' });
    // Gemini's take one text in a call.
    vendor.reply = { status: 200, body: { predictions: predictions.slice(0, 1) } };
    const single = await post('/v1/embeddings', { model: 'vertex-vectors', input: ['a', 'b'] });
    expect(vendor.received.map(({ path, body }) => [path, body])).toEqual(
      ['a', 'b'].map((content) => [`${models}/gemini-embedding-001:predict`, { instances: [{ content }] }]),
    );
    expect(single.json.data).toHaveLength(2);
    vendor.reply = { status: 200, body: { embedding: { values: [1, 2] }, usageMetadata: { promptTokenCount: 3 } } };
    const newer = await post('/v2/embed', { model: 'vertex-newer', texts: ['a'], input_type: 'search_query' });
    expect(vendor.received).toMatchObject([{ path: `${models}/gemini-embedding-2:embedContent` }]);
    expect(vendor.received[0]?.body).toEqual({ content: { parts: [{ text: 'a' }] }, embedContentConfig: { taskType: 'RETRIEVAL_QUERY' } });
    expect(newer.row).toMatchObject({ status: 200, input_tokens: 3 });
    const both = await post('/v1/embeddings', { model: 'vertex-newer', input: ['a', 'b'] });
    expect(vendor.received.map(({ body }) => body)).toEqual(['a', 'b'].map((text) => ({ content: { parts: [{ text }] } })));
    expect([both.json.data.length, both.row?.input_tokens]).toEqual([2, 6]);
    // A caller of the other API of Google's is translated, too.
    vendor.reply = { status: 200, body: { predictions: predictions.slice(0, 1) } };
    const google = await post('/v1beta/models/vertex-vectors:embedContent', { content: { parts: [{ text: 'a' }] }, taskType: 'RETRIEVAL_DOCUMENT' });
    expect(vendor.received[0]?.body).toEqual({ instances: [{ content: 'a', task_type: 'RETRIEVAL_DOCUMENT' }] });
    expect(google.json).toMatchObject({ embedding: { values: [3, 4] } });
  });

  test('are asked of generate-content and native upstreams in their own words', async () => {
    vendor.reply = { status: 200, body: { embeddings: [{ values: [3, 4] }] } };
    const gemini = await post('/v1/embeddings', { model: 'gemini', input: 'a', dimensions: 2 });
    expect(vendor.received[0]).toMatchObject({
      path: '/v1beta/models/vendor-gemini:batchEmbedContents',
      body: { requests: [{ model: 'models/vendor-gemini', content: { parts: [{ text: 'a' }] }, outputDimensionality: 2 }] },
    });
    // Shortened vectors come back in unit length; what nobody counted is an estimate.
    expect(gemini.json.data[0]?.embedding).toEqual([0.6, 0.8]);
    expect(gemini.row).toMatchObject({ usage_source: 'estimated' });
    vendor.reply = { status: 200, body: { output: { embeddings: [{ text_index: 0, embedding: [1] }] }, usage: { total_tokens: 3 } } };
    const qwen = await post('/v1/embeddings', { model: 'qwen-vectors', input: 'a', dimensions: 64, user: 'someone' });
    expect(vendor.received[0]).toMatchObject({
      path: '/api/v1/services/embeddings/text-embedding/text-embedding',
      body: { model: 'vendor-qwen-vectors', input: { texts: ['a'] }, parameters: { dimension: 64 } },
    });
    expect(qwen.row).toMatchObject({ input_tokens: 3, losses: [{ field: 'user', action: 'dropped' }] });
    vendor.reply = { status: 200, body: { embeddings: { float: [[1]] }, meta: { billed_units: { input_tokens: 2 } } } };
    await post('/v1/embeddings', { model: 'cohere-vectors', input: 'a' });
    expect(vendor.received[0]).toMatchObject({ path: '/v2/embed', body: { texts: ['a'], input_type: 'search_document', embedding_types: ['float'] } });
  });

  test('are asked of InvokeModel one by one, as the vendor of the model takes them', async () => {
    vendor.reply = { status: 200, body: ({ inputText }: Record<string, unknown>) => ({ embedding: [String(inputText).length], inputTextTokenCount: 2 }) };
    const { json, row } = await post('/v1/embeddings', { model: 'titan', input: ['a', 'bb', 'ccc'] });
    expect(json.data.map(({ embedding }) => embedding)).toEqual([[1], [2], [3]]);
    expect(vendor.received.map(({ path, body }) => [path, body])).toEqual(
      ['a', 'bb', 'ccc'].map((inputText) => ['/model/amazon.titan-embed-text-v2%3A0/invoke', { inputText }]),
    );
    expect(row).toMatchObject({ input_tokens: 6, status: 200, upstream_protocol: 'cloudhost_invoke' });
  });

  test.each(['gemini', 'qwen-vectors', 'cohere-vectors', 'titan'])('tokens of a foreign tokenizer are refused before any call: %s', async (name) => {
    const { status, json } = await post('/v1/embeddings', { model: name, input: [[1, 2]] });
    expect([status, json.error.param, vendor.received.length]).toEqual([400, 'input', 0]);
    expect(json.error.message).toContain('Send the texts as strings');
  });

  test('an answer that lacks a vector is a failure of the upstream', async () => {
    vendor.reply = { status: 200, body: { embeddings: [{ values: [3, 4] }] } };
    const { status, row } = await post('/v1/embeddings', { model: 'gemini', input: ['a', 'b'] });
    expect([status, row.error_code]).toEqual([502, 'upstream_bad_reply']);
  });

  test.each([
    ['embeddings of a chat model', '/v1/embeddings', { model: 'claude', input: 'a' }],
    ['a chat with a model of vectors', '/v1/chat/completions', { model: 'vectors', messages: [{ role: 'user', content: 'Hi' }] }],
    ['a chat with a model that ranks', '/v1/chat/completions', { model: 'qwen-ranks', messages: [{ role: 'user', content: 'Hi' }] }],
    ['a rank of a model of vectors', '/v1/rerank', { model: 'qwen-vectors', query: 'a', documents: ['b'] }],
    ['moderation by a chat model of another protocol', '/v1/moderations', { model: 'claude', input: 'a' }],
    ['decisions by a chat model of another protocol', '/v1/decisions', { model: 'claude', input: 'a', questions: [] }],
  ])('%s: 400 that says where it is served', async (_what, path, body) => {
    const { status, json, row } = await post(path, body);
    expect([status, json.error.code, vendor.received.length]).toEqual([400, 'unsupported_operation', 0]);
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
      vendor.reply = { status: 200, body: numbered };
      const { json, row } = await post('/v1/embeddings', { model: name, input: texts });
      expect(vendor.received.map(({ body }) => (body['input'] as { texts: string[] }).texts.length)).toEqual(sizes);
      expect(json.data.map(({ embedding }) => embedding)).toEqual(texts.map((_, at) => [at]));
      expect(row).toMatchObject({ input_tokens: 37, status: 200, usage_source: 'upstream' });
      expect(row.attempts).toHaveLength(sizes.length);
    });

    const many = Array.from({ length: 230 }, (_, at) => `text ${at}`);
    const last = (text: string) => [Number(text.slice(5))];
    /** Applications send a whole document at once: OpenAI takes 2,048 texts. */
    test.each([
      [
        'gemini',
        [100, 100, 30],
        ({ requests }: Record<string, unknown>) => ({
          embeddings: (requests as { content: { parts: { text: string }[] } }[]).map(({ content }) => ({ values: last(content.parts[0]!.text) })),
        }),
      ],
      [
        'cohere-vectors',
        [96, 96, 38],
        ({ texts: asked }: Record<string, unknown>) => ({ embeddings: { float: (asked as string[]).map(last) }, meta: { billed_units: { input_tokens: 1 } } }),
      ],
      ['vectors', [230], ({ input }: Record<string, unknown>) => vectorsReply(...(input as string[]).map(last))],
    ] as const)('%s: calls of %j texts, one answer in order', async (name, sizes, answer) => {
      vendor.reply = { status: 200, body: answer };
      const { json, row } = await post('/v1/embeddings', { model: name, input: many });
      expect(vendor.received.map(({ body }) => ((body['requests'] ?? body['texts'] ?? body['input']) as unknown[]).length)).toEqual(sizes);
      expect(json.data.map(({ embedding }) => embedding)).toEqual(many.map(last));
      expect(row.attempts).toHaveLength(sizes.length);
    });

    test('what was paid for parts stays in the row when another upstream answers the whole', async () => {
      let parts = 0;
      vendor.reply = {
        status: 200,
        body: (asked: Record<string, unknown>) => {
          if (Array.isArray(asked['input'])) return { ...vectorsReply(...texts.map(() => [1])), usage: { prompt_tokens: 50, total_tokens: 50 } };
          return ++parts === 3 ? {} : numbered(asked);
        },
      };
      const { json, row } = await post('/v1/embeddings', { model: 'either-vectors', input: texts });
      expect(json.data).toHaveLength(37);
      expect(row).toMatchObject({ status: 200, model: 'vectors', input_tokens: 10 + 10 + 50 });
      expect(row.attempts).toHaveLength(4);
    });

    test('a part that fails fails the whole, with the error of that part', async () => {
      let calls = 0;
      vendor.reply = { status: 200, body: (asked: Record<string, unknown>) => (++calls === 3 ? { output: { embeddings: [] } } : numbered(asked)) };
      const { status, row } = await post('/v1/embeddings', { model: 'qwen-vectors', input: texts });
      expect([status, row.error_code, vendor.received.length]).toEqual([502, 'upstream_bad_reply', 3]);
    });

    test('tokens among them are refused before the first call', async () => {
      const { status } = await post('/v1/embeddings', { model: 'qwen-vectors', input: [...texts, [1, 2]] });
      expect([status, vendor.received.length]).toEqual([400, 0]);
    });
  });

  describe('asked for by callers of generate-content', () => {
    const genai = () => {
      vendor.received = [];
      return new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
    };
    const ask = (name: string) =>
      genai().models.embedContent({ model: name, contents: ['a', 'b'], config: { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 2 } });

    test('pass to their own kind, with the model exchanged wherever it stands', async () => {
      vendor.reply = { status: 200, body: { embeddings: [{ values: [0.5, -0.25] }, { values: [1, 2] }], usageMetadata: { promptTokenCount: 3 } } };
      expect((await ask('gemini')).embeddings?.map(({ values }) => values)).toEqual([
        [0.5, -0.25],
        [1, 2],
      ]);
      expect(vendor.received).toMatchObject([{ path: '/v1beta/models/vendor-gemini:batchEmbedContents' }]);
      const requests = vendor.received[0]?.body['requests'] as Record<string, unknown>[];
      expect(requests.map((one) => [one['model'], one['taskType'], one['outputDimensionality']])).toEqual([
        ['models/vendor-gemini', 'RETRIEVAL_QUERY', 2],
        ['models/vendor-gemini', 'RETRIEVAL_QUERY', 2],
      ]);
      vendor.reply = { status: 200, body: { embedding: { values: [1, 2] } } };
      const one = await post('/v1beta/models/gemini:embedContent', { model: 'models/gemini', content: { parts: [{ text: 'a' }] }, title: 'T' });
      expect(vendor.received[0]).toMatchObject({
        path: '/v1beta/models/vendor-gemini:embedContent',
        body: { model: 'models/vendor-gemini', content: { parts: [{ text: 'a' }] }, title: 'T' },
      });
      expect(one.json).toEqual({ embedding: { values: [1, 2] } });
      expect(one.row).toMatchObject({ client_protocol: 'gamma', status: 200, losses: [] });
    });

    test('are served by OpenAI-compatible, native and Cohere upstreams in their own words', async () => {
      const expected = [[0.5, -0.25], [1, 2]]; // biome-ignore format: two vectors
      const vectors = async (name: string) => (await ask(name)).embeddings?.map(({ values }) => values);
      vendor.reply = { status: 200, body: vectorsReply([0.5, -0.25], [1, 2]) };
      expect(await vectors('vectors')).toEqual(expected);
      expect(vendor.received[0]?.body).toMatchObject({ input: ['a', 'b'], dimensions: 2 });
      vendor.reply = {
        status: 200,
        body: { output: { embeddings: expected.map((embedding, text_index) => ({ embedding, text_index })) }, usage: { total_tokens: 2 } },
      };
      expect(await vectors('qwen-vectors')).toEqual(expected);
      expect(vendor.received[0]?.body).toMatchObject({ input: { texts: ['a', 'b'] }, parameters: { dimension: 2, text_type: 'query' } });
      vendor.reply = { status: 200, body: { embeddings: { float: expected }, meta: { billed_units: { input_tokens: 2 } } } };
      expect(await vectors('cohere-vectors')).toEqual(expected);
      expect(vendor.received[0]?.body).toMatchObject({ input_type: 'search_query', output_dimension: 2 });
    });

    test('what an upstream is not told is declared; one text is answered by itself', async () => {
      vendor.reply = { status: 200, body: vectorsReply([1, 2]) };
      const body = { content: { parts: [{ text: 'a' }] }, taskType: 'CLUSTERING', title: 'T' };
      const { json, row } = await post('/v1beta/models/vectors:embedContent', body);
      expect(json).toEqual({ embedding: { values: [1, 2] } });
      expect(row.losses.map(({ field }) => field)).toEqual(['taskType', 'title']);
      const unknown = await post('/v1beta/models/vectors:embedContent', { content: { parts: [{ text: 'a' }] }, auto_truncate: true });
      expect(unknown.row.losses.map(({ field }) => field)).toEqual(['autoTruncate']);
      const entry = { model: 'models/vectors', content: { parts: [{ text: 'a' }] }, autoTruncate: true };
      const several = await post('/v1beta/models/vectors:batchEmbedContents', { requests: [entry] });
      expect(several.row.losses.map(({ field }) => field)).toEqual(['requests.autoTruncate']);
    });

    test.each([
      ['no content', {}],
      ['a picture', { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] } }],
      ['an empty list', { requests: [] }],
      ['several sizes', { requests: [1, 2].map((outputDimensionality) => ({ content: { parts: [{ text: 'a' }] }, outputDimensionality })) }],
    ])('%s: 400 before any call', async (_what, body) => {
      const { status } = await post('/v1beta/models/vectors:batchEmbedContents', body);
      expect([status, vendor.received.length]).toEqual([400, 0]);
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
    vendor.reply = { status: 200, body };
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
    vendor.reply = { status: 200, body: { embeddings: { float: [[1]] }, meta: { billed_units: { input_tokens: 4 } } } };
    const body = { input_type: 'classification', truncate: 'END', priority: 1, inputs: [{ content: [{ type: 'text', text: 'a' }] }] };
    const { json, row } = await post('/v2/embed', { model: 'cohere-vectors', ...body });
    expect(vendor.received).toMatchObject([{ path: '/v2/embed' }]);
    expect(vendor.received[0]?.body).toEqual({
      ...{ model: 'vendor-cohere-vectors', texts: ['a'], input_type: 'classification', truncate: 'END', priority: 1, embedding_types: ['float'] },
    });
    expect(json).toMatchObject({ embeddings: { float: [[1]] }, meta: { billed_units: { input_tokens: 4 } } });
    expect(row).toMatchObject({ input_tokens: 4, usage_source: 'upstream', losses: [] });
    vendor.reply = { status: 200, body: vectorsReply([1]) };
    const lost = (await post('/v2/embed', { model: 'vectors', ...body })).row.losses.map(({ field }) => field);
    expect(lost.sort()).toEqual(['input_type', 'priority', 'truncate']);
    // Also where it is one of those that other upstreams have a word for.
    const query = (await post('/v2/embed', { model: 'vectors', texts: ['a'], input_type: 'search_query' })).row.losses;
    expect(query.map(({ field }) => field)).toEqual(['input_type']);
  });

  test.each([
    [{}, 'texts'],
    [{ texts: [] }, 'texts'],
    [{ texts: ['a'], embedding_types: ['int8'] }, 'embedding_types.0'],
    [{ inputs: [{ content: [{ type: 'image_url' }] }] }, 'inputs.0'],
    [{ texts: ['a'], images: ['data:'] }, 'images'],
    [{ texts: ['a'], output_dimension: 0 }, 'output_dimension'],
  ])('%j: 400 that names the field', async (body, param) => {
    vendor.received = [];
    const { status, json } = await post('/v2/embed', { model: 'vectors', ...body });
    expect([status, json.error.param, vendor.received]).toEqual([400, param, []]);
  });

  (haveFixtures() ? test : test.skip)('a recorded reply comes out as it was', async () => {
    vendor.reply = { status: 200, body: readReply('alpha_embeddings', 'cohere-v2-query', 1)!.body };
    const { json } = await post('/v2/embed', { model: 'cohere-vectors', texts: ['Hello, world!'], input_type: 'search_query' });
    const { id: _id, meta: _meta, ...recorded } = JSON.parse(String(vendor.reply.body)) as Record<string, unknown>;
    expect(json).toMatchObject(recorded);
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
    vendor.reply = { status, body };
    const given = JSON.parse(body.toString()) as OpenAI.CreateEmbeddingResponse;
    const encoding_format = typeof given.data[0]?.embedding === 'string' ? 'base64' : 'float';
    const answer = await sdk().embeddings.create({ model, input: given.data.map(({ index }) => `text ${index}`), encoding_format });
    expect(JSON.parse(JSON.stringify(answer))).toEqual({ ...given, model });
  });

  test('vectors of generate-content: equal to a direct call', async () => {
    const { status, body } = readReply('gamma_media', 'embed-dims', 1)!;
    vendor.reply = { status, body };
    const ai = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
    const given = JSON.parse(body.toString()) as { embeddings: { values: number[] }[] };
    const answer = await ai.models.embedContent({ model: 'gemini', contents: 'Hello, world!', config: { outputDimensionality: 128 } });
    expect(answer.embeddings?.map(({ values }) => values)).toEqual(given.embeddings.map(({ values }) => values));
  });

  test.each(['text', 'text-and-image'])('moderation of %s: equal to a direct call', async (name) => {
    const { status, body } = readReply('alpha_moderations', name, 1)!;
    vendor.reply = { status, body };
    const answer = await sdk().moderations.create({ model: 'chat', input: 'This is a safe message' });
    expect(JSON.parse(JSON.stringify(answer))).toEqual({ ...(JSON.parse(body.toString()) as object), model: 'chat' });
    expect(vendor.received.at(-1)).toMatchObject({ path: '/v1/moderations', body: { model: 'vendor-chat' } });
  });

  test('decisions: equal to a direct call, and their tokens are in the row', async () => {
    const details = { input_tokens_details: { cached_tokens: 30, cache_write_tokens: 0 }, output_tokens_details: { reasoning_tokens: 2 } };
    const usage = { input_tokens: 40, output_tokens: 5, total_tokens: 45, ...details };
    const given = { model: 'vendor-chat', answers: [{ type: 'predicate', name: null, probability: 0.9 }], usage };
    vendor.reply = { status: 200, body: given };
    const questions = [{ type: 'predicate' as const, instructions: 'Is this a greeting?' }];
    const answer = await sdk().decisions.create({ model: 'chat', input: 'Hello!', questions });
    expect(JSON.parse(JSON.stringify(answer))).toEqual({ ...given, model: 'chat' });
    expect(vendor.received.at(-1)).toMatchObject({ path: '/v1/decisions', body: { model: 'vendor-chat', input: 'Hello!', questions } });
    const { row } = await post('/v1/decisions', { model: 'chat', input: 'Hello!', questions });
    expect(row).toMatchObject({ status: 200, usage_source: 'upstream', input_tokens: 10, cache_read_tokens: 30, output_tokens: 3, reasoning_tokens: 2 });
  });

  test('an error of the vendor reaches the SDK with its status and words', async () => {
    const { status, body } = readReply('alpha_embeddings', 'err-404', 1)!;
    vendor.reply = { status, body };
    const failed = await sdk()
      .embeddings.create({ model: 'vectors', input: 'a' })
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(APIError);
    expect(failed).toMatchObject({ status: 404, code: 'model_not_found' });
  });

  test.each(['cohere-v1-documents', 'cohere-v2', 'openrouter', 'voyage'])('rerank %s: the same order and scores', async (name) => {
    const { status, body } = readReply('alpha_rerank', name, 1)!;
    vendor.reply = { status, body };
    const given = JSON.parse(body.toString()) as Record<string, { index: number; relevance_score: number }[]>;
    const documents = Array.from({ length: 10 }, (_, at) => `document ${at}`);
    const { json } = await post('/v1/rerank', { model: 'ranks', query: 'q', documents });
    expect(json.results).toEqual((given['results'] ?? given['data'])!.map(({ index, relevance_score }) => ({ index, relevance_score })));
  });
});
