/** gamma: the Gemini-compatible generate-content protocol, as callers speak it to us and as we speak it to upstreams. */
import type { Protocol } from '../contract/index.ts';
import { bodyLayout } from './body-layout.ts';
import { buildCredential, buildListRequest, buildRequest } from './endpoint.ts';
import { readError, writeError } from './errors.ts';
import { frameEnd, frameRecord } from './frame.ts';
import { keepAlive } from './keep-alive.ts';
import { isVendorUrl } from './media.ts';
import { writeModel, writeModels } from './models.ts';
import { normalize, normalizedKeys } from './normalize.ts';
import { readRequest } from './read-request.ts';
import { GammaReplyReader, readModelList, readTokenCount, readWhole } from './read-response.ts';
import { limitKeys, readReplyLimits } from './reply-limits.ts';
import { notServed, routes } from './routes.ts';
import { GammaTerminator } from './stream-terminator.ts';
import { testCall } from './test-call.ts';
import { functionName } from './tools.ts';
import { bodyWords, verbatim } from './verbatim-rules.ts';
import { writeRequest } from './write-request.ts';
import { GammaReplyWriter, writeWhole } from './write-response.ts';

export const gamma: Protocol = {
  id: 'gamma',
  title: 'Gemini-compatible generate-content',
  client: {
    routes,
    notServed,
    editedKeys: normalizedKeys,
    limitKeys,
    readReplyLimits,
    bodyWords,
    readRequest,
    testCall,
    createWriter: (context) => new GammaReplyWriter(context),
    writeWhole,
    writeTokenCount: (tokens) => ({ totalTokens: tokens }),
    writeError,
    writeModels,
    writeModel,
    createTerminator: (context) => new GammaTerminator(context),
    keepAlive,
    contentType: (form) => (form === 'sse' ? 'text/event-stream' : 'application/json; charset=UTF-8'),
    frameRecord,
    frameEnd,
  },
  upstream: {
    bodyLayout: () => bodyLayout,
    toolRules: () => ({ name: functionName, freeText: false, vendorTools: 'gamma' }),
    framing: 'sse',
    request: buildRequest,
    credential: buildCredential,
    countsTokens: true,
    writeRequest,
    createReader: () => new GammaReplyReader(),
    readWhole,
    readTokenCount,
    normalize,
    opensUrl: ({ url }) => url !== undefined && isVendorUrl(url),
    readError,
    verbatim,
    listModels: buildListRequest,
    readModelList,
  },
};
