/** DashScope native generation: the protocol as one value. Only upstreams speak it. */
import type { Protocol } from '../contract/index.ts';
import { bodyLayout } from './body-layout.ts';
import { credential, kinds, listModels, readModelList, readTokenCount, request } from './endpoint.ts';
import { readError } from './errors.ts';
import { DeltaReader, readWhole } from './read-response.ts';
import { writeRequest } from './write-request.ts';

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
