/** DashScope native generation: the protocol as one value. Only upstreams speak it. */
import type { Protocol } from '../contract/index.ts';
import { bodyLayout } from './upstream/body-layout.ts';
import { embeddings } from './upstream/embeddings.ts';
import { credential, kinds, listModels, readModelList, readTokenCount, request } from './upstream/endpoint.ts';
import { readError } from './upstream/errors.ts';
import { DeltaReader, readWhole } from './upstream/read-response.ts';
import { rerank } from './upstream/rerank.ts';
import { writeRequest } from './upstream/write-request.ts';

export const delta: Protocol = {
  id: 'delta',
  kind: 'chat',
  title: 'DashScope native',
  upstream: {
    serves: ({ kind }) => (kind === 'delta-text-embedding' ? ['embed'] : kind === 'delta-rerank' ? ['rerank'] : ['generate', 'count-tokens']),
    unary: { embed: embeddings, rerank },
    bodyLayout: () => bodyLayout,
    framing: 'sse',
    kinds,
    request,
    credential,
    countsTokens: true,
    writeRequest,
    createReader: () => new DeltaReader(),
    readWhole,
    readTokenCount,
    readError,
    listModels,
    readModelList,
  },
};
