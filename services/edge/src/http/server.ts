/** The listening socket and its limits. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { EdgeConfig } from '@model-gateway/config';
import { opensSocket } from '../socket/upgrade.ts';

export interface GatewayServer extends Server {
  /** Closes connections on which no request came yet (`closeIdleConnections` leaves them). */
  closeSilentConnections(): void;
}

/** Longer than the idle time-out of usual load balancers (60 s), so that they close first. */
const keepAliveMs = 75_000;

export function createHttpServer(config: EdgeConfig, listener: RequestListener): GatewayServer {
  /** Connected, but no request came yet. Node counts these as busy, so they would hold a drain to its end. */
  const silent = new Set<Socket>();
  const server = createServer(
    {
      keepAliveTimeout: keepAliveMs,
      headersTimeout: config.headersTimeoutMs,
      requestTimeout: 300_000,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: config.maxHeaderBytes,
      requireHostHeader: true,
      insecureHTTPParser: false,
      // A caller's large upload must not sit in kernel and user buffers at once.
      highWaterMark: 64 * 1024,
      shouldUpgradeCallback: opensSocket,
    },
    listener,
  );
  server.maxRequestsPerSocket = 0;
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', (request) => silent.delete(request.socket));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const status =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? '431 Request Header Fields Too Large'
        : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
          ? '408 Request Timeout'
          : '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  });
  return Object.assign(server, {
    closeSilentConnections: () => {
      for (const socket of silent) socket.destroy();
    },
  });
}
