/** The parts that services are composed from: made once per process, closed in one place. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Bus, connectNatsBus, createGatherer, createMemoryBus, joinBuses, withJournal } from '@model-gateway/bus';
import { type CatalogWatcher, createCatalogWatcher } from '@model-gateway/catalog';
import type { Config } from '@model-gateway/config';
import { compositions, type GatherTopic, holdsMasterKey, isServiceName } from '@model-gateway/contracts';
import { type Attempts, MemoryAttempts, MemoryState, RedisAttempts, RedisState, type SharedState } from '@model-gateway/distributed-state';
import type { PriceOf } from '@model-gateway/model-catalog';
import type { Keyring } from '@model-gateway/secrets';
import { type Health, type Pressure, watchPressure } from '@model-gateway/service-runtime';
import type { Storage } from '@model-gateway/storage';
import {
  createLogger,
  createMetrics,
  createRedactor,
  type Logger,
  type LogLevel,
  type Metrics,
  measureProcess,
  type Redactor,
  type Tracer,
} from '@model-gateway/telemetry';
import type { Outbound } from '@model-gateway/upstream-client';
import { claimFolder } from './claim-folder.ts';
import { keyringOf } from './key-files.ts';
import { createPriceOf } from './price-of.ts';
import { startSending } from './send-telemetry.ts';
import { checkTlsFiles, natsFiles, readTlsFiles } from './tls-files.ts';

/** What services are built from; one set per process. */
export interface Parts {
  config: Config;
  logger: Logger;
  redactor: Redactor;
  metrics: Metrics;
  /** undefined: no request is traced. */
  tracer: Tracer | undefined;
  bus: Bus;
  /** Each of the rest is made on first need, so that a service holds only what it uses. */
  catalog(): CatalogWatcher;
  keyring(): Keyring;
  outbound(): Promise<Outbound>;
  /** For addresses that callers name, private ranges refused; null where fetching them is off. */
  clientUrls(): Promise<Outbound | null>;
  /** For addresses that upstreams name in their replies, private ranges refused. */
  publicUrls(): Promise<Outbound>;
  storage(): Promise<Storage>;
  /** Where limits are counted: in Redis when `REDIS_URL` is set, else in this process. */
  state(): SharedState;
  /** How near the process is to its end. */
  pressure(): Pressure;
  /** What a model costs. */
  priceOf: PriceOf;
  /** Where failed sign-ins are counted: in Redis too when `REDIS_URL` is set. */
  attempts(): Attempts;
  /** Shows the password that the first start made up. */
  announcePassword(username: string, password: string): void;
  /** Of the whole process, on every port that has a probe. What runs the process sets it. */
  processHealth: () => Health;
  close(): Promise<void>;
}

/** What waits for a collector when the process leaves may take this long. */
const lastSendingMs = 2000;

/** What state that processes share is made from. */
export interface SharedFrom {
  holder: string;
  /** How many processes share the limits, as far as known. */
  replicas(): number;
  /** Resolves once those that live have had the time to make themselves known. */
  peersKnown(): Promise<void>;
  logger: Logger;
  bus: Bus;
}

/** What differs from a process by itself, or from a service on NATS. */
export interface PartsOptions {
  /** Shows the operator a text once. */
  announce?(text: string): void;
  bus?(from: { logger: Logger }): Bus | Promise<Bus>;
  /** Of the outbox; the process's name without it. */
  journalName?: string;
  /** How many processes of its kind were started together; more may be known from the bus. */
  processes?: number;
  state?(from: SharedFrom): SharedState;
}

