/** Bedrock Converse: the protocol as one value. Only upstreams speak it. */
import { beta } from '../beta/index.ts';
import type { Protocol } from '../contract/index.ts';
import { bodyLayout } from './body-layout.ts';
import { injectCache } from './cache-points.ts';
import { credential, signing } from './credentials.ts';
import { listModels, readModelList, readTokenCount, request } from './endpoint.ts';
import { readError } from './errors.ts';
import { cloudFamily } from './model-family.ts';
import { createReader, readWhole } from './read-response.ts';
import { writeRequest } from './write-request.ts';

export const cloudhostConverse: Protocol = {
  id: 'cloudhost_converse',
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
