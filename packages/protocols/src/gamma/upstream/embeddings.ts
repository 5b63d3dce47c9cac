/** Embeddings by `batchEmbedContents`: https://ai.google.dev/api/embeddings */
import { noUsage } from '@model-gateway/contracts';
import { exactly, fieldsOfVendor, textOf } from '../../alpha/index.ts';
import type { Embeddings, EmbeddingsRequest, UnaryUpstreamCodec } from '../../contract/index.ts';
import { unitVector, vectorOf } from '../../kit/float-vector.ts';
import { asArray, asCount, asNumber, own } from '../../kit/read.ts';
import { modelName } from '../shared/endpoint.ts';

export const embeddings: UnaryUpstreamCodec<EmbeddingsRequest, Embeddings> = {
  writeRequest(request, { target }) {
    const { inputs, dimensions, purpose } = request;
    const model = modelName(target.upstreamModelId);
    const requests = inputs.map((input) => ({
      model,
      content: { parts: [{ text: textOf(input) }] },
      ...(dimensions !== undefined && { outputDimensionality: dimensions }),
      ...(purpose && { taskType: `RETRIEVAL_${purpose.toUpperCase()}` }),
    }));
    return { body: { requests }, losses: fieldsOfVendor(request).list };
  },
  readReply(body, { inputs, dimensions }) {
    const list = asArray(own(body, 'embeddings')) ?? [];
    // Shortened vectors do not come in unit length, which callers of other vendors rely on.
    const vectors = list.map((entry) => vectorOf(own(entry, 'values'))).map((vector) => (dimensions === undefined ? vector : unitVector(vector)));
    const tokens = asNumber(own(own(body, 'usageMetadata'), 'promptTokenCount'));
    return { reply: { vectors: exactly(inputs.length, vectors) }, usage: tokens === undefined ? null : { ...noUsage, input: asCount(tokens) } };
  },
};
