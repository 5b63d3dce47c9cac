/** Text rerank of the native API: https://www.alibabacloud.com/help/en/model-studio/text-rerank-api */
import { noUsage } from '@model-gateway/contracts';
import { documentText, readResult } from '../../alpha/index.ts';
import type { Ranking, RerankRequest, UnaryUpstreamCodec } from '../../contract/index.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asCount, asNumber, own } from '../../kit/read.ts';

/** Models that read pictures as well take `{text}`, `{image}` and `{video}`; all others refuse what is not a string. */
const readsObjects = /-vl-/;

export const rerank: UnaryUpstreamCodec<RerankRequest, Ranking> = {
  writeRequest({ query, documents, topN, others }, { target }) {
    const losses = new Losses();
    losses.unread('', others, new Set());
    const parameters = { return_documents: false, ...(topN !== undefined && { top_n: topN }) };
    const input = { query, documents: readsObjects.test(target.upstreamModelId) ? documents : documents.map(documentText) };
    return { body: { model: target.upstreamModelId, input, parameters }, losses: losses.list };
  },
  readReply(body, { documents }) {
    const list = asArray(own(own(body, 'output'), 'results'));
    if (!list) throw new Error('no results');
    const tokens = asNumber(own(own(body, 'usage'), 'total_tokens'));
    return {
      reply: { results: list.map((entry) => readResult(entry, documents.length)) },
      usage: tokens === undefined ? null : { ...noUsage, input: asCount(tokens) },
    };
  },
};
