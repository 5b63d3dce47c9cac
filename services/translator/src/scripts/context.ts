/** What a script may know of the request: the specification's fields, without any credential. */

import { headersForScripts, queryForScripts } from '@model-gateway/body-rules';
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
    headers: headersForScripts(job.headers),
    // The edge has taken the credential out already; a second look costs nothing.
    query: queryForScripts(new URLSearchParams(job.query)),
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
  responseHeaders: headersForScripts(headers),
  elapsedMs: request.clock.elapsedMs(),
});
