/** Which client protocol a path belongs to. Paths come from the protocols' own route tables. */
import { type ClientDoor, type ClientRoute, clientProtocols, type Protocol, type RouteMatch } from '@model-gateway/protocols';

export type Door = Protocol & { client: ClientDoor };

export interface DoorMatch {
  door: Door;
  route: ClientRoute;
  match: RouteMatch;
}

export type Headers = Readonly<Record<string, string | undefined>>;
/** `methods`: the path exists, but not with this method. */
export type DoorAnswer = { found: DoorMatch } | { methods: readonly string[]; door: Door } | { door: Door };

interface Entry {
  door: Door;
  route: ClientRoute;
}

const entries: Entry[] = clientProtocols.flatMap((door) => door.client.routes.map((route) => ({ door, route })));
const exact = new Map<string, Entry[]>();
for (const entry of entries) if (!entry.route.path.endsWith('/')) exact.set(entry.route.path, [...(exact.get(entry.route.path) ?? []), entry]);
const prefixes = entries.filter(({ route }) => route.path.endsWith('/')).sort((a, b) => b.route.path.length - a.route.path.length);

/** `path` is still percent-encoded and has no query. */
export function findDoor(asked: string, path: string, query: URLSearchParams, headers: Headers): DoorAnswer {
  // What can be read can be asked about; the server itself leaves the body out.
  const method = asked === 'HEAD' ? 'GET' : asked;
  let methods: Set<string> | undefined;
  let other: Door | undefined;
  const candidates = exact.get(path) ?? [];
  for (const entry of candidates.length > 0 ? candidates : prefixes) {
    const { route, door } = entry;
    if (!path.startsWith(route.path)) continue;
    const match = route.match(path.slice(route.path.length), query, headers, method);
    if (!match) continue;
    if (route.methods.includes(method)) return { found: { door, route, match } };
    other ??= door;
    methods ??= new Set();
    for (const allowed of route.methods) {
      methods.add(allowed);
      if (allowed === 'GET') methods.add('HEAD');
    }
  }
  return other ? { door: other, methods: [...(methods ?? [])] } : { door: doorOfPrefix(path) };
}

/** The protocol in whose shape an unknown path is refused: the one whose own path the asked one begins with, else whose first segment it shares. */
export function doorOfPrefix(path: string): Door {
  const deeper = entries.filter(({ route }) => path.startsWith(route.path)).sort((a, b) => b.route.path.length - a.route.path.length)[0];
  const segment = firstSegment(path);
  const found = deeper ?? entries.find(({ route }) => firstSegment(route.path) === segment) ?? entries[0];
  if (!found) throw new Error('no client protocol is registered');
  return found.door;
}

const firstSegment = (path: string): string => path.split('/', 2)[1] ?? '';
