/** Anthropic-compatible messages: the protocol as one value. */

import type { Protocol } from '../contract/index.ts';
import { plainToolRules } from '../kit/tool-bridge.ts';
import { callerFields } from './client/caller-fields.ts';
import { hostedTools } from './client/hosted-tools.ts';
import { limitKeys, readReplyLimits } from './client/reply-limits.ts';
import { notServed, routes } from './client/routes.ts';
import { createTerminator } from './client/stream-terminator.ts';
import { testCall } from './client/test-call.ts';
import { createWriter, writeWhole } from './client/write-response.ts';
import { versionHeaders } from './shared/api-version.ts';
import { credential, listModels, request } from './shared/endpoint.ts';
import { readError, writeError } from './shared/errors.ts';
import { flagsOfCaller, readRefusedFlags } from './shared/feature-flags.ts';
import { runsVendorTools } from './shared/model-family.ts';
import { readModelList, writeModel, writeModels } from './shared/models.ts';
import { normalize, normalizedKeys } from './shared/normalize.ts';
import { readRequest } from './shared/read-request.ts';
import { bodyWords, verbatim } from './shared/verbatim-rules.ts';
import { isVertex } from './shared/vertex.ts';
import { bodyLayout } from './upstream/body-layout.ts';
import { deltaFields } from './upstream/delta-fields.ts';
import { injectCache } from './upstream/inject-cache.ts';
import { createReader, finishedUsage, readTokenCount, readWhole } from './upstream/read-response.ts';
import { writeRequest } from './upstream/write-request.ts';

export const beta: Protocol = {
  id: 'beta',
  kind: 'chat',
  title: 'Anthropic-compatible messages',
  client: {
    routes,
    notServed,
    editedKeys: normalizedKeys,
    limitKeys,
    readReplyLimits,
    marksCache: true,
    hostedTools,
    bodyWords,
    callerFields,
    readRequest,
    testCalls: { generate: testCall },
    createWriter,
    writeWhole,
    writeTokenCount: (tokens) => ({ input_tokens: tokens }),
    writeError,
    writeModels,
    writeModel,
    createTerminator,
    keepAlive: (form) => (form === 'sse' ? ':keep-alive\n\n' : null),
    contentType: (form) => (form === 'sse' ? 'text/event-stream; charset=utf-8' : 'application/json'),
    replyHeaders: (requestId) => ({ 'request-id': requestId }),
  },
  upstream: {
    bodyLayout: () => bodyLayout,
    framing: 'sse',
    deltaFields,
    request,
    bodyHeaders: versionHeaders,
    credential,
    countsTokens: true,
    toolRules: (target) => ({ ...plainToolRules, vendorTools: 'beta', runs: (tool) => tool.rawProtocol === 'beta' && runsVendorTools(target) }),
    writeRequest,
    createReader,
    readWhole,
    finishedUsage,
    readTokenCount,
    normalize,
    injectCache,
    cites: () => true,
    // Vertex AI opens none (`supportedUrls` of @ai-sdk/google-vertex).
    opensUrl: ({ kind }, target) => (kind === 'image' || kind === 'document') && !isVertex(target),
    readError,
    verbatim,
    refusedFlags: (fault, headers) => readRefusedFlags(fault, flagsOfCaller(headers)),
    listModels,
    readModelList,
  },
};

// Other protocols build on these.
export { nearestEffort } from './shared/effort.ts';
export { allowFlags, type Flags, flagsOfCaller, readRefusedFlags } from './shared/feature-flags.ts';
export { modelFamily } from './shared/model-family.ts';
export { readContent } from './shared/read-content.ts';
export { refuseStoredTurns } from './shared/read-request.ts';
export { closeSchema, holdsMap } from './shared/schema.ts';
export { planThinking, withoutDemandedThinking, writeSampling } from './shared/write-reasoning.ts';
export { bodyLayout } from './upstream/body-layout.ts';
export { ToolIds } from './upstream/tool-ids.ts';
