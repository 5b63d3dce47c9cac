/** The listening socket and its limits. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { EdgeConfig } from '@model-gateway/config';
import type { GatewayError } from '@model-gateway/contracts/errors';
import { descriptorLimit } from '@model-gateway/service-runtime';
import type { Logger, Metrics } from '@model-gateway/telemetry';
import { createProxyTest } from '../admission/client-address.ts';
import { opensSocket } from '../socket/upgrade.ts';
import { answerBroken } from './broken-request.ts';
import { Connections } from './connections.ts';

export interface GatewayServer extends Server {
  /** Closes connections on which no request came yet (`closeIdleConnections` leaves them). */
  closeSilentConnections(): void;
  /** Answers whose request is not here in full with this error. */
  dismissUnfinished(error: GatewayError): void;
  /** Resolves once, when callers have no connection any more. */
  connectionsEnded(): Promise<void>;
}

/** Longer than the idle time-out of usual load balancers (60 s), so that they close first. */
const keepAliveMs = 75_000;

/** More than this many quiet connections would cost more memory than they are worth. */
const defaultMax = 16_384;

export function createHttpServer(config: EdgeConfig, listener: RequestListener, logger: Logger, metrics: Metrics): GatewayServer {
  const server = createServer(
    {
      keepAliveTimeout: keepAliveMs,
      headersTimeout: config.headersTimeoutMs,
      requestTimeout: Math.max(300_000, config.headersTimeoutMs),
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: config.maxHeaderBytes,
      // Refused by the listener, in the caller's shape and with an id.
      requireHostHeader: false,
      insecureHTTPParser: false,
      // A caller's large upload must not sit in kernel and user buffers at once.
      highWaterMark: 64 * 1024,
      shouldUpgradeCallback: opensSocket,
    },
    listener,
  );
  server.maxRequestsPerSocket = 0;
  // Half: each call needs a descriptor of its own towards the upstream, and the rest of the process some.
  const max = config.maxConnections || Math.min(defaultMax, Math.max(1, descriptorLimit() >> 1));
  const connections = new Connections(
    {
      max,
      maxPerAddress: config.maxConnectionsPerAddress || Math.max(1, max >> 1),
      minBodyBytesPerSecond: config.minBodyBytesPerSecond,
      isProxy: createProxyTest(config.trustedProxies),
    },
    logger,
    metrics,
  );
  connections.watch(server);
  // So are expectations that nobody meets.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', answerBroken);
  return Object.assign(server, {
    closeSilentConnections: () => connections.closeSilent(),
    dismissUnfinished: (error: GatewayError) => connections.dismissUnfinished(error),
    connectionsEnded: () => connections.ended(),
  });
}
