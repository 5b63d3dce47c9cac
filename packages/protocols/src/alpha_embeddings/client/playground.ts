/** Vectors in the playground: a line is a text. */
import { bearer, isNumber, type PlaygroundCall } from '../../playground/call.ts';
import { at, list } from '../../playground/dialect.ts';

export const playgroundCalls: readonly PlaygroundCall[] = [
  {
    clientProtocol: 'alpha_embeddings',
    operation: 'embed',
    path: '/v1/embeddings',
    headers: bearer,
    fields: ['texts', 'dimensions'],
    body: ({ model, text, dimensions }) => ({
      model,
      input: text.split('\n').filter((line) => line.trim() !== ''),
      ...(dimensions !== null && { dimensions }),
      encoding_format: 'float',
    }),
    readReply: (reply) => list(at(reply, 'data')).map((one) => ({ kind: 'vector', values: list(at(one, 'embedding')).filter(isNumber) })),
  },
];
