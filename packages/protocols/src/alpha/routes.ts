import type { ClientRoute } from '../protocol.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** Another protocol lists models on the same path and says so by its version header. */
const asksInAnotherShape = (headers: Headers): boolean => headers['anthropic-version'] !== undefined || headers['beta-version'] !== undefined;

/** Where callers reach this protocol. */
export const routes: readonly ClientRoute[] = [
  { methods: ['POST'], path: '/v1/chat/completions', match: () => ({ operation: 'generate', stream: null }) },
  {
    methods: ['GET'],
    path: '/v1/models',
    match: (_rest, _query, headers) => (asksInAnotherShape(headers) ? null : { operation: 'list-models', stream: 'whole' }),
  },
  {
    methods: ['GET'],
    path: '/v1/models/',
    match(rest, _query, headers) {
      const model = decodeOnce(rest);
      return model === null || asksInAnotherShape(headers) ? null : { operation: 'get-model', model, stream: 'whole' };
    },
  },
];

/** Percent-decoded exactly once; null when empty or not decodable. */
function decodeOnce(text: string): string | null {
  try {
    return decodeURIComponent(text) || null;
  } catch {
    // A stray `%` names no model: the path is unknown, which is a 404 and no defect.
    return null;
  }
}
