/** The paths that callers of this protocol use. Query strings (`?beta=true`) mean nothing to us. */
import type { ClientRoute, RouteMatch } from '../../contract/index.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** `/v1/models` is also chat completions' path: a version header tells the two protocols apart. */
const speaksBeta = (headers: Headers): boolean => headers['anthropic-version'] !== undefined || headers['beta-version'] !== undefined;

function matchModel(rest: string, _query: URLSearchParams, headers: Headers): RouteMatch | null {
  if (!speaksBeta(headers) || rest === '' || rest.includes('/')) return null;
  try {
    return { operation: 'get-model', model: decodeURIComponent(rest), stream: 'whole' };
  } catch {
    return null;
  }
}

/** What official SDKs offer as well. */
export const notServed = [
  { path: '/v1/messages/batches', message: 'Batches are not served here: send their requests one by one.' },
  ...['/v1/agents', '/v1/sessions', '/v1/environments'].map((path) => ({
    path,
    message: 'Agents are not run here: send the conversation to /v1/messages.',
  })),
];

export const routes: readonly ClientRoute[] = [
  { methods: ['POST'], path: '/v1/messages', match: () => ({ operation: 'generate', stream: null }) },
  { methods: ['POST'], path: '/v1/messages/count_tokens', match: () => ({ operation: 'count-tokens', stream: 'whole' }) },
  { methods: ['GET'], path: '/v1/models', match: (_rest, _query, headers) => (speaksBeta(headers) ? { operation: 'list-models', stream: 'whole' } : null) },
  { methods: ['GET'], path: '/v1/models/', match: matchModel },
];
