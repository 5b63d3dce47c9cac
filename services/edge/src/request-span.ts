/** The edge's span of a request that is traced: begun when its caller is known, ended with its row. */
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
export function beginSpan(traced: TracedRequest, { route, match }: ClientRouteMatch, { key, group }: Principal, tracer: Tracer): Span | undefined {
  if (untraced.has(match.operation)) return undefined;
  const given = traced.request.headers['traceparent'];
  return tracer.enter(typeof given === 'string' ? given : undefined, () => {
    const method = traced.request.method ?? 'POST';
    const path = route.path.endsWith('/') ? `${route.path}{model}` : route.path;
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
        'gateway.operation': match.operation,
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
