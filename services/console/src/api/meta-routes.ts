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
      handle: (_request, response) => void response.type('json').send(document()),
    },
  ];
  let printed: string | undefined;
  /** Printed when it is first asked for: that takes as long as much of the start of a process, and most are never asked. */
  const document = () => (printed ??= JSON.stringify(openApiDocument([...others, ...own])));
  return own;
}
