import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CohereClientV2, CohereError } from 'cohere-ai';
import { haveFixtures, readReply } from '../fake-upstream/fixtures.ts';
import { gateway, post, startVectors, stopVectors, vectorsReply, vendor } from './embeddings-stage.ts';

beforeAll(startVectors);
afterAll(stopVectors);

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
      vendor.reply = { status: 200, body };
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
    vendor.reply = {
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
    vendor.reply = { status: 200, body: { output: { results: [{ index: 0, relevance_score: 0.5 }] }, usage: { total_tokens: 5 } } };
    const { row } = await post('/v1/rerank', { model: 'qwen-ranks', query: 'q', documents: ['a'], top_k: 3, max_tokens_per_doc: 5 });
    expect(vendor.received[0]).toMatchObject({
      path: '/api/v1/services/rerank/text-rerank/text-rerank',
      body: { model: 'vendor-qwen-ranks', input: { query: 'q', documents: ['a'] }, parameters: { top_n: 3, return_documents: false } },
    });
    expect(row).toMatchObject({ client_protocol: 'alpha_rerank', input_tokens: 5, losses: [{ field: 'max_tokens_per_doc', action: 'dropped' }] });
  });

  test('the native API is sent documents of fields as texts, but for models that read pictures', async () => {
    vendor.reply = { status: 200, body: { output: { results: [{ index: 0, relevance_score: 0.5 }] }, usage: { total_tokens: 5 } } };
    const fields = ['a', { text: 'b' }, { title: 'T', text: 'c' }];
    await post('/v1/rerank', { model: 'qwen-ranks', query: 'q', documents: fields });
    expect(vendor.received[0]?.body).toMatchObject({ input: { documents: ['a', 'b', 'title: T\ntext: c'] } });
    await post('/v1/rerank', { model: 'qwen-vl-ranks', query: 'q', documents: [{ text: 'b' }, { image: 'https://example.com/a.png' }] });
    expect(vendor.received[0]?.body).toMatchObject({ input: { documents: [{ text: 'b' }, { image: 'https://example.com/a.png' }] } });
  });

  test('Cohere’s second version is sent texts alone', async () => {
    vendor.reply = { status: 200, body: { id: 'r', results: [{ index: 1, relevance_score: 0.5 }], meta: { billed_units: { search_units: 1 } } } };
    await post('/v1/rerank', { model: 'cohere-ranks', query: 'q', documents: ['a', { text: 'b' }, { title: 'T', text: 'c' }], priority: 1 });
    expect(vendor.received).toMatchObject([{ path: '/v2/rerank', body: { documents: ['a', 'b', 'title: T\ntext: c'], priority: 1 } }]);
  });

  test('is asked of InvokeModel, whose searches are counted', async () => {
    vendor.reply = {
      status: 200,
      body: {
        results: [
          { index: 1, relevance_score: 0.5 },
          { index: 0, relevance_score: 0.2 },
        ],
      },
    };
    const { json } = await post('/v2/rerank', { model: 'bedrock-ranks', query: 'q', documents, top_n: 2 });
    expect(vendor.received[0]).toMatchObject({
      path: '/model/cohere.rerank-v3-5%3A0/invoke',
      body: { query: 'q', documents: ['first', 'second', 'third'], top_n: 2, api_version: 2 },
    });
    expect(json).toMatchObject({ results: [{ index: 1 }, { index: 0 }], meta: { billed_units: { search_units: 1 } } });
  });

  test('a result that names no document is a failure of the upstream', async () => {
    vendor.reply = { status: 200, body: { results: [{ index: 7, relevance_score: 0.5 }] } };
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

describe('through the official SDK of Cohere', () => {
  const cohere = () => {
    vendor.received = [];
    return new CohereClientV2({ token: gateway.key, environment: gateway.url, maxRetries: 0 });
  };
  const documents = ['first', 'second', 'third'];

  test.each([
    ['ranks', { results: [2, 0].map((index) => ({ index, relevance_score: (index + 1) / 4 })), meta: { billed_units: { search_units: 1 } } }],
    ['qwen-ranks', { output: { results: [2, 0].map((index) => ({ index, relevance_score: (index + 1) / 4 })) }, usage: { total_tokens: 79 } }],
    ['bedrock-ranks', { results: [2, 0].map((index) => ({ index, relevance_score: (index + 1) / 4 })) }],
  ])('rerank by %s', async (model, body) => {
    vendor.reply = { status: 200, body };
    const { results, meta } = await cohere().rerank({ model, query: 'q', documents, topN: 2 });
    expect(results).toEqual([
      { index: 2, relevanceScore: 0.75 },
      { index: 0, relevanceScore: 0.25 },
    ]);
    expect(meta?.apiVersion?.version).toBe('2');
    expect(JSON.stringify(vendor.received[0]?.body)).toMatch(/"top_n":2/);
  });

  test.each([
    ['cohere-vectors', { embeddings: { float: [[0.5, -0.25]] }, meta: { billed_units: { input_tokens: 7 } } }],
    ['vectors', vectorsReply([0.5, -0.25])],
    ['qwen-vectors', { output: { embeddings: [{ embedding: [0.5, -0.25], text_index: 0 }] }, usage: { total_tokens: 7 } }],
  ])('embed by %s', async (model, body) => {
    vendor.reply = { status: 200, body };
    const { embeddings, texts } = await cohere().embed({ model, texts: ['a'], inputType: 'search_query', embeddingTypes: ['float'] });
    expect([embeddings.float, texts]).toEqual([[[0.5, -0.25]], ['a']]);
  });

  test('a refusal is an error of the SDK, with its status', async () => {
    vendor.reply = { status: 200, body: {} };
    const failed = await cohere()
      .rerank({ model: 'ranks', query: 'q', documents: [] })
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(CohereError);
    expect(failed).toMatchObject({ statusCode: 400 });
    expect(vendor.received).toEqual([]);
  });

  test('for chat it says what to ask instead', () =>
    expect(cohere().chat({ model: 'chat', messages: [{ role: 'user', content: 'q' }] })).rejects.toMatchObject({
      statusCode: 404,
      body: { error: { message: expect.stringContaining('with a client of OpenAI’s and a base address that ends in /v1') } },
    }));

  (haveFixtures() ? test : test.skip)('recorded replies come out as from the vendor itself', async () => {
    const direct = async (name: 'cohere-v2' | 'cohere-v2-query', family: string) => JSON.parse(readReply(family, name, 1)!.body.toString()) as Json;
    const ranking = await direct('cohere-v2', 'alpha_rerank');
    vendor.reply = { status: 200, body: ranking };
    const ranked = await cohere().rerank({ model: 'ranks', query: 'q', documents: Array.from({ length: 10 }, (_, at) => `document ${at}`) });
    expect(ranked.results).toEqual(ranking.results.map((one: Json) => ({ index: one.index, relevanceScore: one.relevance_score })));
    const vectors = await direct('cohere-v2-query', 'alpha_embeddings');
    vendor.reply = { status: 200, body: vectors };
    const embedded = await cohere().embed({ model: 'cohere-vectors', texts: ['Hello, world!'], inputType: 'search_query', embeddingTypes: ['float'] });
    expect(embedded.embeddings.float).toEqual(vectors.embeddings.float);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: recordings have every shape there is
type Json = any;
