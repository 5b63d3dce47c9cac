/** Which client protocol a path belongs to. Paths come from the protocols' own route tables. */
import { type ClientAdapter, type ClientRoute, clientProtocols, type Protocol, type RouteMatch } from '@model-gateway/protocols';

export type ClientProtocol = Protocol & { client: ClientAdapter };

/** The client protocol and route that a path belongs to. */
export interface ClientRouteMatch {
  protocol: ClientProtocol;
  route: ClientRoute;
  match: RouteMatch;
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
  // What can be read can be asked about; the server itself leaves the body out.
  const method = asked === 'HEAD' ? 'GET' : asked;
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
  return other ? { protocol: other, methods: [...(methods ?? [])] } : { protocol: protocolOfPrefix(path) };
}

/** The protocol in whose shape an unknown path is refused: the one whose own path the asked one begins with, else whose first segment it shares. */
export function protocolOfPrefix(path: string): ClientProtocol {
  const deeper = entries.filter(({ route }) => path.startsWith(route.path)).sort((a, b) => b.route.path.length - a.route.path.length)[0];
  const segment = firstSegment(path);
  const found = deeper ?? entries.find(({ route }) => firstSegment(route.path) === segment) ?? entries[0];
  if (!found) throw new Error('no client protocol is registered');
  return found.protocol;
}

const firstSegment = (path: string): string => path.split('/', 2)[1] ?? '';
