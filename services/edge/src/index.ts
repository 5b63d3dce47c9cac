/** The only public listener: authenticates and admits requests, hands them to a translator, and writes replies. */
import type { Server } from 'node:http';
import { type Bus, type Disposable, serveGather } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import { DenseSet } from '@model-gateway/collections';
import type { EdgeConfig } from '@model-gateway/config';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { SharedState } from '@model-gateway/distributed-state';
import type { PriceOf } from '@model-gateway/model-catalog';
import { createMinter, type Health, listen, type Pressure, type Service } from '@model-gateway/service-runtime';
import type { Logger, Metrics, Tracer } from '@model-gateway/telemetry';
import { BudgetLimiter } from './admission/budgets.ts';
import { Capacity } from './admission/capacity.ts';
import { createClientAddress } from './admission/client-address.ts';
import { createLimitsPart } from './admission/limits-part.ts';
import { RateLimits } from './admission/rate-limits.ts';
import { SessionModels } from './admission/session-models.ts';
import { Violations } from './admission/violations.ts';
import { BodyUploader } from './bodies/body-uploader.ts';
import type { AdmissionControl, EdgeContext, OpenConnections, Reporting } from './context.ts';
import { createListener } from './http/listener.ts';
import { BodyBudget } from './http/read-body.ts';
import { createHttpServer, type GatewayServer } from './http/server.ts';
import { createServiceRoutes } from './http/service-routes.ts';
import { createMeters } from './meters.ts';
import { Plans } from './plans.ts';
import { RequestLogPublisher } from './request-log-publisher.ts';
import { KeptStreams } from './resume/kept-streams.ts';
import { acceptSockets } from './socket/upgrade.ts';

/** What the edge is built from. */
export interface EdgeDeps {
  bus: Bus;
  catalog: CatalogWatcher;
  config: EdgeConfig;
  logger: Logger;
  metrics: Metrics;
  /** Where limits are counted. Stopping leaves it open. */
  state: SharedState;
  /** What models cost, for budgets. */
  priceOf: PriceOf;
  /** How near the process is to its end. Stopping leaves it be. */
  pressure: Pressure;
  /** Absent: no request is traced. */
  tracer?: Tracer | undefined;
  /** How the server gets its connections, and the port at which callers make them. Absent: it listens itself. */
  listen?: (server: Server) => Promise<number>;
  /** What the probe says of the process that this edge is a part of. Absent: the edge is all of it. */
  processHealth?: () => Health;
}

/** The edge service, with the port it listens on. */
export interface Edge extends Service {
  /** The port it listens on, once started. */
  readonly port: number;
}

