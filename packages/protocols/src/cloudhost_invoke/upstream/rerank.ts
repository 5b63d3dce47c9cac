/** Rerank in the bodies of the models' vendors: https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-supported.html */
import { documentText, readResult } from '../../alpha/index.ts';
import type { Ranking, RerankRequest, Target, UnaryUpstreamCodec } from '../../contract/index.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, own } from '../../kit/read.ts';

const idsOf = ({ modelId, upstreamModelId }: Target): string => `${modelId ?? ''} ${upstreamModelId}`;

/** Models that order documents and do nothing else. */
export const isRerankModel = (target: Target): boolean => /(?:cohere|amazon)\.rerank/i.test(idsOf(target));

const carried: ReadonlySet<string> = new Set(['max_tokens_per_doc']);
/** The vendor's second version, whose documents are texts. */
const apiVersion = 2;

export const rerank: UnaryUpstreamCodec<RerankRequest, Ranking> = {
  writeRequest({ query, documents, topN, others }, { target }) {
    const losses = new Losses();
    const isCohere = /cohere/i.test(idsOf(target));
    losses.unread('', others, isCohere ? carried : new Set());
    const texts = documents.map(documentText);
    const body = {
      query,
      documents: texts,
      // It refuses to name more than there are.
      ...(topN !== undefined && { top_n: Math.min(topN, texts.length) }),
      ...(isCohere && {
        api_version: apiVersion,
        ...(own(others, 'max_tokens_per_doc') !== undefined && { max_tokens_per_doc: own(others, 'max_tokens_per_doc') }),
      }),
    };
    return { body, losses: losses.list };
  },
  readReply(body, { documents }) {
    const list = asArray(own(body, 'results'));
    if (!list) throw new Error('no results');
    // The vendor bills searches of up to a hundred documents, and does not count them in its answer.
    return { reply: { results: list.map((entry) => readResult(entry, documents.length)), searchUnits: Math.ceil(documents.length / 100) }, usage: null };
  },
};
