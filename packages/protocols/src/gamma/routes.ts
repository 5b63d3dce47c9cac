/** The paths under which callers speak gamma. */
import type { StreamForm } from '@model-gateway/contracts';
import type { ClientRoute, RouteMatch } from '../protocol.ts';

const prefix = '/v1beta/models/';

/** Without `alt=sse` a stream is one JSON array. */
const streamForm = (query: URLSearchParams): StreamForm => (query.get('alt') === 'sse' || query.get('$alt') === 'sse' ? 'sse' : 'json-array');

const verbs: ReadonlyMap<string, (model: string, query: URLSearchParams) => RouteMatch> = new Map([
  ['generateContent', (model: string): RouteMatch => ({ operation: 'generate', model, stream: 'whole' })],
  ['streamGenerateContent', (model: string, query: URLSearchParams): RouteMatch => ({ operation: 'generate', model, stream: streamForm(query) })],
  ['countTokens', (model: string): RouteMatch => ({ operation: 'count-tokens', model, stream: 'whole' })],
]);

/** Decoded once; null when the percent-encoding is broken. */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // Not text in any encoding, so it names no model: the edge answers 404.
  }
}

/** The model is all between `models/` and the last `:`, so names may hold `/` and `:` (contract §7). */
function split(rest: string): { model: string; verb: string } | null {
  const text = decode(rest);
  const colon = text?.lastIndexOf(':') ?? -1;
  return text === null || colon < 1 ? null : { model: text.slice(0, colon), verb: text.slice(colon + 1) };
}

export const routes: readonly ClientRoute[] = [
  {
    methods: ['POST'],
    path: prefix,
    match: (rest, query) => {
      const parts = split(rest);
      return parts ? (verbs.get(parts.verb)?.(parts.model, query) ?? null) : null;
    },
  },
  { methods: ['GET'], path: '/v1beta/models', match: () => ({ operation: 'list-models', stream: 'whole' }) },
  {
    methods: ['GET'],
    path: prefix,
    match: (rest) => {
      // A path with a verb is the other route's, so that GET on it is a wrong method and not an unknown model.
      if (verbs.has(split(rest)?.verb ?? '')) return null;
      const model = decode(rest);
      return model === null || model === '' ? null : { operation: 'get-model', model, stream: 'whole' };
    },
  },
];
