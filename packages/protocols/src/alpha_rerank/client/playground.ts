/** The order of documents in the playground. */
import { bearer, isNumber, type PlaygroundCall } from '../../playground/call.ts';
import { at, list } from '../../playground/dialect.ts';

export const playgroundCalls: readonly PlaygroundCall[] = [
  {
    clientProtocol: 'alpha_rerank',
    operation: 'rerank',
    path: '/v1/rerank',
    headers: bearer,
    fields: ['text', 'documents'],
    body: ({ model, text, documents }) => ({ model, query: text, documents }),
    readReply: (reply) => [
      {
        kind: 'ranks',
        ranks: list(at(reply, 'results')).flatMap((one) => {
          const [index, score] = [at(one, 'index'), at(one, 'relevance_score')];
          return isNumber(index) && isNumber(score) ? [{ index, score }] : [];
        }),
      },
    ],
  },
];
