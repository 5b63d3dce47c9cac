/** Puts the console together: its API behind a server that listens to nobody but the bus, and the catalog's source. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { type Bus, createGatherer, type Disposable } from '@model-gateway/bus';
import { createCatalogSource } from '@model-gateway/catalog';
import type { ConsoleConfig, SsoConfig } from '@model-gateway/config';
import { type Attempts, MemoryAttempts } from '@model-gateway/distributed-state';
import { upstreamProtocols } from '@model-gateway/protocols';
import type { Keyring } from '@model-gateway/secrets';
import { createMinter, type Service } from '@model-gateway/service-runtime';
import { guardStorage, type Storage } from '@model-gateway/storage';
import type { Logger, Metrics } from '@model-gateway/telemetry';
import type { Outbound } from '@model-gateway/upstream-client';
import { type AlertWatch, createAlerts } from './alerts/alerts.ts';
import { bannedAddress } from './alerts/conditions.ts';
import { accessKeyRoutes } from './api/access-key-routes.ts';
import { alertRoutes } from './api/alert-routes.ts';
import { attemptRoutes } from './api/attempt-routes.ts';
import { auditRoutes } from './api/audit-routes.ts';
import { batchRoutes } from './api/batch-routes.ts';
import { bodyRoutes } from './api/body-routes.ts';
import { budgetRoutes } from './api/budget-routes.ts';
import { deadLetterRoutes } from './api/dead-letter-routes.ts';
import { findRoutes } from './api/find-routes.ts';
import { healthRoutes } from './api/health-routes.ts';
import { historyRoutes } from './api/history-routes.ts';
import { keyLookupRoutes } from './api/key-lookup-routes.ts';
import { keyUseRoutes } from './api/key-use-routes.ts';
import { limitRoutes } from './api/limit-routes.ts';
import { logRoutes } from './api/log-routes.ts';
import { mcpRoutes } from './api/mcp-routes.ts';
import { memberRoutes } from './api/member-routes.ts';
import { metaRoutes } from './api/meta-routes.ts';
import { modelTestRoutes } from './api/model-test-routes.ts';
import { oidcRoutes } from './api/oidc-routes.ts';
import { pinRoutes } from './api/pin-routes.ts';
import { probeRoutes } from './api/probe-routes.ts';
import { resourceRoutes } from './api/resource-routes.ts';
import { type Route, withTextForm } from './api/route.ts';
import { routingRoutes } from './api/routing-routes.ts';
import { ruleRoutes } from './api/rule-routes.ts';
import { scriptRoutes } from './api/script-routes.ts';
import { searchConfigRoutes } from './api/search-config-routes.ts';
import { sessionRoutes } from './api/session-routes.ts';
import { signInRoutes } from './api/sign-in-routes.ts';
import { spendRoutes } from './api/spend-routes.ts';
import { ssoLoginRoutes } from './api/sso-login-routes.ts';
import { ssoRoutes } from './api/sso-routes.ts';
import { statsRoutes } from './api/stats-routes.ts';
import { taskRoutes } from './api/task-routes.ts';
import { transferRoutes } from './api/transfer-routes.ts';
import { turnRoutes } from './api/turn-routes.ts';
import { userRoutes } from './api/user-routes.ts';
import { createAudit } from './audit/audit.ts';
import type { ConsoleContext, UpstreamProtocol } from './context.ts';
import { createHealthBook } from './health/health-book.ts';
import { createApp } from './http/app.ts';
import { BusConnection } from './http/bus-connection.ts';
import { createLiveLog } from './live-log/live-log.ts';
import { accessKeys } from './resources/access-keys.ts';
import { alertChannels } from './resources/alert-channels.ts';
import { keyGroups } from './resources/key-groups.ts';
import { loadBalancers } from './resources/load-balancers.ts';
import { mcpServers } from './resources/mcp-servers.ts';
import { models } from './resources/models.ts';
import { createOperations } from './resources/operations.ts';
import { pricing } from './resources/pricing.ts';
import { searchConfig } from './resources/search-config.ts';
import { searchProviders } from './resources/search-providers.ts';
import { upstreams } from './resources/upstreams.ts';
import { serveMcpSecrets } from './secrets/serve-mcp-secrets.ts';
import { firstUserName, prepareFirstUser } from './sign-in/first-user.ts';
import { createOidc } from './sign-in/oidc.ts';
import type { OidcConfig } from './sign-in/oidc-identity.ts';
import { createSignIn, type SignIn } from './sign-in/sign-in.ts';
import { createSso } from './sso/sso.ts';

/** What the console service is built from. */
export interface ConsoleDeps {
  bus: Bus;
  storage: Storage;
  keyring: Keyring;
  outbound: Outbound;
  config: ConsoleConfig;
  /** Which kinds of logins at vendors are enabled. */
  sso: SsoConfig;
  logger: Logger;
  metrics?: Metrics;
  /** Folder of the built web application; null: the API alone. */
  webRoot?: string | null;
  /** What upstreams may speak. Default: the registry's list. */
  protocols?: readonly UpstreamProtocol[];
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** Where failed sign-ins are counted. Default: this process. */
  attempts?: Attempts;
  /** Called once, when the first start generated a password for the first user. */
  announcePassword?: (username: string, password: string) => void;
  /** Waits so many ms: how sign-ins are slowed. */
  sleep?: (ms: number) => Promise<void>;
}

