/** The data plane in this process, on the memory bus or over NATS, with a fixed configuration: edge, router and translator, real; console and storage left out. */
import { type Bus, connectNatsBus, createMemoryBus } from '@model-gateway/bus';
import { buildSnapshot, type CatalogWatcher } from '@model-gateway/catalog';
import { type EdgeConfig, loadConfig } from '@model-gateway/config';
import {
  type AccessKeyRecord,
  type KeyGroup,
  type LoadBalancerInput,
  loadBalancerSchema,
  type Model,
  type ModelInput,
  modelSchema,
  type RequestRow,
  type SearchConfig,
  type SearchProviderRecord,
  type Snapshot,
  sealedAs,
  searchConfigSchema,
  type UpstreamInput,
  type UpstreamRecord,
  upstreamSchema,
} from '@model-gateway/contracts';
import { MemoryState } from '@model-gateway/distributed-state';
import { createEdge, type Edge } from '@model-gateway/edge';
import type { PriceOf } from '@model-gateway/model-catalog';
import { createRouter } from '@model-gateway/router';
import { createScriptRunner } from '@model-gateway/script-runner';
import { createKeyring, generateMasterKey, hashAccessKey, type Keyring, mintAccessKey } from '@model-gateway/secrets';
import { compose, noPressure, type Pressure } from '@model-gateway/service-runtime';
import { createLogger, createMetrics, createRedactor, type LogLevel } from '@model-gateway/telemetry';
import { createTranslator } from '@model-gateway/translator';
import { createOutbound, type Outbound } from '@model-gateway/upstream-client';
import type { MemoryTurns } from './memory-turns.ts';

export interface InProcessOptions {
  upstreams: UpstreamInput[];
  models: ModelInput[];
  loadBalancers?: LoadBalancerInput[];
  group?: Partial<KeyGroup>;
  edge?: Partial<EdgeConfig>;
  priceOf?: PriceOf;
  /** Stands in for the network. */
  outbound?: Outbound;
  /** The network of addresses that callers name; absent: they are not fetched. */
  clientUrls?: Outbound;
  /** The network of addresses that upstreams name in replies; absent: files are fetched from the upstream itself alone. */
  publicUrls?: Outbound;
  /** Where the gateway searches for models without a search of their own; the provider's key is `search-secret`. */
  search?: { provider: Omit<SearchProviderRecord, 'sealed_key'>; config?: Partial<SearchConfig> };
  /** How near each is to its end; absent: not at all. */
  pressure?: { edge?: Pressure; translator?: Pressure };
  /** Bounds of reading on after a caller left. */
  drains?: { max: number; ms: number };
  /** How many requests may go on to another node; as good as all by default. */
  retryBudget?: { share: number; floor: number };
  /** Runs scripts, by a real runner with processes of its own. */
  scripts?: boolean;
  /** Copies and freezes on the bus, as a real one would. Default true. */
  strict?: boolean;
  /** Address of a NATS server that carries the bus; absent: the memory bus. */
  natsUrl?: string;
  /** Keeps turns; absent: the gateway stores none. */
  turns?: MemoryTurns;
  /** With `turns`: `upstream` stands for a gateway that notes alone whose responses upstreams keep. */
  turnsKeptBy?: 'gateway' | 'upstream';
}

export interface InProcessGateway {
  url: string;
  key: string;
  edge: Edge;
  /** Rows in the order they were published. */
  rows: RequestRow[];
  /** Waits for the row of a request (by minted id or `z-request-id`). */
  row(id: string): Promise<RequestRow>;
  logs: string[];
  /** What signatures are sealed with. */
  envelopeKey: { id: string; key: Uint8Array };
  /** As a scraper reads them. */
  metrics(): Promise<string>;
  busStats(): ReturnType<Bus['stats']>;
  stop(): Promise<void>;
}

export const testLogLevel = (process.env['TEST_LOG'] ?? 'error') as LogLevel;

