/** How a request that is not a conversation, and its answer, get from the caller's protocol to the upstream's and back. */
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Target, UnaryClientCodec, UnaryExchanges, UnaryUpstreamCodec, UpstreamAdapter } from '@model-gateway/protocols';
import type { RequestBody } from './body.ts';
import type { RequestContext } from './context.ts';
import type { CurrentRequest } from './current.ts';
import { UnaryParts } from './unary-parts.ts';

/** Both sides of one operation. What one writes the other reads; nobody else looks into it. */
export interface UnaryCodecs {
  client: UnaryClientCodec<unknown, unknown, unknown>;
  upstream: UnaryUpstreamCodec<unknown, unknown, unknown>;
}

/** Throws for an operation that one of them does not have: a route that does not serve it is not tried. */
export function unaryCodecs({ client, job }: Pick<RequestContext, 'client' | 'job'>, adapter: UpstreamAdapter): UnaryCodecs {
  const operation = job.operation as keyof UnaryExchanges;
  const own = client.unary?.[operation];
  const theirs = adapter.unary?.[operation];
  if (!own || !theirs) throw new GatewayError('internal', { cause: new Error(`no translation of ${job.operation}`) });
  return { client: own as UnaryCodecs['client'], upstream: theirs as UnaryCodecs['upstream'] };
}

/** What the caller asks, out of JSON or a form. */
export function readUnary({ client }: UnaryCodecs, body: RequestBody): ReturnType<UnaryCodecs['client']['readRequest']> {
  if (body.kind !== 'form') return client.readRequest(body.parse());
  if (!client.readForm) throw new GatewayError('unsupported_media_type', { message: 'This upstream is served JSON requests alone.' });
  return client.readForm(body.form());
}

/** The calls that the present attempt needs for the question; made when its first one is prepared. */
export function partsOf({ request, body }: CurrentRequest, codecs: UnaryCodecs, target: Target): UnaryParts {
  request.cache.parts ??= splitOf(readUnary(codecs, body).request, codecs, target);
  return request.cache.parts;
}

function splitOf(asked: unknown, { upstream }: UnaryCodecs, target: Target): UnaryParts {
  const requests = upstream.split?.(asked, target) ?? [];
  return new UnaryParts(requests.length === 0 ? [asked] : requests);
}
