/** Rerank as Cohere and Jina serve it, and Cohere's embeddings: built on chat completions, whose errors, keys and addresses it shares. */
import { alpha, cohereEmbeddingsClient, rerankClient } from '../alpha/index.ts';
import type { ClientAdapter, ClientRoute, Protocol, UpstreamAdapter } from '../contract/index.ts';

const { client, upstream } = alpha as { client: ClientAdapter; upstream: UpstreamAdapter };

/** The paths of Jina's, Cohere's and of self-hosted servers' clients. */
const paths = ['/v1/rerank', '/v2/rerank', '/rerank'];

export const alphaRerank: Protocol = {
  id: 'alpha_rerank',
  kind: 'unary',
  title: 'Rerank as Cohere and Jina serve it',
  client: {
    ...client,
    routes: [
      ...paths.map((path): ClientRoute => ({ methods: ['POST'], path, match: () => ({ operation: 'rerank', stream: 'whole' }) })),
      { methods: ['POST'], path: '/v2/embed', match: () => ({ operation: 'embed', stream: 'whole' }) },
    ],
    onlyVerbatim: {},
    editedKeys: [],
    limitKeys: [],
    // An order is not tokens.
    readReplyLimits: () => ({ output: 0, thinking: 0, replies: 1 }),
    bodyWords: [],
    testCalls: {
      rerank: ({ model, prompt, body }) => ({
        path: '/v1/rerank',
        query: '',
        streamForm: 'whole',
        body: { query: prompt, documents: ['The gateway answers.', 'Something else.'], ...body, model },
      }),
    },
    unary: { rerank: rerankClient, embed: cohereEmbeddingsClient },
  },
  upstream: { ...upstream, serves: () => ['rerank'] },
};
