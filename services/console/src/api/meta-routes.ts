/** The document of this API. */
import { anyObject } from './answers/common.ts';
import { openApiDocument } from './openapi.ts';
import { base, type Route } from './route.ts';

export function metaRoutes(others: readonly Route[]): Route[] {
  const own: Route[] = [
    {
      method: 'get',
      path: `${base}/openapi.json`,
      operationId: 'read_openapi',
      summary: 'This document',
      tag: 'meta',
      status: 200,
      answer: anyObject,
      handle: (_request, response) => void response.json(document),
    },
  ];
  const document = openApiDocument([...others, ...own]);
  return own;
}
