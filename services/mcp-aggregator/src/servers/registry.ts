/** All MCP servers of the configuration, in the order in which their tools are offered. */
import type { Bus } from '@model-gateway/bus';
import { type McpSecrets, type McpServerRecord, type Snapshot, sealedAs } from '@model-gateway/contracts';
import { createOpener, credentialOf } from '@model-gateway/secrets';
import { type Access, McpServer, type ServerDeps } from './server.ts';

export interface RegistryDeps extends Omit<ServerDeps, 'changedTools'> {
  bus: Bus;
}

const retryMs = 1000;
const askMs = 2000;

export class Registry {
  readonly #deps: RegistryDeps;
  readonly #servers = new Map<string, McpServer>();
  readonly #listeners = new Set<() => void>();
  #wanted: ReadonlyMap<string, McpServerRecord> = new Map();
  #access = new Map<string, { withheld: string | undefined; access: Access }>();
  #ordered: readonly McpServer[] = [];
  #adopting: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #keys: readonly Buffer[] = [];
  /** Whether the secrets of all servers are known. */
  ready = false;

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
  }

  /** By priority, then by name: the same in every process. */
  get servers(): readonly McpServer[] {
    return this.#ordered;
  }

  find(name: string): McpServer | undefined {
    return this.#servers.get(name);
  }

  /** Keys that all processes share, derived from nothing but the key for these secrets: they sign the ids of sessions. */
  get signingKeys(): readonly Buffer[] {
    return this.#keys;
  }

  /** Called when what may be listed changed. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Never rejects: what cannot be known yet is asked for again. */
  adopt({ mcpServers }: Snapshot): Promise<void> {
    this.#wanted = mcpServers;
    this.#again = true;
    this.#adopting ??= this.#run().finally(() => {
      this.#adopting = undefined;
    });
    return this.#adopting;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      const wanted = this.#wanted;
      try {
        const enabled = [...wanted.values()].filter((server) => server.enabled);
        const isKnown = (server: McpServerRecord) => this.#access.get(server.id)?.withheld === server.withheld && server.withheld !== undefined;
        if (this.#keys.length === 0 || !enabled.every(isKnown))
          this.#openAll(await this.#deps.bus.ask('catalog.mcp-secrets', {}, { deadlineMs: askMs }), wanted);
        const complete = await this.#reconcile(enabled);
        this.ready = true;
        // Made, or deleted, since the secrets were asked for.
        if (!complete) await this.#askAgain();
      } catch (error) {
        this.#deps.logger.warn({ error }, 'the secrets of MCP servers cannot be loaded yet');
        await this.#askAgain();
      }
    }
  }

  readonly #changedTools: ServerDeps['changedTools'] = async ({ id }, tools, peek = false) => {
    const seen = tools.map(({ name, hash }) => ({ name, hash }));
    return (await this.#deps.bus.ask('catalog.mcp-tools', { server: id, tools: seen, peek }, { deadlineMs: askMs })).changed;
  };

  #openAll({ keys, servers }: McpSecrets, wanted: ReadonlyMap<string, McpServerRecord>): void {
    const derived = keys.map(({ id, key }) => ({ id, key: Buffer.from(key, 'base64') }));
    const opener = createOpener(derived);
    this.#keys = derived.map(({ key }) => key);
    const withheld = new Map([...wanted.values()].map((record) => [record.id, record.withheld]));
    this.#access = new Map(
      servers.map(({ id, endpoint, auth, headers = {} }) => {
        const opened: Record<string, string> = {};
        const open = (sealed: string, place: string): string => {
          const value = opener.open(sealed, place);
          for (const secret of new Set([value, credentialOf(value)])) this.#deps.redactor.add(secret);
          return value;
        };
        try {
          for (const [name, sealed] of Object.entries(headers)) opened[name.toLowerCase()] = open(sealed, sealedAs.mcpHeader(id, name.toLowerCase()));
          if (auth !== undefined) opened['authorization'] = open(auth, sealedAs.mcpAuth(id));
        } catch (error) {
          this.#deps.logger.error({ error, server: id }, 'a secret of an MCP server does not open');
        }
        return [id, { withheld: withheld.get(id), access: { url: endpoint, headers: opened } }] as const;
      }),
    );
  }

  async #askAgain(): Promise<void> {
    this.#again = true;
    await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
  }

  /** false: the secrets of a server are not known yet. */
  async #reconcile(enabled: readonly McpServerRecord[]): Promise<boolean> {
    let complete = true;
    const names = new Set(enabled.map(({ name }) => name));
    for (const [name, server] of this.#servers) {
      if (names.has(name)) continue;
      this.#servers.delete(name);
      void server.close();
    }
    for (const record of enabled) {
      const access = this.#access.get(record.id)?.access;
      if (!access) {
        complete = false;
        continue;
      }
      const known = this.#servers.get(record.name);
      if (known && isSamePlace(known.record, record)) known.adopt(record, access);
      else {
        await known?.close();
        const server = new McpServer(record, access, { ...this.#deps, changedTools: this.#changedTools });
        server.onChange(() => this.#changed());
        this.#servers.set(record.name, server);
      }
    }
    this.#ordered = [...this.#servers.values()].sort((a, b) => a.record.priority - b.record.priority || (a.name < b.name ? -1 : 1));
    this.#changed();
    return complete;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Connections may stay. */
const isSamePlace = (a: McpServerRecord, b: McpServerRecord): boolean =>
  a.id === b.id &&
  a.endpoint === b.endpoint &&
  a.withheld === b.withheld &&
  a.transport === b.transport &&
  a.connection_type === b.connection_type &&
  a.hold_changed_tools === b.hold_changed_tools &&
  a.health_check.interval_secs === b.health_check.interval_secs &&
  a.health_check.path === b.health_check.path &&
  JSON.stringify(a.extra_config) === JSON.stringify(b.extra_config);
