/** Embeddings by `batchEmbedContents` (https://ai.google.dev/api/embeddings), and by the verbs of Vertex AI (`embedContentParametersPrivateToVertex` of google-genai). */
import { noUsage } from '@model-gateway/contracts';
import { exactly, fieldsOfVendor, joinEmbeddings, textOf, textsInParts } from '../../alpha/index.ts';
import type { Embeddings, EmbeddingsRequest, Target, UnaryUpstreamCodec } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { unitVector, vectorOf } from '../../kit/float-vector.ts';
import { asArray, asCount, asNumber, type JsonObject, own } from '../../kit/read.ts';
import { modelName, vertexEmbedVerb } from '../shared/endpoint.ts';

const partsOf = (text: string) => ({ parts: [{ text }] });

function writeBatch({ inputs, dimensions, purpose }: EmbeddingsRequest, modelId: string): JsonObject {
  const model = modelName(modelId);
  const requests = inputs.map((input) => ({
    model,
    content: partsOf(textOf(input)),
    ...(dimensions !== undefined && { outputDimensionality: dimensions }),
    ...(purpose && { taskType: taskOf(purpose) }),
  }));
  return { requests };
}

function writePredict({ inputs, dimensions, purpose }: EmbeddingsRequest): JsonObject {
  const instances = inputs.map((input) => ({ content: textOf(input), ...(purpose && { task_type: taskOf(purpose) }) }));
  return { instances, ...(dimensions !== undefined && { parameters: { outputDimensionality: dimensions } }) };
}

function writeSingle({ inputs, dimensions, purpose }: EmbeddingsRequest): JsonObject {
  const [input] = inputs;
  if (!input) throw invalid('input', 'There is no text to embed.');
  const embedContentConfig = { ...(dimensions !== undefined && { outputDimensionality: dimensions }), ...(purpose && { taskType: taskOf(purpose) }) };
  return { content: partsOf(textOf(input)), ...(Object.keys(embedContentConfig).length > 0 && { embedContentConfig }) };
}

const taskOf = (purpose: NonNullable<EmbeddingsRequest['purpose']>): string => `RETRIEVAL_${purpose.toUpperCase()}`;

/** Vectors, and the tokens that were counted for them, of any of the three forms. */
function readVectors(body: unknown): { values: unknown[]; tokens: number | undefined } {
  const predictions = asArray(own(body, 'predictions'))?.map((prediction) => own(prediction, 'embeddings'));
  const single = own(body, 'embedding');
  const list = predictions ?? (single === undefined ? (asArray(own(body, 'embeddings')) ?? []) : [single]);
  const counted = predictions?.map((entry) => asNumber(own(own(entry, 'statistics'), 'token_count')));
  const sum = counted?.every((count) => count !== undefined) ? counted.reduce((one, other) => one + other, 0) : undefined;
  return { values: list.map((entry) => own(entry, 'values')), tokens: sum ?? asNumber(own(own(body, 'usageMetadata'), 'promptTokenCount')) };
}

/** What one call takes; the vendor refuses more. At Vertex AI Gemini's models, and those of `:embedContent`, take a single text. */
function textsAtOnce(target: Target): number {
  const verb = vertexEmbedVerb(target);
  return verb !== null && (verb === ':embedContent' || (target.modelId ?? target.upstreamModelId).includes('gemini')) ? 1 : 100;
}

export const embeddings: UnaryUpstreamCodec<EmbeddingsRequest, Embeddings> = {
  split: (request, target) => textsInParts(request, textsAtOnce(target)),
  join: joinEmbeddings,
  writeRequest(request, { target }) {
    const verb = vertexEmbedVerb(target);
    const body = verb === null ? writeBatch(request, target.upstreamModelId) : verb === ':predict' ? writePredict(request) : writeSingle(request);
    return { body, losses: fieldsOfVendor(request).list };
  },
  readReply(body, { inputs, dimensions }) {
    const { values, tokens } = readVectors(body);
    // Shortened vectors do not come in unit length, which callers of other vendors rely on.
    const vectors = values.map(vectorOf).map((vector) => (dimensions === undefined ? vector : unitVector(vector)));
    return { reply: { vectors: exactly(inputs.length, vectors) }, usage: tokens === undefined ? null : { ...noUsage, input: asCount(tokens) } };
  },
};
