/** A request as one route sees it. */
import type { ReadRequest } from '@model-gateway/protocols';
import type { RequestBody } from './body.ts';
import type { RequestContext } from './context.ts';
import type { RequestRecord } from './record.ts';

/** A request as one route sees it: what stays, what is recorded of it, and its body here. */
export interface CurrentRequest {
  readonly request: RequestContext;
  readonly record: RequestRecord;
  /** What the caller sent, or what a script before the translation made of it for this route. */
  readonly body: RequestBody;
}

/** The canonical request; what reading it lost is recorded. */
export function readRequest({ body, record }: Pick<CurrentRequest, 'body' | 'record'>): ReadRequest {
  const read = body.readRequest();
  record.lose(read.losses);
  return read;
}
