/** Which client protocol a path belongs to. Paths come from the protocols' own route tables. */
import { type ClientAdapter, type ClientRoute, clientProtocols, type Protocol, type RouteMatch, realtimePaths } from '@model-gateway/protocols';
import { readAzurePath } from './azure-path.ts';

export type ClientProtocol = Protocol & { client: ClientAdapter };

/** The client protocol and route that a path belongs to. */
export interface ClientRouteMatch {
  protocol: ClientProtocol;
  route: Pick<ClientRoute, 'path' | 'socket'>;
  /** The same call's path of other clients, where it came to an address of Azure's. */
  path?: string;
  match: RouteMatch | StreamMatch;
}

/** The gateway's own path, of all protocols: the rest of a stream. */
export interface StreamMatch {
  operation: 'resume';
  /** As the caller gave it. */
  id: string;
}

export type Headers = Readonly<Record<string, string | undefined>>;
/** `methods`: the path exists, but not with this method. */
export type ClientRouteResult = { found: ClientRouteMatch } | { methods: readonly string[]; protocol: ClientProtocol } | { protocol: ClientProtocol };

interface Entry {
  protocol: ClientProtocol;
  route: ClientRoute;
}

const entries: Entry[] = clientProtocols.flatMap((protocol) => protocol.client.routes.map((route) => ({ protocol, route })));
const exact = new Map<string, Entry[]>();
for (const entry of entries) if (!entry.route.path.endsWith('/')) exact.set(entry.route.path, [...(exact.get(entry.route.path) ?? []), entry]);
const prefixes = entries.filter(({ route }) => route.path.endsWith('/')).sort((a, b) => b.route.path.length - a.route.path.length);

/** `path` is still percent-encoded and has no query. */
export function findClientRoute(asked: string, path: string, query: URLSearchParams, headers: Headers): ClientRouteResult {
  const azure = readAzurePath(path, query);
  const there = azure && findRoute(asked, azure.path, query, headers);
  if (!azure || !there || !('found' in there || 'methods' in there)) return findRoute(asked, path, query, headers);
  if (!('found' in there)) return there;
  const { path: meant, model } = azure;
  if (model === undefined) return { found: { ...there.found, path: meant } };
  const { match } = there.found;
  // Only a call whose body would name the model is made at a deployment.
  if (match.operation === 'resume' || match.operation === 'turns' || match.operation === 'list-models' || match.model !== undefined)
    return findRoute(asked, path, query, headers);
  return { found: { ...there.found, path: meant, match: { ...match, model } } };
}

function findRoute(asked: string, path: string, query: URLSearchParams, headers: Headers): ClientRouteResult {
  // What can be read can be asked about; the server itself leaves the body out.
  const method = asked === 'HEAD' ? 'GET' : asked;
  if (path.startsWith(streamRoute.path)) return findStream(method, path.slice(streamRoute.path.length), query, headers);
  let methods: Set<string> | undefined;
  let other: ClientProtocol | undefined;
  const candidates = exact.get(path) ?? [];
  for (const entry of candidates.length > 0 ? candidates : prefixes) {
    const { route, protocol } = entry;
    if (!path.startsWith(route.path)) continue;
    const match = route.match(path.slice(route.path.length), query, headers, method);
    if (!match) continue;
    if (route.methods.includes(method)) return { found: { protocol, route, match } };
    other ??= protocol;
    methods ??= new Set();
    for (const allowed of route.methods) {
      methods.add(allowed);
      if (allowed === 'GET') methods.add('HEAD');
    }
  }
  if (other) return { protocol: other, methods: [...(methods ?? [])] };
  const owner = path.startsWith(`${modelsPath}/`) ? undefined : ownerOf(path);
  return { protocol: owner ?? protocolOfList(modelsPath, query, headers) };
}

/** Callers of several protocols share it: they are told apart by what they send. */
const modelsPath = '/v1/models';

/** The protocol in which the same caller would get the list of models. */
function protocolOfList(path: string, query: URLSearchParams, headers: Headers): ClientProtocol {
  const list = findClientRoute('GET', path, query, headers);
  return 'found' in list ? list.found.protocol : list.protocol;
}

const streamRoute = { path: '/v1/streams/' };

function findStream(method: string, id: string, query: URLSearchParams, headers: Headers): ClientRouteResult {
  const protocol = protocolOfList(googleHeaders.some((name) => headers[name] !== undefined) ? '/v1beta/models' : modelsPath, query, headers);
  if (id === '' || id.includes('/')) return { protocol };
  if (method !== 'GET') return { protocol, methods: ['GET', 'HEAD'] };
  return { found: { protocol, route: streamRoute, match: { operation: 'resume', id } } };
}

/** Of Google's SDKs, whose paths have a version of their own. */
const googleHeaders = ['x-goog-api-key', 'x-gamma-api-key', 'x-goog-api-client'];

/** The protocol in whose shape a path is refused where nothing is known of its caller. */
export function protocolOfPrefix(path: string): ClientProtocol {
  const [first] = ofSegment(path);
  const found = ownerOf(path) ?? first ?? entries[0]?.protocol;
  if (!found) throw new Error('no client protocol is registered');
  return found;
}

/** The protocol whose own path an unknown one begins with, or which has its first segment alone; undefined: several share that, or none has it. */
function ownerOf(path: string): ClientProtocol | undefined {
  const deeper = entries.filter(({ route }) => path.startsWith(route.path)).sort((a, b) => b.route.path.length - a.route.path.length)[0];
  if (deeper) return deeper.protocol;
  const [sole, ...others] = ofSegment(path);
  if (sole) return others.length === 0 ? sole : undefined;
  const ofSessions = realtimePaths.find((known) => firstSegment(known.path) === firstSegment(path))?.protocol;
  return ofSessions && isClient(ofSessions) ? ofSessions : undefined;
}

/** The protocols that have a path with this one's first segment. */
const ofSegment = (path: string): ClientProtocol[] => [
  ...new Set(entries.filter(({ route }) => firstSegment(route.path) === firstSegment(path)).map(({ protocol }) => protocol)),
];

const isClient = (protocol: Protocol): protocol is ClientProtocol => protocol.client !== undefined;

const firstSegment = (path: string): string => path.split('/', 2)[1] ?? '';
