/** CodeWhisperer / Kiro assistant streaming: the protocol as one value. Only upstreams speak it, and only in streams. */
import type { Protocol } from '../contract/index.ts';
import { bodyLayout } from './upstream/body-layout.ts';
import { credential, listModels, readModelList, request } from './upstream/endpoint.ts';
import { readError } from './upstream/errors.ts';
import { IdeStreamingReader, readWhole } from './upstream/read-response.ts';
import { writeRequest } from './upstream/write-request.ts';

export const cloudhostIdeStreaming: Protocol = {
  id: 'cloudhost_ide_streaming',
  kind: 'chat',
  title: 'CodeWhisperer / Kiro assistant',
  upstream: {
    bodyLayout: () => bodyLayout,
    framing: 'event-stream',
    request,
    credential,
    countsTokens: false,
    writeRequest,
    // Media travel as bytes alone.
    opensUrl: () => false,
    createReader: (target) => new IdeStreamingReader(target),
    readWhole,
    readTokenCount: () => null,
    readError,
    listModels,
    readModelList,
  },
};
