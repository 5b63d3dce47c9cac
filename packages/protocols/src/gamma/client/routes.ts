/** The paths under which callers speak gamma. */
import type { StreamForm } from '@model-gateway/contracts';
import type { ClientRoute, RouteMatch } from '../../contract/index.ts';

type Headers = Readonly<Record<string, string | undefined>>;

const prefix = '/v1beta/models/';
/** The JavaScript SDK uses `/v1` by default. The path is alpha's too: a call's verb, or the SDK's own header on lists, tells the two apart. */
const sharedPrefix = '/v1/models/';
const fromOwnSdk = (headers: Headers): boolean => headers['x-goog-api-client'] !== undefined;

/** Without `alt=sse` a stream is one JSON array. */
const streamForm = (query: URLSearchParams): StreamForm => (query.get('alt') === 'sse' || query.get('$alt') === 'sse' ? 'sse' : 'json-array');

const verbs: ReadonlyMap<string, (model: string, query: URLSearchParams) => RouteMatch> = new Map([
  ['generateContent', (model: string): RouteMatch => ({ operation: 'generate', model, stream: 'whole' })],
  ['streamGenerateContent', (model: string, query: URLSearchParams): RouteMatch => ({ operation: 'generate', model, stream: streamForm(query) })],
  ['countTokens', (model: string): RouteMatch => ({ operation: 'count-tokens', model, stream: 'whole' })],
  ['embedContent', (model: string): RouteMatch => ({ operation: 'embed', model, stream: 'whole' })],
  ['batchEmbedContents', (model: string): RouteMatch => ({ operation: 'embed', model, stream: 'whole' })],
  ['predict', (model: string): RouteMatch => ({ operation: 'image', model, stream: 'whole' })],
]);

/** The protocol's verbs that are not served here: such a path is unknown (404), and no model whose name ends in the verb. */
const otherVerbs: ReadonlySet<string> = new Set(['asyncBatchEmbedContent', 'batchGenerateContent', 'generateAnswer', 'predictLongRunning']);

/** Decoded once; null when the percent-encoding is broken. */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // Not text in any encoding, so it names no model: the edge answers 404.
  }
}

/** The model is all between `models/` and the last `:`, so names may hold `/` and `:`. */
function split(rest: string): { model: string; verb: string } | null {
  const text = decode(rest);
  const colon = text?.lastIndexOf(':') ?? -1;
  return text === null || colon < 1 ? null : { model: text.slice(0, colon), verb: text.slice(colon + 1) };
}

const matchCall: ClientRoute['match'] = (rest, query) => {
  const parts = split(rest);
  return parts ? (verbs.get(parts.verb)?.(parts.model, query) ?? null) : null;
};

const matchModel: ClientRoute['match'] = (rest, _query, _headers, method) => {
  // A path with a verb is the other route's, so that GET on it is a wrong method and not an unknown model. Names may end in `:word` too, but what
  // is posted there is a verb that nobody knows.
  const verb = split(rest)?.verb ?? '';
  if (verbs.has(verb) || otherVerbs.has(verb) || (verb !== '' && method === 'POST')) return null;
  const model = decode(rest);
  return model === null || model === '' ? null : { operation: 'get-model', model, stream: 'whole' };
};

const matchList: ClientRoute['match'] = () => ({ operation: 'list-models', stream: 'whole' });
const ofOwnSdk =
  (match: ClientRoute['match']): ClientRoute['match'] =>
  (rest, query, headers, method) =>
    fromOwnSdk(headers) ? match(rest, query, headers, method) : null;

const liveMethod = (version: string, method: string): string => `/ws/google.ai.generativelanguage.${version}.GenerativeService.${method}`;

export const notServed = [
  ...['v1beta', 'v1', 'v1alpha'].flatMap((version) => [
    {
      path: liveMethod(version, 'BidiGenerateContentConstrained'),
      message: 'Live sessions by short-lived tokens of the vendor are not served here: open them with an access key, at BidiGenerateContent.',
    },
    { path: liveMethod(version, 'BidiGenerateMusic'), message: 'Sessions that make music are not served here.' },
  ]),
  // `/v1/decisions` are those of another vendor, which are served.
  ...['/v1beta', '/v1alpha'].map((version) => ({
    path: `${version}/decisions`,
    message: 'Decisions in this form are not served here: ask for them with a responseJsonSchema at /v1beta/models/{model}:generateContent.',
  })),
  ...['/v1beta', '/v1', '/v1alpha'].flatMap((version) => [
    {
      path: `${version}/interactions`,
      message: 'Interactions are not served here: send the whole conversation to /v1beta/models/{model}:generateContent or :streamGenerateContent.',
    },
    {
      path: `${version}/agents`,
      message: 'Agents are not run here: send the conversation to /v1beta/models/{model}:generateContent or :streamGenerateContent.',
    },
    { path: `${version}/cachedContents`, message: 'Contents are not cached beforehand here: send them inside the request that is about them.' },
    ...[`${version}/files`, `${version}/files:register`, `/upload${version}/files`, `${version}/fileSearchStores`].map((path) => ({
      path,
      message: 'Files are not kept here: send them inside the request that is about them.',
    })),
    ...[
      { path: `${version}/batches` },
      { path: `${version}/models`, verb: 'batchGenerateContent' },
      { path: `${version}/models`, verb: 'asyncBatchEmbedContent' },
    ].map((batches) => ({ ...batches, message: 'Batches are not served here: send their requests one by one.' })),
    { path: `${version}/models`, verb: 'predictLongRunning', message: 'Videos are not served on this path.' },
    { path: `${version}/auth_tokens`, message: 'Short-lived tokens of the vendor are not made here: use an access key.' },
  ]),
];

export const routes: readonly ClientRoute[] = [
  { methods: ['POST'], path: prefix, match: matchCall },
  { methods: ['GET'], path: '/v1beta/models', match: matchList },
  { methods: ['GET'], path: prefix, match: matchModel },
  { methods: ['POST'], path: sharedPrefix, match: matchCall },
  { methods: ['GET'], path: '/v1/models', match: ofOwnSdk(matchList) },
  { methods: ['GET'], path: sharedPrefix, match: ofOwnSdk(matchModel) },
];
