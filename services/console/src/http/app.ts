/** The Express application: headers, credential, body, routes, errors, in this order. */
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import { isPublic, mayUse } from '../api/permissions.ts';
import { type Route, toExpressPath } from '../api/route.ts';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import { actorOf } from '../sign-in/actor.ts';
import { answerError } from './answer-error.ts';
import { type AuthenticateDeps, authenticate } from './authenticate.ts';
import { readBody } from './body.ts';
import { checkQuery } from './query.ts';
import { createBodyReader } from './reading/body-reader.ts';
import { refuseForeignPages } from './refuse-foreign-pages.ts';
import { setSecurityHeaders } from './security-headers.ts';
import { webApp } from './web-app.ts';

export function createApp(
  routes: readonly Route[],
  { webRoot, ...credentials }: { webRoot: string | null } & AuthenticateDeps,
  context: Pick<ConsoleContext, 'logger'>,
): Express {
  const read = createBodyReader();
  const app = express();
  app.disable('x-powered-by');
  // Tags are revisions of rows; a hash of the bytes would be taken for one.
  app.disable('etag');
  app.enable('case sensitive routing');
  app.use(setSecurityHeaders);
  app.use(refuseForeignPages);
  app.use(webApp(webRoot));
  const mount = (route: Route, ...before: RequestHandler[]) =>
    app[route.method](toExpressPath(route.path), ...before, (request: Request, response: Response) => route.handle(request, response));
  for (const route of routes) if (isPublic(route)) mount(route, ...readBody(read, { small: true }));
  // Everything else needs a credential, also what does not exist.
  app.use(authenticate(credentials));
  for (const route of routes) if (!isPublic(route)) mount(route, authorize(route), checkQuery(route), ...readBody(read, route));
  refuseOtherMethods(app, routes);
  app.use(() => {
    throw new Problem('not_found');
  });
  app.use(answerError(context));
  return app;
}

/** Asked of the very route that was matched: nothing reads the path a second time. */
const authorize =
  (route: Route): RequestHandler =>
  (_request, response, next) => {
    if (!mayUse(actorOf(response).role, route)) throw new Problem('forbidden', 'Your role does not allow this.');
    next();
  };

function refuseOtherMethods(app: Express, routes: readonly Route[]): void {
  const allowed = new Map<string, Set<string>>();
  for (const { path, method } of routes) {
    const methods = allowed.get(path) ?? new Set();
    methods.add(method.toUpperCase());
    if (method === 'get') methods.add('HEAD');
    allowed.set(path, methods);
  }
  for (const [path, methods] of allowed) {
    // Not `app.all`, which adds a layer for each of some thirty methods: ten times the work at each start.
    app.route(toExpressPath(path)).all((_request: Request, response: Response) => {
      response.set('Allow', [...methods].join(', '));
      throw new Problem('method_not_allowed');
    });
  }
}
