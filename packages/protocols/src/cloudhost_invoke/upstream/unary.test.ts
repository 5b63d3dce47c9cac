/** Embeddings and rerank in the bodies of the vendors whose models the host has. */
import { describe, expect, test } from '@jest/globals';
import { noUsage } from '@model-gateway/contracts';
import type { Target, WriteRequestContext } from '../../contract/index.ts';
import { cloudhostInvoke } from '../index.ts';

const upstream = cloudhostInvoke.upstream!;
const target = (upstreamModelId: string): Target => ({
  baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
  directPath: false,
  upstreamModelId,
  neutralHeaders: false,
  extraConfig: null,
});
const context = (model: string) => ({ target: target(model), stream: false }) as unknown as WriteRequestContext;
const texts = (count: number) => Array.from({ length: count }, (_, at) => ({ text: `text ${at}` }));
const { embed, rerank } = upstream.unary!;

test.each([
  ['amazon.titan-embed-text-v2:0', ['embed']],
  ['cohere.embed-v4:0', ['embed']],
  ['cohere.rerank-v3-5:0', ['rerank']],
  ['amazon.rerank-v1:0', ['rerank']],
  ['anthropic.claude-sonnet-4', undefined],
  ['amazon.titan-text-express-v1', undefined],
])('%s serves %j', (model, operations) => {
  const served = upstream.serves!(target(model));
  if (operations) expect(served).toEqual(operations);
  else expect(served).toContain('generate');
});

describe('embeddings', () => {
  test('one text a call for one vendor, ninety-six for the other', () => {
    const request = { inputs: texts(100), format: 'float' as const };
    expect(embed!.split!(request, target('amazon.titan-embed-text-v2:0'))).toHaveLength(100);
    expect(embed!.split!(request, target('cohere.embed-english-v3')).map(({ inputs }) => inputs.length)).toEqual([96, 4]);
    expect(() => embed!.split!({ ...request, inputs: [{ tokens: [1] }] }, target('cohere.embed-english-v3'))).toThrow(/takes texts/);
  });

  test('titan: its body, its vector and its count', () => {
    const request = { inputs: texts(1), format: 'float' as const, dimensions: 256 };
    expect(embed!.writeRequest(request, context('amazon.titan-embed-text-v2:0'))).toEqual({ body: { inputText: 'text 0', dimensions: 256 }, losses: [] });
    expect(embed!.writeRequest(request, context('amazon.titan-embed-text-v1'))).toMatchObject({
      body: { inputText: 'text 0' },
      losses: [{ field: 'dimensions', action: 'dropped' }],
    });
    expect(embed!.readReply({ embedding: [0.5, 1], inputTextTokenCount: 3 }, request)).toEqual({
      reply: { vectors: [[0.5, 1]] },
      usage: { ...noUsage, input: 3 },
    });
    expect(() => embed!.readReply({}, request)).toThrow();
  });

  test('cohere: its body, and its vectors in either form', () => {
    const request = { inputs: texts(2), format: 'float' as const, purpose: 'query' as const, dimensions: 256 };
    const body = { texts: ['text 0', 'text 1'], input_type: 'search_query', embedding_types: ['float'], output_dimension: 256 };
    expect(embed!.writeRequest(request, context('cohere.embed-v4:0'))).toEqual({ body, losses: [] });
    const reply = { vectors: [[1], [2]] };
    expect(embed!.readReply({ id: 'x', embeddings: { float: [[1], [2]] } }, request)).toEqual({ reply, usage: null });
    expect(embed!.readReply({ id: 'x', embeddings: [[1], [2]] }, request)).toEqual({ reply, usage: null });
  });
});

describe('rerank', () => {
  const request = { query: 'q', documents: ['a', { text: 'b' }, { title: 'T', body: 'c' }], topN: 7, returnDocuments: false, others: { truncation: true } };

  test('documents are texts, and no more are named than there are', () => {
    const { body, losses } = rerank!.writeRequest(request, context('cohere.rerank-v3-5:0'));
    expect(body).toEqual({ query: 'q', documents: ['a', 'b', 'title: T\nbody: c'], top_n: 3, api_version: 2 });
    expect(losses).toMatchObject([{ field: 'truncation', action: 'dropped' }]);
    expect(rerank!.writeRequest(request, context('amazon.rerank-v1:0')).body).not.toHaveProperty('api_version');
  });

  test('results in order, and the searches that are billed', () => {
    const results = [
      { index: 2, relevance_score: 0.9 },
      { index: 0, relevance_score: 0.1 },
    ];
    expect(rerank!.readReply({ results }, request)).toEqual({
      reply: { results: results.map(({ index, relevance_score: score }) => expect.objectContaining({ index, score })), searchUnits: 1 },
      usage: null,
    });
    expect(() => rerank!.readReply({ results: [{ index: 9, relevance_score: 1 }] }, request)).toThrow();
  });
});

test('the call goes to the verb of whole replies', () => {
  expect(upstream.request({ target: target('cohere.rerank-v3-5:0'), operation: 'rerank', stream: false }).url).toBe(
    'https://bedrock-runtime.eu-west-1.amazonaws.com/model/cohere.rerank-v3-5%3A0/invoke',
  );
});
