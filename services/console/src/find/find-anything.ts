/** What the palette finds by a piece of text: resources by a part of their name or alias, requests and sessions by their whole id. */
import { internalPrefix } from '@model-gateway/contracts';
import type { CatalogReader, ListQuery, Storage } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';

/** What can be found. */
export const findKinds = [
  'access-keys',
  'key-groups',
  'models',
  'load-balancers',
  'upstreams',
  'pricing',
  'mcp-servers',
  'search-providers',
  'request',
  'session',
] as const;

/** One thing that was found. */
export interface Found {
  kind: (typeof findKinds)[number];
  /** Canonical name, or the id of a request or session. */
  name: string;
  /** What distinguishes it: the group of a key, the upstream of a model, the alias that was found, the model of a request. */
  detail: string | null;
  /** null: it can be neither. */
  enabled: boolean | null;
}

/** Of each kind. Among more than are read, the first by name are looked at. */
const shownEach = 6;
const readEach = 40;
const dayMs = 86_400_000;
/** Ids are asked for whole: shorter text is a word. */
const idLike = /^[\w.:/-]{8,512}$/;

/** Those whose name begins with the text before others, the very name first. */
export async function findAnything(text: string, { storage, now }: Pick<ConsoleContext, 'storage' | 'now'>): Promise<Found[]> {
  const q = text.trim();
  if (q === '') return [];
  const [resources, ids] = await Promise.all([storage.catalog.read((reader) => findResources(q, reader)), idLike.test(q) ? findIds(q, storage, now()) : []]);
  return [...ids, ...resources];
}

async function findResources(search: string, reader: CatalogReader): Promise<Found[]> {
  const query: ListQuery = { page: 1, pageSize: readEach, search, sort: { column: 'name', descending: false } };
  const found: Found[] = [];
  const add = (items: readonly Found[]) => found.push(...nearest(items, search));
  add(listed('access-keys', await reader.accessKeys.list(query), ({ group }) => group));
  add(listed('key-groups', await reader.keyGroups.list(query)));
  add(await findNames(search, reader));
  add(listed('upstreams', await reader.upstreams.list(query), ({ base_url }) => base_url));
  add(listed('pricing', await reader.pricing.list(query), ({ model }) => model));
  add(listed('mcp-servers', await reader.mcpServers.list(query)));
  add(listed('search-providers', await reader.searchProviders.list(query)));
  return found.filter(({ name }) => !name.startsWith(internalPrefix));
}

type Named = { name: string; enabled?: boolean };

const listed = <D extends Named>(
  kind: Found['kind'],
  { items }: { items: readonly { document: D }[] },
  detailOf: (document: D) => string | null = () => null,
): Found[] => items.map(({ document }) => ({ kind, name: document.name, detail: detailOf(document), enabled: document.enabled ?? null }));

/** Models and load balancers, by their own names and by aliases; each once. */
async function findNames(search: string, reader: CatalogReader): Promise<Found[]> {
  const hits = await reader.modelNames.search(search, readEach);
  const best = new Map<string, (typeof hits)[number]>();
  for (const hit of hits) {
    const place = `${hit.owner} ${hit.of}`;
    if (hit.kind === 'canonical' || !best.has(place)) best.set(place, hit);
  }
  const found: Found[] = [];
  for (const { owner, kind, name, of } of best.values()) {
    const isModel = owner === 'model';
    const stored = isModel ? await reader.models.find(of) : await reader.loadBalancers.find(of);
    if (!stored) continue;
    const { document } = stored;
    const detail = kind === 'alias' ? name : 'upstream' in document ? document.upstream : null;
    found.push({ kind: isModel ? 'models' : 'load-balancers', name: of, detail, enabled: document.enabled });
  }
  return found;
}

/** The first by how well they fit, then by name. */
function nearest(items: readonly Found[], search: string): Found[] {
  const wanted = search.toLowerCase();
  const rank = ({ name, detail }: Found): number => {
    const words = [name.toLowerCase(), detail?.toLowerCase() ?? ''];
    if (words.includes(wanted)) return 0;
    return words[0]?.startsWith(wanted) ? 1 : words[0]?.includes(wanted) ? 2 : 3;
  };
  const kinds = new Map<string, number>();
  return [...items]
    .sort((one, other) => rank(one) - rank(other) || (one.name < other.name ? -1 : 1))
    .filter(({ kind }) => {
      const count = (kinds.get(kind) ?? 0) + 1;
      kinds.set(kind, count);
      return count <= shownEach;
    });
}

/** A request by its own id whenever it was, by its caller's id within a day; a session by its whole id. */
async function findIds(id: string, { requests }: Storage, now: number): Promise<Found[]> {
  const [own, called, sessions] = await Promise.all([
    requests.findRow(id),
    requests.listRows({ filters: { requestId: id, from: now - dayMs, to: now + dayMs }, limit: 1 }),
    requests.readSessions({ from: 0, to: now + dayMs, sessionId: id, order: 'last_at', limit: 1 }),
  ]);
  const row = own ?? called.items[0];
  return [
    ...(row ? [{ kind: 'request' as const, name: row.id, detail: row.requested_model ?? row.model, enabled: null }] : []),
    ...sessions.map(({ sessionId, accessKey }) => ({ kind: 'session' as const, name: sessionId, detail: accessKey || null, enabled: null })),
  ];
}