export async function startInProcess(options: InProcessOptions): Promise<InProcessGateway> {
  const keyring = createKeyring(generateMasterKey());
  const key = mintAccessKey();
  const catalog = fixedCatalog(snapshotOf(options, keyring, key));
  const logs: string[] = [];
  const redactor = createRedactor();
  const logger = createLogger({ level: testLogLevel, name: 'test', redactor, destination: { write: (line) => void logs.push(line) } });
  const metrics = createMetrics({ service: 'test' });
  const bus = options.natsUrl
    ? await connectNatsBus({ url: options.natsUrl, name: 'in-process', logger, drainMs: 1000 })
    : createMemoryBus({ logger, strict: options.strict ?? true });
  options.turns?.serve(bus);
  const rows: RequestRow[] = [];
  const hearing = bus.listenDurably('stats.request', async (batch) => void rows.push(...batch.map(({ event }) => event)), { maxWaitMs: 5 });
  const config = loadConfig({ env: { PORT: '0', HOST: '127.0.0.1', CONFIG_FILE: '/dev/null' } });
  const outbound = options.outbound ?? createOutbound({ allowPrivate: true, timeouts: config.translator.timeouts, userAgent: 'test', logger });
  const state = new MemoryState();
  const edge = createEdge({
    bus,
    catalog,
    config: { ...config.edge, lameDuckMs: 0, drainMs: 500, ...options.edge },
    logger,
    metrics,
    state,
    priceOf: options.priceOf ?? (() => null),
    pressure: options.pressure?.edge ?? noPressure,
  });
  const service = compose(
    [
      createRouter({ bus, catalog, config: config.router }),
      ...(options.scripts ? [createScriptRunner({ bus, config: config.scriptRunner, logger })] : []),
      createTranslator({
        bus,
        catalog,
        outbound,
        clientUrls: options.clientUrls ?? null,
        publicUrls: options.publicUrls ?? null,
        priceOf: options.priceOf ?? (() => null),
        keyring,
        logger,
        redactor,
        state,
        config: {
          leaveMs: 500,
          retryBudget: options.retryBudget ?? { share: 1, floor: 100 },
          drains: options.drains ?? { max: 100, ms: 30_000 },
          maxHops: 5,
          ...(options.turns && { turns: { enabled: options.turnsKeptBy !== 'upstream', maxHistoryBytes: 1024 * 1024 } }),
        },
        pressure: options.pressure?.translator ?? noPressure,
      }),
      edge,
    ],
    {
      logger,
    },
  );
  await service.start();
  // The bus connects in the background, and refuses what it is given before.
  await until(() => bus.connected, 'the connection of the bus');
  return {
    url: `http://127.0.0.1:${edge.port}`,
    key,
    edge,
    rows,
    logs,
    envelopeKey: keyring.derive('signature-envelope'),
    row: (id) => until(() => rows.find((row) => row.id === id || row.client_request_id === id), `a row of ${id}`),
    metrics: () => metrics.text(),
    busStats: () => bus.stats(),
    async stop() {
      await service.stop();
      await hearing.dispose();
      await options.turns?.stop();
      await bus.drain();
    },
  };
}

/** Polls until `find` gives something; fails with what was waited for. */
export async function until<T>(find: () => T | undefined | false | Promise<T | undefined | false>, what: string, ms = 30_000): Promise<T> {
  const deadline = Date.now() + ms;
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function snapshotOf(options: InProcessOptions, keyring: Keyring, key: string): Snapshot {
  const upstreams: UpstreamRecord[] = options.upstreams.map((input) => {
    const { api_keys, proxy: _proxy, dns: _dns, tls: _tls, ...upstream } = upstreamSchema.parse(input);
    const id = `id-${upstream.name}`;
    return {
      ...upstream,
      id,
      api_keys: api_keys.map((one, at) => ({
        id: `key-${at}`,
        weight: one.weight,
        ...(one.account !== undefined && { account: one.account }),
        sealed: keyring.seal(one.key ?? '', sealedAs.upstreamKey(id, `key-${at}`)),
      })),
    };
  });
  const models: Model[] = options.models.map((input) => modelSchema.parse(input));
  const group: KeyGroup = { name: 'group', models: ['*'], header_acl: [], strict_translation: false, enabled: true, description: '', ...options.group };
  const accessKey: AccessKeyRecord = { name: 'caller', group: 'group', enabled: true, expires_at: null, hash: hashAccessKey(key) };
  if (options.turns) Object.assign(accessKey, { id: 'caller-id' });
  return buildSnapshot({
    revision: 1,
    upstreams,
    models,
    load_balancers: (options.loadBalancers ?? []).map((input) => loadBalancerSchema.parse(input)),
    ...(options.search && {
      search_providers: [{ ...options.search.provider, sealed_key: keyring.seal('search-secret', sealedAs.searchProviderKey(options.search.provider.id)) }],
      search_config: [searchConfigSchema.parse({ default_provider: options.search.provider.name, ...options.search.config })],
    }),
    key_groups: [group],
    access_keys: [accessKey],
  });
}

function fixedCatalog(snapshot: Snapshot): CatalogWatcher {
  return {
    start: async () => {},
    stop: async () => {},
    current: () => snapshot,
    at: () => snapshot,
    onChange: () => () => {},
    ready: true,
  } as unknown as CatalogWatcher;
}
