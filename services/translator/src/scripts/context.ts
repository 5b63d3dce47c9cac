/** What a script may know of the request: the specification's fields, without any credential. */

import { isCredentialCarrier } from '@model-gateway/body-rules';
import type { ScriptContext } from '@model-gateway/contracts';
import type { Route } from '@model-gateway/routing';
import type { RequestContext } from '../request/context.ts';

export function scriptContext({ job }: RequestContext, route: Route): ScriptContext {
  return {
    clientModel: job.requestedModel,
    upstreamModel: route.target.upstreamModelId,
    upstreamName: route.upstream.name,
    sourceProtocol: job.clientProtocol,
    targetProtocol: route.protocol,
    stream: job.stream,
    headers: shown(job.headers),
    query: queryOf(job.query),
    requestId: job.clientRequestId ?? job.id,
    clientIp: job.clientIp ?? '',
    accessKeyName: job.accessKey,
    accessKeyGroup: job.keyGroup,
  };
}

/** Status and headers of the upstream's reply, for response scripts. */
export interface UpstreamAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
}

export const responseContext = (request: RequestContext, route: Route, { status, headers }: UpstreamAnswer): ScriptContext => ({
  ...scriptContext(request, route),
  responseStatus: status,
  responseHeaders: shown(headers),
  elapsedMs: request.clock.elapsedMs(),
});

const shown = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !isCredentialCarrier(name) && name !== 'set-cookie'));

/** The first of repeated names. The edge has taken the credential out already; a second look costs nothing. */
function queryOf(query: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === 'key' || Object.hasOwn(out, name)) continue;
    Object.defineProperty(out, name, { value, writable: true, enumerable: true, configurable: true });
  }
  return out;
}
