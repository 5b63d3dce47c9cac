/** The internal HTTP server of each process: liveness, readiness and metrics. Must not be exposed to the public. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';
import type { Health } from './service.ts';

/** Address of the probe server, and the sources of its answers. */
export interface ProbeServerOptions {
  /** 0 asks for any free port. */
  port: number;
  host: string;
  health(): Health;
  metrics: { text(): Promise<string> };
}

/** A listening HTTP server for `/healthz`, `/readyz` and `/metrics`. */
export interface ProbeServer {
  /** Resolves with the port in use; rejects with a ListenError. */
  start(): Promise<number>;
  stop(): Promise<void>;
}

/** What `/readyz` says, on whichever port it is asked. */
export function describeReadiness({ ready, reasons, notes }: Health): { status: 200 | 503; body: object } {
  return { status: ready ? 200 : 503, body: { status: ready ? 'ready' : 'not ready', ready, reasons, notes } };
}

type Answer = { status: number; type: string; body: string };
const json = (status: number, body: unknown): Answer => ({ status, type: 'application/json', body: JSON.stringify(body) });

/** Creates the server; nothing listens before `start`. */
export function createProbeServer({ port, host, health, metrics }: ProbeServerOptions): ProbeServer {
  const pages: Record<string, () => Answer | Promise<Answer>> = {
    '/healthz': () => json(200, { status: 'ok' }),
    '/readyz': () => {
      const { status, body } = describeReadiness(health());
      return json(status, body);
    },
    '/metrics': async () => ({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: await metrics.text() }),
  };

  async function answer(request: IncomingMessage): Promise<Answer> {
    const path = (request.url ?? '/').split('?', 1)[0] as string;
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) return json(404, { error: { code: 'not_found', message: 'Not found.' } });
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return json(405, { error: { code: 'method_not_allowed', message: 'This method is not allowed here.' } });
    return page();
  }

  function write(response: ServerResponse, { status, type, body }: Answer): void {
    response.writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      ...(status === 405 && { allow: 'GET, HEAD' }),
    });
    response.end(response.req.method === 'HEAD' ? undefined : body);
  }

  const server = createServer({ headersTimeout: 5000, requestTimeout: 5000, maxHeaderSize: 8192 }, (request, response) => {
    request.resume();
    answer(request).then(
      (page) => write(response, page),
      () => write(response, json(500, { error: { code: 'internal', message: 'Internal error.' } })),
    );
  });

  return {
    start: () => listen(server, { port, host, setting: 'PROMETHEUS_PORT' }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
