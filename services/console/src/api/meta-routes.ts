/** Who is asking, and the document of this API. */
import { openApiDocument } from './openapi.ts';
import { base, type Route } from './route.ts';

export function metaRoutes(others: readonly Route[]): Route[] {
  const own: Route[] = [
    {
      method: 'get',
      path: `${base}/me`,
      operationId: 'read_me',
      summary: 'Who the credential stands for',
      tag: 'session',
      status: 200,
      handle: (_request, response) => void response.json(response.locals['actor']),
    },
    {
      method: 'get',
      path: `${base}/openapi.json`,
      operationId: 'read_openapi',
      summary: 'This document',
      tag: 'session',
      status: 200,
      handle: (_request, response) => void response.json(document),
    },
  ];
  const document = openApiDocument([...others, ...own]);
  return own;
}
