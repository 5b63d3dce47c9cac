/** The Express application: headers, credential, body, routes, errors, in this order. */
import express, { type Express, type Request, type Response } from 'express';
import { type Route, toExpressPath } from '../api/route.ts';
import { Problem } from '../problem.ts';
import type { Room } from '../room.ts';
import { answerError } from './answer-error.ts';
import { requireBearer } from './bearer.ts';
import { readBody } from './body.ts';
import { setSecurityHeaders } from './security-headers.ts';
import { webApp } from './web-app.ts';

export function createApp(routes: readonly Route[], { secretKey, webRoot }: { secretKey: string | null; webRoot: string | null }, room: Room): Express {
  const app = express();
  app.disable('x-powered-by');
  // Tags are revisions of rows; a hash of the bytes would be taken for one.
  app.disable('etag');
  app.enable('case sensitive routing');
  app.use(setSecurityHeaders);
  app.use(webApp(webRoot));
  // Everything else needs a credential, also what does not exist.
  app.use(requireBearer(secretKey));
  for (const route of routes)
    app[route.method](toExpressPath(route.path), ...readBody({ yaml: route.yaml ?? false }), (request, response) => route.handle(request, response));
  refuseOtherMethods(app, routes);
  app.use(() => {
    throw new Problem('not_found');
  });
  app.use(answerError(room));
  return app;
}

function refuseOtherMethods(app: Express, routes: readonly Route[]): void {
  const allowed = new Map<string, Set<string>>();
  for (const { path, method } of routes) {
    const methods = allowed.get(path) ?? new Set();
    methods.add(method.toUpperCase());
    if (method === 'get') methods.add('HEAD');
    allowed.set(path, methods);
  }
  for (const [path, methods] of allowed) {
    app.all(toExpressPath(path), (_request: Request, response: Response) => {
      response.set('Allow', [...methods].join(', '));
      throw new Problem('method_not_allowed');
    });
  }
}
