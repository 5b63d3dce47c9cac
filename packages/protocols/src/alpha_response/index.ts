/** OpenAI-compatible Responses: client and upstream adapter. */

import { chatFamily, writeModel, writeModels } from '../alpha/index.ts';
import type { ClientAdapter, Protocol, UpstreamAdapter } from '../contract/index.ts';
import { asCount, asNumber, own } from '../kit/read.ts';
import { plainToolName } from '../kit/tool-names.ts';
import { bodyLayout } from './body-layout.ts';
import { deltaFields } from './delta-fields.ts';
import { credential, listModels, readModelList, request } from './endpoint.ts';
import { readError, refuseInStream, writeError } from './errors.ts';
import { eventNumber } from './event-number.ts';
import { modelsTagHeader } from './models-tag.ts';
import { normalize, normalizedKeys } from './normalize.ts';
import { readRequest } from './read-request.ts';
import { ResponseReader, readWhole } from './read-response.ts';
import { limitKeys, readReplyLimits } from './reply-limits.ts';
import { routes } from './routes.ts';
import { createSocketSession } from './socket.ts';
import { createTerminator } from './stream-terminator.ts';
import { testCall } from './test-call.ts';
import { turns } from './turns/index.ts';
import { bodyWords, verbatim } from './verbatim-rules.ts';
import { writeRequest } from './write-request.ts';
import { createWriter, writeWhole } from './write-response.ts';

const client: ClientAdapter = {
  createSocketSession,
  remembersModel: true,
  routes,
  cacheKey: 'prompt_cache_key',
  editedKeys: normalizedKeys,
  limitKeys,
  readReplyLimits,
  bodyWords,
  readRequest,
  testCall,
  turns,
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
  toolRules: (target) => ({ name: plainToolName, freeText: chatFamily(target).freeTextTools, vendorTools: 'alpha_response' }),
  continuesReplies: false,
  writeRequest,
  createReader: () => new ResponseReader(),
  readWhole,
  readTokenCount: (body) => (asNumber(own(body, 'input_tokens')) === undefined ? null : asCount(own(body, 'input_tokens'))),
  normalize,
  opensUrl: ({ kind }) => kind === 'image' || kind === 'document',
  readError,
  verbatim,
  listModels,
  readModelList,
};

export const alphaResponse: Protocol = { id: 'alpha_response', kind: 'chat', title: 'OpenAI-compatible Responses', client, upstream };
