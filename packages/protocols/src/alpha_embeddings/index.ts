/** OpenAI-compatible embeddings: built on chat completions, whose errors, keys and addresses it shares. */
import { alpha, embeddingsClient } from '../alpha/index.ts';
import type { ClientAdapter, Protocol, UpstreamAdapter } from '../contract/index.ts';

const { client, upstream } = alpha as { client: ClientAdapter; upstream: UpstreamAdapter };

export const alphaEmbeddings: Protocol = {
  id: 'alpha_embeddings',
  kind: 'unary',
  title: 'OpenAI-compatible embeddings',
  client: {
    ...client,
    routes: [{ methods: ['POST'], path: '/v1/embeddings', match: () => ({ operation: 'embed', stream: 'whole' }) }],
    onlyVerbatim: {},
    editedKeys: ['encoding_format'],
    limitKeys: [],
    // Vectors are not tokens.
    readReplyLimits: () => ({ output: 0, thinking: 0, replies: 1 }),
    bodyWords: [],
    testCalls: {
      embed: ({ model, prompt, body }) => ({ path: '/v1/embeddings', query: '', streamForm: 'whole', body: { input: prompt, ...body, model } }),
    },
    unary: { embed: embeddingsClient },
  },
  upstream: { ...upstream, serves: () => ['embed'] },
};
