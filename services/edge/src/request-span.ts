/** The edge's span of a request that is traced: begun when its caller is known, ended with its row. */
import type { RequestRow } from '@model-gateway/contracts';
import { endServed, type Span, type Tracer } from '@model-gateway/telemetry';
import type { Principal } from './admission/credentials.ts';
import type { ClientExchange } from './client-exchange.ts';
import type { ClientRouteMatch } from './http/client-routes.ts';

/** Lists are no calls: they leave no row either. */
const untraced: ReadonlySet<string> = new Set(['list-models', 'get-model']);

/** undefined: it is not traced. Only who has a key decides by his `traceparent`: others could fill a collector. */
export function beginSpan(exchange: ClientExchange, { route, match }: ClientRouteMatch, { key, group }: Principal, tracer: Tracer): Span | undefined {
  if (untraced.has(match.operation)) return undefined;
  const given = exchange.request.headers['traceparent'];
  return tracer.enter(typeof given === 'string' ? given : undefined, () => {
    const method = exchange.request.method ?? 'POST';
    const path = route.path.endsWith('/') ? `${route.path}{model}` : route.path;
    return {
      name: `${method} ${path}`,
      role: 'server',
      at: performance.now() - exchange.elapsedMs(),
      attributes: {
        'http.request.method': method,
        'http.route': path,
        'gateway.request_id': exchange.id,
        'gateway.client_request_id': exchange.clientRequestId,
        'gateway.client_protocol': exchange.protocol.id,
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
