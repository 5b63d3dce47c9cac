/** Bedrock InvokeModel: the protocol as one value, built on those of the models' vendors. Only upstreams speak it. */

import type { Operation } from '@model-gateway/contracts';
import { beta, flagsOfCaller, readRefusedFlags } from '../beta/index.ts';
import { credential, listModels, readError, readModelList, readTokenCount, signing } from '../cloudhost_converse/index.ts';
import type { Protocol, Target } from '../contract/index.ts';
import { plainToolRules } from '../kit/tool-bridge.ts';
import { embeddings, isEmbeddingModel } from './upstream/embeddings.ts';
import { request } from './upstream/endpoint.ts';
import { unwrapRecord } from './upstream/envelope.ts';
import { hostVersioned, messagesShape } from './upstream/messages-body.ts';
import { createReader, readWhole } from './upstream/read-response.ts';
import { isRerankModel, rerank } from './upstream/rerank.ts';
import { shapeOf } from './upstream/shapes.ts';
import { verbatim } from './upstream/verbatim-rules.ts';
import { writeRequest } from './upstream/write-request.ts';

/** Each model does one of these. */
function serves(target: Target): readonly Operation[] {
  if (isEmbeddingModel(target)) return ['embed'];
  return isRerankModel(target) ? ['rerank'] : ['generate', 'count-tokens'];
}

export const cloudhostInvoke: Protocol = {
  id: 'cloudhost_invoke',
  kind: 'chat',
  title: 'Bedrock InvokeModel',
  upstream: {
    framing: 'event-stream',
    serves,
    unary: { embed: embeddings, rerank },
    unwrapRecord,
    signatureKind: (target) => (shapeOf(target) === messagesShape ? beta.id : 'cloudhost_invoke'),
    bodyLayout: (target) => shapeOf(target).layout(target),
    request,
    credential,
    signing,
    countsTokens: true,
    toolRules: (target) => (shapeOf(target) === messagesShape ? { ...plainToolRules, vendorTools: beta.id, runs: () => false } : plainToolRules),
    writeRequest,
    createReader,
    readWhole,
    readTokenCount,
    readError,
    verbatim,
    refusedFlags: (fault, headers) => readRefusedFlags(fault, flagsOfCaller(headers)),
    passesVerbatim: (client, target, operation) => client === beta.id && operation === 'generate' && shapeOf(target) === messagesShape,
    normalize: (field, context) =>
      (shapeOf(context.target) === messagesShape ? beta.upstream?.normalize?.(field, hostVersioned(context)) : undefined) ?? { edits: [], losses: [] },
    injectCache(body, context) {
      if (shapeOf(context.target) === messagesShape) beta.upstream?.injectCache?.(body, context);
    },
    cites: (target) => shapeOf(target) === messagesShape,
    opensUrl: () => false,
    listModels,
    readModelList,
  },
};