/** `name` is the process's in logs, metrics and on the bus. */
export async function createParts(config: Config, name: string, options: PartsOptions = {}): Promise<Parts> {
  const redactor = createRedactor();
  const logger = createLogger({ level: config.process.logLevel as LogLevel, name, redactor });
  for (const secret of [
    config.console.secretKey,
    config.console.password,
    config.console.oidc.clientSecret,
    config.process.masterKey,
    ...[config.process.redisUrl, config.storage.databaseUrl, ...(config.process.natsUrls ?? [])].map(passwordOf),
  ])
    if (secret !== null) redactor.add(secret);
  for (const warning of config.warnings) logger.warn(warning);
  const tls = checkTlsFiles(config, logger);
  const metrics = createMetrics({ service: name });
  const stopMeasuring = measureProcess(metrics);
  const sending = await startSending(config, name, { logger, metrics });
  const plainBus = await (options.bus?.({ logger }) ?? connectBus(config, name, logger));
  const { bus, release } = keepJournal(plainBus, join(config.process.dataDir, 'outbox'), options.journalName ?? name, logger);
  const holder = `${name}-${randomBytes(6).toString('hex')}`;
  const gatherer = once(() => createGatherer(bus));
  // Each process that shares limits answers one of these, or both.
  const sharing = (): number => Math.max(...(['edge-limits', 'translator-limits'] as const).map((topic) => gatherer.get().living(topic)));
  const alone: Readonly<Record<string, GatherTopic>> = { edge: 'edge-limits', translator: 'translator-limits', 'mcp-aggregator': 'mcp-servers' };
  const living = (): number => (alone[name] ? gatherer.get().living(alone[name]) : sharing());
  const makeState = options.state ?? ((from: SharedFrom) => createState(config.process, from));
  const replicas = (): number => Math.max(options.processes ?? 1, living());
  // Only on NATS are there others that nobody has named.
  const peersKnown = async (): Promise<void> => (config.process.natsUrls === null ? undefined : gatherer.get().peersKnown());
  const state = once(() => {
    // Others are to be known before what they share is lost: who begins to listen then takes the whole limit at first.
    if (options.state || config.process.redisUrl !== null) gatherer.get();
    return makeState({ holder, replicas, peersKnown, logger, bus });
  });
  const { memoryLimitBytes: memoryBytes, overloadLagMs: lagMs } = config.process;
  const pressure = once(() => watchPressure({ memoryBytes, lagMs, logger, metrics }));
  const attempts = once(() => createAttempts(config.process, logger));
  const redacted = isServiceName(name) && !holdsMasterKey(name);
  const catalog = once(() => createCatalogWatcher({ bus, logger, redacted }));
  const keyring = once(() => keyringOf(config));
  const open = async (allowPrivate: boolean): Promise<Outbound> => {
    const { createOutbound, limitForShare } = await import('@model-gateway/upstream-client');
    return createOutbound({
      allowPrivate,
      timeouts: config.translator.timeouts,
      userAgent: config.translator.userAgent,
      http2: config.translator.http2,
      maxConnections: config.translator.maxConnectionsPerOrigin ?? limitForShare(config.edge.maxGlobalConcurrency),
      logger,
    });
  };
  const outbound = once(() => open(config.translator.outboundPrivate === 'allow'));
  const publicUrls = once(() => open(false));
  const storage = once(async () => {
    const { openStorage } = await import('@model-gateway/storage');
    return openStorage(
      config.storage.mode === 'sqlite'
        ? { mode: 'sqlite', file: join(config.process.dataDir, 'gateway.db') }
        : { mode: 'postgresql', url: config.storage.databaseUrl!, tls: tls.database },
      { logger, historyRevisions: config.console.historyRevisions },
    );
  });
  return {
    config,
    logger,
    redactor,
    metrics,
    tracer: sending.tracer,
    bus,
    catalog: catalog.get,
    keyring: keyring.get,
    outbound: outbound.get,
    clientUrls: async () => (config.translator.fetchClientUrls ? publicUrls.get() : null),
    publicUrls: publicUrls.get,
    storage: storage.get,
    state: state.get,
    pressure: pressure.get,
    priceOf: createPriceOf(catalog.get),
    attempts: attempts.get,
    announcePassword(username, password) {
      redactor.add(password);
      (options.announce ?? print)(firstPasswordText(username, password));
    },
    processHealth: () => ({ ready: false, reasons: ['starting'] }),
    async close() {
      const sent = sending.close(lastSendingMs);
      pressure.made?.stop();
      await gatherer.made?.dispose();
      await state.made?.close();
      await (attempts.made as Partial<RedisAttempts> | undefined)?.close?.();
      await bus.drain();
      release();
      await (await outbound.made)?.close();
      await (await publicUrls.made)?.close();
      await (await storage.made)?.close();
      await sent;
      stopMeasuring();
    },
  };
}

