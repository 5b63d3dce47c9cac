/** Anthropic-compatible messages: the protocol as one value. */

import type { Protocol } from '../contract/index.ts';
import { plainToolRules } from '../kit/tool-bridge.ts';
import { bodyLayout } from './body-layout.ts';
import { deltaFields } from './delta-fields.ts';
import { credential, listModels, request } from './endpoint.ts';
import { readError, writeError } from './errors.ts';
import { flagsOfCaller, readRefusedFlags } from './feature-flags.ts';
import { injectCache } from './inject-cache.ts';
import { readModelList, writeModel, writeModels } from './models.ts';
import { normalize, normalizedKeys } from './normalize.ts';
import { readRequest } from './read-request.ts';
import { createReader, finishedUsage, readTokenCount, readWhole } from './read-response.ts';
import { limitKeys, readReplyLimits } from './reply-limits.ts';
import { routes } from './routes.ts';
import { createTerminator } from './stream-terminator.ts';
import { testCall } from './test-call.ts';
import { bodyWords, verbatim } from './verbatim-rules.ts';
import { writeRequest } from './write-request.ts';
import { createWriter, writeWhole } from './write-response.ts';

export const beta: Protocol = {
  id: 'beta',
  title: 'Anthropic-compatible messages',
  client: {
    routes,
    editedKeys: normalizedKeys,
    limitKeys,
    readReplyLimits,
    marksCache: true,
    bodyWords,
    readRequest,
    testCall,
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
    credential,
    countsTokens: true,
    toolRules: () => ({ ...plainToolRules, vendorTools: 'beta' }),
    writeRequest,
    createReader,
    readWhole,
    finishedUsage,
    readTokenCount,
    normalize,
    injectCache,
    cites: () => true,
    opensUrl: ({ kind }) => kind === 'image' || kind === 'document',
    readError,
    verbatim,
    refusedFlags: (fault, headers) => readRefusedFlags(fault, flagsOfCaller(headers)),
    listModels,
    readModelList,
  },
};
