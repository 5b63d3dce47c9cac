/** OpenAI-compatible Responses: client and upstream adapter. */

import { chatFamily, writeModel, writeModels } from '../alpha/index.ts';
import type { ClientAdapter, Protocol, UpstreamAdapter } from '../contract/index.ts';
import { asCount, asNumber, own } from '../kit/read.ts';
import { plainToolName } from '../kit/tool-names.ts';
import { callerFields } from './client/caller-fields.ts';
import { eventNumber } from './client/event-number.ts';
import { hostedTools } from './client/hosted-tools.ts';
import { onlyVerbatim, readRequest } from './client/read-request.ts';
import { limitKeys, readReplyLimits } from './client/reply-limits.ts';
import { routes } from './client/routes.ts';
import { createSocketSession } from './client/socket.ts';
import { createTerminator } from './client/stream-terminator.ts';
import { testCall } from './client/test-call.ts';
import { createWriter, writeWhole } from './client/write-response.ts';
import { readError, refuseInStream, writeError } from './shared/errors.ts';
import { modelsTagHeader } from './shared/models-tag.ts';
import { normalize, normalizedKeys } from './shared/normalize.ts';
import { turns } from './shared/turns/index.ts';
import { bodyWords, verbatim } from './shared/verbatim-rules.ts';
import { runsSearch } from './shared/web-search.ts';
import { bodyLayout } from './upstream/body-layout.ts';
import { deltaFields } from './upstream/delta-fields.ts';
import { credential, listModels, readModelList, request } from './upstream/endpoint.ts';
import { finishedUsage, ResponseReader, readWhole } from './upstream/read-response.ts';
import { writeRequest } from './upstream/write-request.ts';

const client: ClientAdapter = {
  createSocketSession,
  remembersModel: true,
  routes,
  cacheKey: 'prompt_cache_key',
  editedKeys: normalizedKeys,
  limitKeys,
  readReplyLimits,
  bodyWords,
  callerFields,
  readRequest,
  onlyVerbatim,
  testCalls: { generate: testCall },
  turns,
  hostedTools,
  createWriter,
  writeWhole,
  writeTokenCount: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  writeError,
  refuseInStream,
  writeModels,
  writeModel,
  modelsTagHeader,
  createTerminator,
  eventNumber,
  keepAlive: (form) => (form === 'sse' ? ':keep-alive\n\n' : null),
  contentType: (form) => (form === 'sse' ? 'text/event-stream; charset=utf-8' : 'application/json'),
};

const upstream: UpstreamAdapter = {
  bodyLayout: () => bodyLayout,
  framing: 'sse',
  deltaFields,
  request,
  credential,
  countsTokens: true,
  toolRules: (target) => ({
    name: plainToolName,
    freeText: chatFamily(target).freeTextTools,
    vendorTools: 'alpha_response',
    runs: (tool) => runsSearch(tool, target),
  }),
  continuesReplies: false,
  writeRequest,
  createReader: () => new ResponseReader(),
  readWhole,
  finishedUsage,
  readTokenCount: (body) => (asNumber(own(body, 'input_tokens')) === undefined ? null : asCount(own(body, 'input_tokens'))),
  normalize,
  opensUrl: ({ kind }) => kind === 'image' || kind === 'document',
  readError,
  verbatim,
  listModels,
  readModelList,
};

export const alphaResponse: Protocol = { id: 'alpha_response', kind: 'chat', title: 'OpenAI-compatible Responses', client, upstream };
