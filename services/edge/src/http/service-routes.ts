/** Service routes on Express: probes, the warm-up that agents send, and the way to the console. */
import { describeReadiness, type Health } from '@model-gateway/service-runtime';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { bridgeToConsole } from '../console/bridge.ts';
import { refusalOfHead } from './request-target.ts';
import { securityHeaders } from './security-headers.ts';

export function createServiceRoutes(context: Parameters<typeof bridgeToConsole>[0], health: () => Health): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // The console's own answers replace them.
  app.use((_request, response, next) => {
    response.set(securityHeaders);
    next();
  });
  app.use((request, response, next) => {
    const refusal = refusalOfHead(request);
    if (!refusal) return next();
    const { status, code, message, headers } = refusal;
    response
      .status(status)
      .set(headers ?? {})
      .json({ error: { code, message } });
  });
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  app.get('/readyz', (_request, response) => {
    const { status, body } = describeReadiness(health());
    response.status(status).json(body);
  });
  app.all(['/healthz', '/readyz'], (_request, response) => {
    response.setHeader('allow', 'GET, HEAD');
    response.status(405).json({ error: { code: 'method_not_allowed', message: 'This method is not allowed here.' } });
  });
  // Agents warm up their connection with these; a 404 would only flood logs.
  app.head(['/', '/api/hello'], (_request, response) => void response.status(200).end());
  app.get('/', (_request, response) => void response.writeHead(302, { location: '/console', 'content-length': 0 }).end());
  const toConsole = bridgeToConsole(context);
  app.use(['/console', '/access-keys'], (request, response) => toConsole(request, response));
  app.use((_request: Request, response: Response) => void response.status(404).json({ error: { code: 'not_found', message: 'Not found.' } }));
  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) return next(error);
    const status = typeof error === 'object' && error !== null && 'status' in error && typeof error.status === 'number' ? error.status : 500;
    if (status >= 500) context.reporting.logger.error({ error }, 'defect in a service route');
    response
      .status(status)
      .json({ error: { code: status >= 500 ? 'internal' : 'invalid_request', message: status >= 500 ? 'Internal error.' : 'The request is not valid.' } });
  });
  return app;
}