/** Several edges, each with a small budget, may share a translator. */
const minBodiesBytes = 512 * 1024 * 1024;

async function connectBus({ process: own, edge: { bodyBudgetBytes } }: Config, name: string, logger: Logger): Promise<Bus> {
  const { natsUrls, natsPermissions, natsReplicas, natsTls } = own;
  if (natsUrls === null) return createMemoryBus({ logger });
  const required = natsPermissions === 'require';
  const permissions = isServiceName(name) && { permissions: { service: name, required } };
  // What an edge takes in at once may arrive here at once.
  const maxBodiesBytes = Math.max(bodyBudgetBytes, minBodiesBytes);
  // Who reads the durable store sees to its copies: nobody else is allowed to change it.
  const copies = name === 'stats' && { eventReplicas: Number(natsReplicas) };
  const connection = { url: natsUrls.join(','), name, logger, maxBodiesBytes, tls: natsFiles(natsTls), ...permissions, ...copies };
  if (!Object.hasOwn(compositions, name)) return connectNatsBus(connection);
  // Its own events reach its parts by the inner bus.
  return joinBuses(createMemoryBus({ logger }), await connectNatsBus({ ...connection, natsOptions: { noEcho: true } }));
}

/** Without a writable folder the process runs without an outbox: durable messages that are not delivered yet are lost when it ends. */
function keepJournal(bus: Bus, parent: string, name: string, logger: Logger): { bus: Bus; release(): void } {
  try {
    const { folder, release } = claimFolder(parent, name);
    return { bus: withJournal(bus, { folder, logger }), release };
  } catch (error) {
    logger.warn({ error, folder: parent }, 'no writable folder for the outbox: durable messages are kept in memory alone until they are delivered');
    return { bus, release: () => undefined };
  }
}

/** null when there is none. */
const passwordOf = (url: string | null): string | null => (url === null ? null : decodeURIComponent(new URL(url).password)) || null;

type RedisSettings = Pick<Config['process'], 'redisUrl' | 'redisTls' | 'redisTimeoutMs'>;

/** In Redis where it is set, else in this process. */
export const createState = (
  { redisUrl: url, redisTls, redisTimeoutMs: commandMs }: RedisSettings,
  { holder, replicas, peersKnown, logger }: SharedFrom,
): SharedState =>
  url === null
    ? new MemoryState({ holder })
    : new RedisState({ url, tls: readTlsFiles('REDIS', redisTls, logger), commandMs, holder, logger, replicas, peersKnown });

function createAttempts({ redisUrl: url, redisTls, redisTimeoutMs: commandMs }: RedisSettings, logger: Logger): Attempts {
  if (url === null) return new MemoryAttempts();
  const attempts = new RedisAttempts({ url, tls: readTlsFiles('REDIS', redisTls, logger), commandMs, logger });
  // Until it is there this process counts alone.
  void attempts.start();
  return attempts;
}

const firstPasswordText = (username: string, password: string): string => `First start: sign in to the console as ${username} with the password

  ${password}

It is shown this once: change it under Settings → Account. CONSOLE_PASSWORD sets another at the next start.
`;

const print = (text: string): void => void process.stdout.write(text);

/** Makes a thing on first need and remembers whether it did. */
function once<T>(make: () => T): { get(): T; readonly made: T | undefined } {
  let made: T | undefined;
  return {
    get: () => {
      made ??= make();
      return made;
    },
    get made() {
      return made;
    },
  };
}