/** The console service; `handle` serves one HTTP exchange, for tests also without a bus. */
export interface Console extends Service {
  /** The API as a plain request handler. */
  handle: RequestListener;
}

/** Exchanges under way when the console stops may end in this time. */
const graceMs = 5_000;
const firstUserRetryMs = 2_000;

/** Stopping leaves the storage open: who opened it closes it. */
export function createConsole({
  bus,
  storage,
  keyring,
  outbound,
  config,
  sso: ssoConfig,
  logger,
  metrics,
  webRoot = null,
  protocols = upstreamProtocols,
  now = Date.now,
  attempts = new MemoryAttempts({ now }),
  announcePassword,
  sleep,
}: ConsoleDeps): Console {
  const gatherer = createGatherer(bus);
  const mintId = createMinter();
  const audit = createAudit({ bus, logs: storage.audit, logger, mintId, metrics, now });
  const sso = createSso({ bus, storage, keyring, outbound, audit, logger, config: ssoConfig, now });
  const context: ConsoleContext = {
    bus,
    gatherer,
    storage,
    keyring,
    outbound,
    logger,
    protocols,
    mintId,
    audit,
    sso,
    health: createHealthBook(storage, now),
    now,
  };
  const { secretKey } = config;
  const alerts = createAlerts(context);
  const onBan = (address: string) => void alerts.notify(bannedAddress(address, config.banMs));
  const signIn = createSignIn({ bus, store: storage.console, attempts, audit, config, logger, now, onBan, sleep });
  const { sessions, guard: attemptGuard } = signIn;
  const liveLog = createLiveLog(bus);
  const routes = allRoutes({ context, attempts, alerts, liveLog, signIn, oidc: config.oidc, now });
  const handle = createApp([...routes, ...metaRoutes(routes)], { webRoot, secretKey, sessions, guard: attemptGuard }, context);
  const server = createQuietServer(handle);
  const source = createCatalogSource({ storage, bus, logger });
  let mcpSecrets: Disposable | undefined;
  const guard = guardStorage({ storage, logger });
  let served: Disposable | undefined;
  let stopping = false;

  const prepareUser = async (): Promise<void> => {
    const announce = (password: string) => announcePassword?.(firstUserName, password);
    try {
      await prepareFirstUser(signIn, { password: config.password, hasSecretKey: secretKey !== null, announce });
    } catch (error) {
      logger.warn({ error }, 'the first console user could not be made yet');
      if (!stopping) setTimeout(() => void prepareUser(), firstUserRetryMs).unref();
    }
  };

  return {
    name: 'console',
    handle,
    async start() {
      await guard.start();
      // Waited for where the database is there, so that who starts the gateway may sign in when it says that it is ready.
      if (guard.up) await prepareUser();
      else guard.whenMigrated(() => void prepareUser());
      sessions.start();
      // The catalog is served once there is one; services that ask earlier go on asking.
      guard.whenMigrated(() => {
        if (stopping) return;
        source.start();
        mcpSecrets = serveMcpSecrets(context);
        sso.start();
        alerts.start();
      });
      served = serveConnections(bus, server);
    },
    async stop() {
      stopping = true;
      await liveLog.stop();
      await served?.dispose();
      await gatherer.dispose();
      await mcpSecrets?.dispose();
      await sso.stop();
      await alerts.stop();
      await source.stop();
      await sessions.stop();
      guard.stop();
    },
    health() {
      const reasons = [...(bus.connected ? [] : ['bus']), ...(guard.up ? [] : ['storage']), ...(stopping ? ['draining'] : [])];
      return { ready: reasons.length === 0, reasons };
    },
  };
}

