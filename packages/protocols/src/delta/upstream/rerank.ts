/** Text rerank of the native API: https://www.alibabacloud.com/help/en/model-studio/text-rerank-api */
import { noUsage } from '@model-gateway/contracts';
import { readResult } from '../../alpha/index.ts';
import type { Ranking, RerankRequest, UnaryUpstreamCodec } from '../../contract/index.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asCount, asNumber, own } from '../../kit/read.ts';

export const rerank: UnaryUpstreamCodec<RerankRequest, Ranking> = {
  writeRequest({ query, documents, topN, others }, { target }) {
    const losses = new Losses();
    losses.unread('', others, new Set());
    const parameters = { return_documents: false, ...(topN !== undefined && { top_n: topN }) };
    return { body: { model: target.upstreamModelId, input: { query, documents }, parameters }, losses: losses.list };
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
