/** What a group's callers see, computed once for each state of the servers: lists are the same bytes each time, and searches find at once. */
import { isServerVisible } from '../access/decide.ts';
import type { Caller } from '../endpoint/caller.ts';
import type { Registry } from '../servers/registry.ts';
import { loadMs, type McpServer } from '../servers/server.ts';
import { type OfferedTool, offeredTools, printTools } from './offered.ts';
import { ToolIndex } from './search.ts';

/** Name of the tool that finds tools. */
export const searchToolName = 'search_tools';

const searchTool = JSON.stringify({
  name: searchToolName,
  title: 'Search tools',
  description:
    'Finds tools by keywords in their names and descriptions, also those whose description is left out of the list. Answers with names, descriptions and input schemas.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'Keywords, for example "create calendar event"' },
      limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many tools at most; 10 unless given' },
    },
    required: ['query'],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
});
const searchToolTokens = Math.ceil(searchTool.length / 4);

/** One view of the tools. */
export interface View {
  offered: readonly OfferedTool[];
  /** By the name that the caller uses. */
  byName: ReadonlyMap<string, OfferedTool>;
  /** JSON text of the array that `tools/list` gives. */
  list: string;
  index(): ToolIndex;
}

/** Tools older than that are asked for again, while the old ones are listed. */
const staleMs = 30_000;
/** After a server did not give its tools, lists wait for it again no sooner. */
const retryMs = 15_000;
const maxViews = 500;

export class Views {
  readonly #registry: Registry;
  #views = new Map<string, View>();
  #groups = new WeakMap<object, number>();
  #nextGroup = 0;

  constructor(registry: Registry) {
    this.#registry = registry;
    registry.onChange(() => this.#views.clear());
  }

  /** `scope`: one server alone. Waits for tools that were never loaded, not longer than five seconds since they were asked for; `loaded` is called with each deferred one. */
  async see(caller: Caller, scope: McpServer | null, loaded: (server: McpServer) => void): Promise<View> {
    const servers = this.#serversOf(caller, scope);
    const missing = servers.filter((server) => server.isWell && server.tools === undefined);
    // Nobody waits again and again for one that does not answer.
    const waited = missing.filter((server) => server.sinceAsked > retryMs);
    await Promise.all(waited.map((server) => Promise.race([wait(loadMs - server.loadingFor), loadFirst(server, loaded)])));
    for (const server of servers) if (server.isWell && server.tools !== undefined && server.toolsAge > staleMs) void server.reload().catch(() => undefined);
    return this.now(caller, scope);
  }

  /** Names of servers whose tools may be others by now, or are missing, since they did not give them when they were last asked. */
  staleOf(caller: Caller, scope: McpServer | null): string[] {
    return this.#serversOf(caller, scope).flatMap((server) => (server.isWell && server.isStale ? [server.name] : []));
  }

  #serversOf(caller: Caller, scope: McpServer | null): readonly McpServer[] {
    return scope ? [scope] : this.#registry.servers.filter(({ name, record }) => isServerVisible(caller.acl, { server: name, tags: record.tags }));
  }

  /** What is known now. */
  now(caller: Caller, scope: McpServer | null): View {
    const key = JSON.stringify([this.#numberOf(caller.group), caller.separator, caller.maxToolTokens, scope?.name ?? null]);
    const known = this.#views.get(key);
    if (known) return known;
    if (this.#views.size >= maxViews) this.#views.clear();
    const view = createView(scope ? [scope] : this.#registry.servers, caller, scope === null);
    this.#views.set(key, view);
    return view;
  }

  /** Groups are frozen: another object is another state of one. */
  #numberOf(group: object): number {
    const number = this.#groups.get(group) ?? this.#nextGroup++;
    this.#groups.set(group, number);
    return number;
  }
}

async function loadFirst(server: McpServer, loaded: (server: McpServer) => void): Promise<void> {
  const before = server.tools;
  await server.load().catch(() => undefined);
  if (before === undefined && server.tools !== undefined && server.record.defer_loading) loaded(server);
}

function createView(servers: readonly McpServer[], caller: Caller, aggregated: boolean): View {
  const offered = offeredTools(servers, caller, aggregated);
  const texts = printTools(offered, caller.maxToolTokens, aggregated ? searchToolTokens : 0);
  let index: ToolIndex | undefined;
  return {
    offered,
    // With another separator the names with dots can be called as well.
    byName: new Map(offered.flatMap((one) => [...(aggregated && one.name !== dotted(one) ? [[dotted(one), one] as const] : []), [one.name, one] as const])),
    list: `[${[...(aggregated ? [searchTool] : []), ...texts].join(',')}]`,
    index() {
      index ??= new ToolIndex(offered);
      return index;
    },
  };
}

const dotted = ({ server, tool }: OfferedTool): string => `${server.name}.${tool.name}`;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
