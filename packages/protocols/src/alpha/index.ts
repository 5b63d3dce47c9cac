/** OpenAI-compatible chat completions: the protocol as one value. */

import type { Protocol } from '../contract/index.ts';
import { plainToolName } from '../kit/tool-names.ts';
import { bodyLayout } from './body-layout.ts';
import { deltaFields } from './delta-fields.ts';
import { credential, listModels, readModelList, request } from './endpoint.ts';
import { readError, writeError } from './errors.ts';
import { chatFamily } from './families.ts';
import { injectCache } from './inject-cache.ts';
import { writeModel, writeModels } from './models.ts';
import { normalize, normalizedKeys } from './normalize.ts';
import { onlyVerbatim, readRequest } from './read-request.ts';
import { AlphaReader, finishedUsage, readWhole } from './read-response.ts';
import { limitKeys, readReplyLimits } from './reply-limits.ts';
import { routes } from './routes.ts';
import { AlphaTerminator } from './stream-terminator.ts';
import { testCall } from './test-call.ts';
import { bodyWords, verbatim } from './verbatim-rules.ts';
import { writeRequest } from './write-request.ts';
import { AlphaWriter, writeWhole } from './write-response.ts';

export const alpha: Protocol = {
  id: 'alpha',
  title: 'OpenAI-compatible chat completions',
  client: {
    routes,
    cacheKey: 'prompt_cache_key',
    // The second row decides whether the body passes as it is.
    editedKeys: ['stream_options', ...normalizedKeys, 'thinking', 'enable_thinking', 'messages', 'input', 'tools', 'response_format'],
    limitKeys,
    readReplyLimits,
    onlyVerbatim,
    bodyWords,
    readRequest,
    testCall,
    createWriter: (context) => new AlphaWriter(context),
    writeWhole,
    writeTokenCount: (tokens) => ({ input_tokens: tokens }),
    writeError,
    writeModels,
    writeModel,
    createTerminator: (context) => new AlphaTerminator(context),
    // An SSE comment needs its own blank line: some parsers take it for part of the event before it otherwise.
    keepAlive: (form) => (form === 'sse' ? ':keep-alive\n\n' : null),
    contentType: (form) => (form === 'sse' ? 'text/event-stream; charset=utf-8' : 'application/json'),
  },
  upstream: {
    bodyLayout: () => bodyLayout,
    toolRules: (target) => ({ name: plainToolName, freeText: chatFamily(target).freeTextTools, vendorTools: 'alpha' }),
    framing: 'sse',
    deltaFields,
    request,
    credential,
    countsTokens: false,
    writeRequest,
    createReader: (target) => new AlphaReader(chatFamily(target).firstParty),
    readWhole: (body, target) => readWhole(body, chatFamily(target).firstParty),
    finishedUsage,
    readTokenCount: () => null,
    normalize,
    injectCache,
    opensUrl: ({ kind }) => kind === 'image' || kind === 'video',
    readError,
    verbatim,
    listModels,
    readModelList,
  },
};
