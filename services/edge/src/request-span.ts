/** The edge's span of a request or a realtime session that is traced: begun when its caller is known; a request's ends with its row. */
import type { IncomingMessage } from 'node:http';
import type { RequestRow } from '@model-gateway/contracts';
import { endServed, type Span, type Tracer } from '@model-gateway/telemetry';
import type { Principal } from './admission/credentials.ts';
import type { ClientRouteMatch } from './http/client-routes.ts';

/** Lists, calls on stored turns and the rest of a stream reach no model: they leave no row either. */
const untraced: ReadonlySet<string> = new Set(['list-models', 'get-model', 'turns', 'resume']);

/** A request, as its span describes it. */
interface TracedRequest {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly clientRequestId: string | null;
  readonly protocol: { readonly id: string };
  elapsedMs(): number;
}

/** undefined: it is not traced. Only who has a key decides by his `traceparent`: others could fill a collector. */
export function beginSpan(traced: TracedRequest, { route, match }: ClientRouteMatch, principal: Principal, tracer: Tracer): Span | undefined {
  if (untraced.has(match.operation)) return undefined;
  const path = route.path.endsWith('/') ? `${route.path}{model}` : route.path;
  return enter(traced, { path, operation: match.operation }, principal, tracer);
}

/** As `beginSpan`; it lasts as long as the session. */
export const beginSessionSpan = (traced: TracedRequest, path: string, principal: Principal, tracer: Tracer): Span | undefined =>
  enter(traced, { path, operation: 'realtime' }, principal, tracer);

function enter(traced: TracedRequest, { path, operation }: { path: string; operation: string }, { key, group }: Principal, tracer: Tracer): Span | undefined {
  const given = traced.request.headers['traceparent'];
  return tracer.enter(typeof given === 'string' ? given : undefined, () => {
    const method = traced.request.method ?? 'POST';
    return {
      name: `${method} ${path}`,
      role: 'server',
      at: performance.now() - traced.elapsedMs(),
      attributes: {
        'http.request.method': method,
        'http.route': path,
        'gateway.request_id': traced.id,
        'gateway.client_request_id': traced.clientRequestId,
        'gateway.client_protocol': traced.protocol.id,
        'gateway.operation': operation,
        'gateway.access_key': key.name,
        'gateway.key_group': group.name,
      },
    };
  });
}

export function endSpan(span: Span, row: RequestRow): void {
  span.set({
    'http.response.status_code': row.status,
    'http.request.body.size': row.request_bytes,
    'http.response.body.size': row.response_bytes,
    'gen_ai.request.model': row.requested_model,
    'gen_ai.conversation.id': row.session_id,
    'gateway.model': row.model,
    'gateway.upstream': row.upstream,
    'gateway.stream': row.stream,
  });
  endServed(span, row);
}
