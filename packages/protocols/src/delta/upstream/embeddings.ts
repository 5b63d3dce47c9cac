/** Text embeddings of the native API: https://www.alibabacloud.com/help/en/model-studio/text-embedding-synchronous-api */
import { noUsage } from '@model-gateway/contracts';
import { exactly, textOf } from '../../alpha/index.ts';
import type { Embeddings, EmbeddingsRequest, UnaryUpstreamCodec } from '../../contract/index.ts';
import { vectorOf } from '../../kit/float-vector.ts';
import { asArray, asCount, asNumber, own } from '../../kit/read.ts';

export const embeddings: UnaryUpstreamCodec<EmbeddingsRequest, Embeddings> = {
  writeRequest: ({ inputs, dimensions }, { target }) => ({
    body: {
      model: target.upstreamModelId,
      input: { texts: inputs.map(textOf) },
      ...(dimensions !== undefined && { parameters: { dimension: dimensions } }),
    },
    losses: [],
  }),
  readReply(body, { inputs }) {
    const vectors: (readonly number[])[] = [];
    for (const [place, entry] of (asArray(own(own(body, 'output'), 'embeddings')) ?? []).entries())
      vectors[asNumber(own(entry, 'text_index')) ?? place] = vectorOf(own(entry, 'embedding'));
    const tokens = asNumber(own(own(body, 'usage'), 'total_tokens'));
    return { reply: { vectors: exactly(inputs.length, vectors) }, usage: tokens === undefined ? null : { ...noUsage, input: asCount(tokens) } };
  },
};
