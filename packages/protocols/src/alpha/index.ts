/** OpenAI-compatible chat completions: the protocol as one value. */

import type { Operation, ProtocolId } from '@model-gateway/contracts';
import type { Protocol, Target } from '../contract/index.ts';
import { plainToolName } from '../kit/tool-names.ts';
import { hostedTools } from './client/hosted-tools.ts';
import { writeModel, writeModels } from './client/models.ts';
import { onlyVerbatim, readRequest } from './client/read-request.ts';
import { limitKeys, readReplyLimits } from './client/reply-limits.ts';
import { notServed, routes } from './client/routes.ts';
import { AlphaTerminator } from './client/stream-terminator.ts';
import { decisionCall, moderationCall, testCall } from './client/test-call.ts';
import { AlphaWriter, writeWhole } from './client/write-response.ts';
import { isAudioEnd, isAudioOperation, observeAudio, readAudioUsage } from './shared/audio.ts';
import { embeddingsUpstream, isCohere, readUsage } from './shared/embeddings.ts';
import { readError, writeError } from './shared/errors.ts';
import { chatFamily } from './shared/families.ts';
import { isImageOperation } from './shared/images.ts';
import { normalize, normalizedKeys } from './shared/normalize.ts';
import { rerankUpstream } from './shared/rerank.ts';
import { leadingTagOf } from './shared/thinking.ts';
import { readDecisionUsage } from './shared/usage.ts';
import { bodyWords, verbatim } from './shared/verbatim-rules.ts';
import { runsSearch } from './shared/web-search-options.ts';
import { bodyLayout } from './upstream/body-layout.ts';
import { deltaFields } from './upstream/delta-fields.ts';
import { credential, listModels, readModelList, request } from './upstream/endpoint.ts';
import { imagesUpstream, isImagesEnd, readImagesUsage } from './upstream/images.ts';
import { injectCache } from './upstream/inject-cache.ts';
import { AlphaReader, finishedUsage, type ReplyTraits, readWhole } from './upstream/read-response.ts';
import { writeRequest } from './upstream/write-request.ts';

const traitsOf = (target: Target): ReplyTraits => ({ firstParty: chatFamily(target).firstParty, tag: leadingTagOf(target) });

export const alpha: Protocol = {
  id: 'alpha',
  kind: 'chat',
  title: 'OpenAI-compatible chat completions',
  client: {
    routes,
    notServed,
    cacheKey: 'prompt_cache_key',
    // The second row decides whether the body passes as it is.
    editedKeys: ['stream_options', ...normalizedKeys, 'thinking', 'enable_thinking', 'messages', 'input', 'tools', 'response_format'],
    limitKeys,
    hostedTools,
    readReplyLimits,
    onlyVerbatim,
    bodyWords,
    readRequest,
    testCalls: { generate: testCall, moderate: moderationCall, decide: decisionCall },
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
    serves: () => [
      'generate',
      'count-tokens',
      'complete',
      'embed',
      'rerank',
      'moderate',
      'decide',
      'image',
      'image-edit',
      'image-variation',
      'speech',
      'transcribe',
      'translate-speech',
    ],
    passesVerbatim,
    unary: { embed: embeddingsUpstream, rerank: rerankUpstream, image: imagesUpstream, 'image-edit': imagesUpstream, 'image-variation': imagesUpstream },
    readUnaryUsage: (body) => readDecisionUsage(body) ?? readImagesUsage(body) ?? readAudioUsage(body) ?? readUsage(body),
    isUnaryEnd: (event) => isImagesEnd(event) || isAudioEnd(event),
    observeBytes: observeAudio,
    bodyLayout: () => bodyLayout,
    toolRules: (target) => ({
      name: plainToolName,
      freeText: chatFamily(target).freeTextTools,
      vendorTools: 'alpha',
      runs: (tool) => runsSearch(tool, target),
    }),
    framing: 'sse',
    deltaFields,
    request,
    credential,
    countsTokens: false,
    writeRequest,
    createReader: (target) => new AlphaReader(traitsOf(target)),
    readWhole: (body, target) => readWhole(body, traitsOf(target)),
    finishedUsage,
    readTokenCount: () => null,
    normalize,
    injectCache,
    opensUrl: ({ kind }, target) => (kind === 'image' || kind === 'video') && chatFamily(target).opensImages,
    readError,
    verbatim,
    listModels,
    readModelList,
  },
};

/** Embeddings, images and audio have names of their own among the protocols; the answers of rerank are always written anew, since each vendor's differ. */
function passesVerbatim(client: ProtocolId, target: Target, operation: Operation): boolean {
  if (operation === 'embed') return client === 'alpha_embeddings' && !isCohere(target);
  if (isImageOperation(operation)) return client === 'alpha_images';
  if (isAudioOperation(operation)) return client === 'alpha_audio';
  return client === 'alpha' && operation !== 'rerank';
}

export { speechClient, transcriptionClient } from './client/audio.ts';
export { writeModel, writeModels } from './client/models.ts';
export { audioEnds } from './shared/audio.ts';
export { readCacheOptions, settleBreakpoints, writeBreakpoint } from './shared/cache-breakpoints.ts';
export { readBreakpoint } from './shared/cache-mark.ts';
// Other protocols build on these.
export { cohereEmbeddingsClient } from './shared/cohere-embeddings.ts';
export { cohereTexts, dropPurpose, embeddingsClient, exactly, fieldsOfVendor, joinEmbeddings, textOf, textsInParts } from './shared/embeddings.ts';
export { type ChatFamily, chatFamily, chatFamilyOfModel } from './shared/families.ts';
export { imagesClient } from './shared/images.ts';
export { writeReasoning } from './shared/reasoning.ts';
export { documentText, readResult, rerankClient } from './shared/rerank.ts';
export { tiersRead, tiersWritten } from './shared/service-tiers.ts';
export type { RawFields } from './shared/wire.ts';
export { bodyLayout } from './upstream/body-layout.ts';
export { AlphaReader, readWhole } from './upstream/read-response.ts';
