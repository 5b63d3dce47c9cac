/** Text embeddings of the native API: https://www.alibabacloud.com/help/en/model-studio/text-embedding-synchronous-api */
import { noUsage } from '@model-gateway/contracts';
import { exactly, fieldsOfVendor, joinEmbeddings, textOf, textsInParts } from '../../alpha/index.ts';
import type { Embeddings, EmbeddingsRequest, Target, UnaryUpstreamCodec } from '../../contract/index.ts';
import { vectorOf } from '../../kit/float-vector.ts';
import { asArray, asCount, asNumber, own } from '../../kit/read.ts';

/** What one call takes: newer models take fewer texts. */
const textsAtOnce = ({ upstreamModelId, modelId }: Target): number => (/embedding-(?:async-)?v[12]$/i.test(modelId ?? upstreamModelId) ? 25 : 10);

export const embeddings: UnaryUpstreamCodec<EmbeddingsRequest, Embeddings> = {
  split: (request, target) => textsInParts(request, textsAtOnce(target)),
  join: joinEmbeddings,
  writeRequest(request, { target }) {
    const { inputs, dimensions, purpose } = request;
    const parameters = { ...(dimensions !== undefined && { dimension: dimensions }), ...(purpose && { text_type: purpose }) };
    return {
      body: {
        model: target.upstreamModelId,
        input: { texts: inputs.map(textOf) },
        ...(Object.keys(parameters).length > 0 && { parameters }),
      },
      losses: fieldsOfVendor(request).list,
    };
  },
  readReply(body, { inputs }) {
    const vectors: (readonly number[])[] = [];
    for (const [place, entry] of (asArray(own(own(body, 'output'), 'embeddings')) ?? []).entries())
      vectors[asNumber(own(entry, 'text_index')) ?? place] = vectorOf(own(entry, 'embedding'));
    const tokens = asNumber(own(own(body, 'usage'), 'total_tokens'));
    return { reply: { vectors: exactly(inputs.length, vectors) }, usage: tokens === undefined ? null : { ...noUsage, input: asCount(tokens) } };
  },
};
