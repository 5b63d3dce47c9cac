/** gamma: the Gemini-compatible generate-content protocol, as callers speak it to us and as we speak it to upstreams. */
import type { Protocol } from '../contract/index.ts';
import { callerFields } from './client/caller-fields.ts';
import { embeddingsClient } from './client/embeddings.ts';
import { frameEnd, frameRecord } from './client/frame.ts';
import { hostedTools } from './client/hosted-tools.ts';
import { imagesClient } from './client/images.ts';
import { keepAlive } from './client/keep-alive.ts';
import { writeModel, writeModels } from './client/models.ts';
import { readRequest } from './client/read-request.ts';
import { limitKeys, readReplyLimits } from './client/reply-limits.ts';
import { notServed, routes } from './client/routes.ts';
import { GammaTerminator } from './client/stream-terminator.ts';
import { testCall } from './client/test-call.ts';
import { GammaReplyWriter, writeWhole } from './client/write-response.ts';
import { live } from './live/index.ts';
import { buildCredential, buildListRequest, buildRequest, isImageOperation, isPredicted, vertexEmbedVerb } from './shared/endpoint.ts';
import { readError, writeError } from './shared/errors.ts';
import { isVendorUrl } from './shared/media.ts';
import { normalize, normalizedKeys } from './shared/normalize.ts';
import { functionName } from './shared/tools.ts';
import { bodyWords, verbatim } from './shared/verbatim-rules.ts';
import { speech, transcription } from './upstream/audio.ts';
import { bodyLayout } from './upstream/body-layout.ts';
import { embeddings } from './upstream/embeddings.ts';
import { images, readUnaryUsage } from './upstream/images.ts';
import { GammaReplyReader, readModelList, readTokenCount, readWhole } from './upstream/read-response.ts';
import { writeRequest } from './upstream/write-request.ts';

export const gamma: Protocol = {
  id: 'gamma',
  kind: 'chat',
  title: 'Gemini-compatible generate-content',
  client: {
    routes,
    notServed,
    editedKeys: normalizedKeys,
    limitKeys,
    hostedTools,
    readReplyLimits,
    bodyWords,
    callerFields,
    readRequest,
    testCalls: { generate: testCall },
    unary: { embed: embeddingsClient, image: imagesClient },
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
    serves: () => ['generate', 'count-tokens', 'embed', 'image', 'image-edit', 'image-variation', 'speech', 'transcribe', 'translate-speech'],
    passesVerbatim: (client, target, operation) =>
      client === 'gamma' && (!isImageOperation(operation) || isPredicted(target)) && (operation !== 'embed' || vertexEmbedVerb(target) === null),
    readUnaryUsage,
    unary: {
      embed: embeddings,
      image: images,
      'image-edit': images,
      'image-variation': images,
      speech,
      transcribe: transcription,
      'translate-speech': transcription,
    },
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
    realtime: { bidi: live },
  },
};