export function createEdge(deps: EdgeDeps): Edge {
  const { bus, catalog, config, logger, metrics, state } = deps;
  const mintId = createMinter();
  const admission: AdmissionControl = {
    clientAddress: createClientAddress(config.trustedProxies),
    capacity: new Capacity(config.maxGlobalConcurrency, config.maxConcurrentStreams, state, deps.pressure),
    rateLimits: new RateLimits(config, state),
    budgets: new BudgetLimiter(deps),
    bodyBudget: new BodyBudget(config.bodyBudgetBytes),
    sessionModels: new SessionModels(),
    violations: new Violations({ bus, logger, mintId }),
  };
  const rows = new RequestLogPublisher(bus, logger);
  const streams = new KeptStreams(config, logger);
  const reporting: Reporting = {
    logger,
    meters: createMeters(metrics, {
      requests: () => admission.capacity.requests.used,
      streams: () => admission.capacity.streams.used,
      bodyBytes: () => admission.bodyBudget.held,
      lostRows: () => rows.lost,
      keptStreams: () => streams.size,
      keptStreamBytes: () => streams.bytes,
    }),
    tracer: deps.tracer,
    rows,
    bodies: new BodyUploader({ bus, logger, metrics, budgetBytes: config.storedBodyBudgetBytes }),
  };
  const connections: OpenConnections = {
    replies: new DenseSet(),
    sockets: new DenseSet(),
    discardLimits: new DenseSet(),
    draining: false,
    pressure: deps.pressure,
  };
  const context: EdgeContext = { bus, catalog, config, plans: new Plans(), mintId, admission, reporting, connections, streams };
  let started = false;
  const health = (): Health => {
    const reasons = [
      ...(started ? [] : ['starting']),
      ...(bus.connected ? [] : ['bus']),
      ...(catalog.ready ? [] : ['catalog']),
      ...(connections.draining ? ['draining'] : []),
    ];
    const notes = [...(state.status().degraded ? ['limits-by-share'] : []), ...(deps.pressure.level >= 2 ? ['overloaded'] : [])];
    return { ready: reasons.length === 0, reasons, ...(notes.length > 0 && { notes }) };
  };
  const server = createHttpServer(config, createListener(context, createServiceRoutes(context, deps.processHealth ?? health)), logger, metrics);
  acceptSockets(server, context);
  const limitsPart = createLimitsPart(admission, state);
  const registrations: Disposable[] = [];
  let port = config.port;
  return {
    name: 'edge',
    get port() {
      return port;
    },
    async start() {
      await Promise.all([catalog.start(), state.start()]);
      registrations.push(
        serveGather(bus, state.holder, { 'edge-limits': limitsPart }),
        streams.serve(bus),
        bus.listen('router.outcome', ({ outcomes }) => context.plans.onOutcomes(outcomes)),
      );
      port = await (deps.listen?.(server) ?? listen(server, { host: config.host, port: config.port, setting: 'PORT' }));
      started = true;
      // Accepting may fail for want of file descriptors: that costs a connection, not the process.
      server.on('error', (error) => logger.error({ error }, 'a connection could not be accepted'));
      logger.info({ host: config.host, port }, 'listening');
    },
    drain() {
      connections.draining = true;
      connections.sockets.forEach((socket) => socket.drain());
    },
    async stop() {
      connections.draining = true;
      await closeServer(server, connections, { drainMs: config.drainMs, finished: () => streams.finished() });
      streams.close();
      admission.violations.close();
      await reporting.bodies.flushed(1000);
      await Promise.all(registrations.map((protocol) => protocol.dispose()));
      admission.capacity.close();
      await catalog.stop();
    },
    health,
  };
}

/**
 * The lame duck is over (`drain` came first, and replies have said `Connection: close` since): no new connections, and what is under way may
 * end. What does not end in time is closed in its own terms.
 */
async function closeServer(
  server: GatewayServer,
  { replies, sockets, discardLimits }: OpenConnections,
  { drainMs, finished }: { drainMs: number; finished: () => Promise<void> },
): Promise<void> {
  // Also what has no connection of its own: it has the same time to end.
  // Connections that were handed over are not counted by Node.
  const closed = Promise.all([new Promise<void>((resolve) => server.close(() => resolve())), server.connectionsEnded(), finished()]);
  server.closeIdleConnections();
  replies.forEach((reply) => reply.drain?.());
  sockets.forEach((socket) => socket.drain());
  // A request that is on its way in still gets its answer, and who was refused may read it.
  const tidying = setInterval(
    () => {
      server.closeSilentConnections();
      discardLimits.forEach((one) => one.leave());
      replies.forEach((reply) => reply.drain?.());
      sockets.forEach((socket) => socket.drain());
    },
    Math.min(1000, drainMs),
  );
  const reaper = setInterval(() => server.closeIdleConnections(), 100);
  const late = setTimeout(() => {
    replies.forEach((reply) => reply.interrupt(new GatewayError('draining')));
    server.dismissUnfinished(new GatewayError('draining'));
    setTimeout(() => {
      server.closeAllConnections();
      sockets.forEach((socket) => socket.terminate());
    }, 500);
  }, drainMs);
  await closed;
  clearInterval(reaper);
  clearInterval(tidying);
  clearTimeout(late);
}
