/** Judgements of contents in the playground. */
import { bearer, isNumber, type PlaygroundCall } from '../../playground/call.ts';
import { at, list } from '../../playground/dialect.ts';

const named = (value: unknown): [string, unknown][] => (typeof value === 'object' && value !== null ? Object.entries(value) : []);

export const playgroundCalls: readonly PlaygroundCall[] = [
  {
    clientProtocol: 'alpha',
    operation: 'moderate',
    path: '/v1/moderations',
    headers: bearer,
    fields: ['text'],
    body: ({ model, text }) => ({ model, input: text }),
    readReply: (reply) =>
      list(at(reply, 'results')).map((one) => ({
        kind: 'judgement',
        flagged: at(one, 'flagged') === true,
        categories: named(at(one, 'categories')).map(([name, flagged]) => {
          const score = at(one, 'category_scores', name);
          return { name, flagged: flagged === true, score: isNumber(score) ? score : null };
        }),
      })),
  },
];
