/** Bedrock Converse: the protocol as one value. Only upstreams speak it. */
import { beta } from '../beta/index.ts';
import type { Protocol } from '../contract/index.ts';
import { bodyLayout } from './upstream/body-layout.ts';
import { injectCache } from './upstream/cache-points.ts';
import { credential, signing } from './upstream/credentials.ts';
import { listModels, readModelList, readTokenCount, request } from './upstream/endpoint.ts';
import { readError } from './upstream/errors.ts';
import { cloudFamily } from './upstream/model-family.ts';
import { createReader, readWhole } from './upstream/read-response.ts';
import { writeRequest } from './upstream/write-request.ts';

export const cloudhostConverse: Protocol = {
  id: 'cloudhost_converse',
  kind: 'chat',
  title: 'Bedrock Converse',
  upstream: {
    bodyLayout: () => bodyLayout,
    framing: 'event-stream',
    request,
    credential,
    signing,
    signatureKind: (target) => (cloudFamily(target).reasoning === 'messages' ? beta.id : 'cloudhost_converse'),
    countsTokens: true,
    // The service itself takes the text out of documents.
    readsKind: ({ kind }) => kind === 'document',
    writeRequest,
    createReader,
    readWhole,
    readTokenCount,
    injectCache,
    readError,
    cites: (target) => cloudFamily(target).citations,
    opensUrl: (part) => /^s3:\/\//i.test(part.url ?? ''),
    listModels,
    readModelList,
  },
};

// Other protocols build on these.
export { bodyLayout } from './upstream/body-layout.ts';
export { credential, signing } from './upstream/credentials.ts';
export { listModels, readModelList, readTokenCount, requestWith } from './upstream/endpoint.ts';
export { readError, streamFault } from './upstream/errors.ts';
export { ConverseReader, readWhole } from './upstream/read-response.ts';
export { writeRequest } from './upstream/write-request.ts';
