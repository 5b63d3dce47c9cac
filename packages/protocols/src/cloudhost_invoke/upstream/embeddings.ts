/**
 * Embeddings in the bodies of the models' vendors: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html and
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html
 */
import { noUsage, type Usage } from '@model-gateway/contracts';
import { cohereTexts, dropPurpose, exactly, fieldsOfVendor, joinEmbeddings, textOf, textsInParts } from '../../alpha/index.ts';
import type { Embeddings, EmbeddingsRequest, Target, UnaryUpstreamCodec } from '../../contract/index.ts';
import { vectorOf } from '../../kit/float-vector.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asCount, asNumber, asString, type JsonObject, own } from '../../kit/read.ts';

const idsOf = ({ modelId, upstreamModelId }: Target): string => `${modelId ?? ''} ${upstreamModelId}`;

/** Models that make vectors and nothing else. */
export const isEmbeddingModel = (target: Target): boolean => /titan-embed|cohere\.embed/i.test(idsOf(target));

const isCohere = (target: Target): boolean => /cohere\.embed/i.test(idsOf(target));
/** The first one has vectors of one length alone. */
const hasLengths = (target: Target): boolean => !/titan-embed-text-v1|titan-embed-g1|embed-(?:english|multilingual)-v3/i.test(idsOf(target));

const defaultInputType = 'search_document';

export const embeddings: UnaryUpstreamCodec<EmbeddingsRequest, Embeddings> = {
  // One vendor takes a list, the other one text a call.
  split: (request, target) => textsInParts(request, isCohere(target) ? cohereTexts : 1),
  join: joinEmbeddings,
  writeRequest(request, { target }) {
    const losses = isCohere(target) ? new Losses() : fieldsOfVendor(request);
    if (request.dimensions !== undefined && !hasLengths(target)) losses.dropped('dimensions', 'This model has vectors of one length alone.');
    if (!isCohere(target)) dropPurpose(request, losses);
    return { body: isCohere(target) ? writeCohere(request, target) : writeTitan(request, target), losses: losses.list };
  },
  readReply(body, { inputs }) {
    const vector = own(body, 'embedding');
    if (vector !== undefined) return { reply: { vectors: exactly(inputs.length, [vectorOf(vector)]) }, usage: readUsage(body) };
    const found = own(body, 'embeddings');
    const list = asArray(found) ?? asArray(own(found, 'float')) ?? [];
    return { reply: { vectors: exactly(inputs.length, list.map(vectorOf)) }, usage: readUsage(body) };
  },
};

function writeTitan({ inputs: [input], dimensions }: EmbeddingsRequest, target: Target): JsonObject {
  const sized = dimensions !== undefined && hasLengths(target);
  return { inputText: input ? textOf(input) : '', ...(sized && { dimensions }) };
}

function writeCohere({ inputs, dimensions, purpose, ofVendor: { input_type: inputType, truncate } = {} }: EmbeddingsRequest, target: Target): JsonObject {
  const sized = dimensions !== undefined && hasLengths(target);
  return {
    texts: inputs.map(textOf),
    input_type: purpose ? `search_${purpose}` : (asString(inputType) ?? asString(own(target.extraConfig, 'input_type')) ?? defaultInputType),
    ...(truncate !== undefined && { truncate }),
    embedding_types: ['float'],
    ...(sized && { output_dimension: dimensions }),
  };
}

function readUsage(body: unknown): Usage | null {
  const tokens = asNumber(own(body, 'inputTextTokenCount'));
  return tokens === undefined ? null : { ...noUsage, input: asCount(tokens) };
}