/** Exchanges that arrive over the bus. Disposing waits for them, not longer than their grace. */
function serveConnections(bus: Bus, server: Server): Disposable {
  const connections = new Set<BusConnection>();
  const served = bus.serve({
    open: {
      'console.http': ({ remoteAddress }, _body, stream) => {
        const connection = new BusConnection(stream, remoteAddress);
        connections.add(connection);
        connection.once('close', () => connections.delete(connection));
        server.emit('connection', connection);
      },
    },
  });
  return {
    async dispose() {
      const giveUp = setTimeout(() => {
        for (const connection of connections) connection.destroy();
      }, graceMs);
      await served.dispose();
      clearTimeout(giveUp);
    },
  };
}

/** What routes need beside the context. */
interface RouteParts {
  context: ConsoleContext;
  attempts: Attempts;
  alerts: AlertWatch;
  liveLog: ReturnType<typeof createLiveLog>;
  signIn: SignIn;
  oidc: OidcConfig;
  now: () => number;
}

const allRoutes = ({ context, attempts, alerts, liveLog, signIn, oidc, now }: RouteParts): Route[] =>
  [
    ...createRoutes(context, now),
    ...keyLookupRoutes(context, attempts),
    ...alertRoutes(context, alerts),
    ...bodyRoutes(context),
    ...turnRoutes(context),
    ...taskRoutes(context),
    ...logRoutes(context, now, liveLog),
    ...createSignInRoutes(signIn, oidc, context),
  ].flatMap(withTextForm);

function createRoutes(context: ConsoleContext, now: () => number): Route[] {
  const accessKeyOperations = createOperations(accessKeys, context);
  const searchConfigOperations = createOperations(searchConfig, context);
  const upstreamOperations = createOperations(upstreams, context);
  const resources = [
    upstreamOperations,
    createOperations(models, context),
    createOperations(loadBalancers, context),
    createOperations(pricing, context),
    createOperations(mcpServers, context),
    createOperations(searchProviders, context),
    createOperations(alertChannels, context),
    createOperations(keyGroups, context),
    accessKeyOperations,
  ];
  return [
    ...resources.flatMap((resource) => resourceRoutes(resource, context)),
    ...searchConfigRoutes(searchConfigOperations, context),
    ...accessKeyRoutes(accessKeyOperations, context),
    ...keyUseRoutes(context),
    ...memberRoutes(accessKeyOperations, context),
    ...mcpRoutes(context),
    ...ssoLoginRoutes(upstreamOperations, context),
    ...ssoRoutes(upstreamOperations, context),
    ...pinRoutes(context),
    ...probeRoutes(context),
    ...scriptRoutes(context),
    ...routingRoutes(context, now),
    ...modelTestRoutes(context),
    ...ruleRoutes(context),
    ...limitRoutes(context),
    ...statsRoutes(context, now),
    ...attemptRoutes(context, now),
    ...budgetRoutes(context),
    ...spendRoutes(context),
    ...findRoutes(context),
    ...healthRoutes(context),
    ...transferRoutes([...resources, searchConfigOperations], context),
    ...batchRoutes([...resources, searchConfigOperations], context),
    ...deadLetterRoutes(context),
    ...historyRoutes(context),
    ...auditRoutes(context, now),
  ];
}

function createSignInRoutes(signIn: SignIn, settings: OidcConfig, { keyring, logger }: ConsoleContext): Route[] {
  const oidc = createOidc(settings, keyring, signIn.now);
  return [
    ...signInRoutes(signIn, { label: oidc?.label ?? null }),
    ...sessionRoutes(signIn),
    ...userRoutes(signIn),
    ...(oidc ? oidcRoutes(signIn, { oidc, settings, logger }) : []),
  ];
}

/** Never listens. An opener that has sent its whole request says so by ending its half: that must not cut off the answer. */
function createQuietServer(handle: RequestListener): Server {
  const server = createServer(handle) as Server & { httpAllowHalfOpen: boolean };
  server.httpAllowHalfOpen = true;
  return server;
}
