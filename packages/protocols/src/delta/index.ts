/** DashScope native generation: the protocol as one value. Only upstreams speak it. */
import type { Protocol } from '../contract/index.ts';
import { bodyLayout } from './upstream/body-layout.ts';
import { credential, kinds, listModels, readModelList, readTokenCount, request } from './upstream/endpoint.ts';
import { readError } from './upstream/errors.ts';
import { DeltaReader, readWhole } from './upstream/read-response.ts';
import { writeRequest } from './upstream/write-request.ts';

export const delta: Protocol = {
  id: 'delta',
  title: 'DashScope native',
  upstream: {
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
