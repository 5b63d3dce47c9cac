/** The request listener: calls of models go their short way at once, everything else through Express. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { GatewayError } from '@model-gateway/contracts/errors';
import { call } from '../call.ts';
import { ClientExchange } from '../client-exchange.ts';
import type { EdgeContext } from '../context.ts';
import { handleMcp, isMcpPath } from '../mcp/mcp-exchange.ts';
import { mintKey, shortLivedKeysAt } from '../realtime/mint-key.ts';
import { notASocket, realtimeAt } from '../realtime/open-session.ts';
import { azureSessionPath, readAzurePath } from './azure-path.ts';
import { type ClientProtocol, findClientRoute, type Headers } from './client-routes.ts';
import { answerPreflight, letPagesRead, preflightOf } from './cross-origin.ts';
import { originForm, refusalOfHead, singleSlash } from './request-target.ts';
import { notServed, unknownPath, wrongBase } from './unknown-path.ts';

/** Paths under these belong to callers of models; the rest goes to the service routes. */
const dataPlane = /^\/(?:(?:upload\/)?v\d+[a-z]*|openai|rerank|api\/v1\/(?:services|tasks)|ws|api-ws)(?:\/|$)/;

/** Shared: what is taken out of a query is not in this one. */
const noQuery = new URLSearchParams();

export function createListener(context: EdgeContext, serviceRoutes: RequestListener): RequestListener {
  /** No call was meant, so no row is left. */
  const refuse = (request: IncomingMessage, response: ServerResponse, protocol: ClientProtocol, error: GatewayError): void =>
    new ClientExchange(request, response, { protocol }, context).writeError(error);
  return (request, response) => {
    const target = originForm(request);
    const cut = target.indexOf('?');
    const path = singleSlash(cut < 0 ? target : target.slice(0, cut));
    if (isMcpPath(path)) return void handleMcp(request, response, context);
    const method = request.method ?? 'GET';
    const headers = request.headers as Headers;
    const asked = preflightOf(request);
    const isCall = dataPlane.test(path);
    const wrong = isCall ? undefined : wrongBase(asked ?? method, path, headers);
    if (!isCall && !wrong) return serviceRoutes(request, response);
    letPagesRead(request, response);
    const refusal = refusalOfHead(request);
    if (refusal) return refuse(request, response, wrong?.protocol ?? findRouteOf(path), refusal);
    if (asked !== undefined) return answerPreflight(response);
    if (wrong) return refuse(request, response, wrong.protocol, wrong.error);
    if (path.length > 4096) return refuse(request, response, findRouteOf(path), new GatewayError('not_found'));
    const query = cut < 0 ? noQuery : new URLSearchParams(target.slice(cut + 1));
    const answer = findClientRoute(method, path, query, headers);
    const keys = shortLivedKeysAt(path);
    if (keys) return void mintKey(request, response, keys, context);
    if ('found' in answer) return void call({ request, response, found: answer.found, query }, context);
    const unserved = notServed(answer.protocol, readAzurePath(path, query)?.path ?? path);
    if (realtimeAt(azureSessionPath(path)) && (method !== 'POST' || unserved === undefined)) return refuse(request, response, answer.protocol, notASocket());
    if ('methods' in answer)
      return refuse(request, response, answer.protocol, new GatewayError('method_not_allowed', { headers: { allow: answer.methods.join(', ') } }));
    const { protocol, error } = wrongBase(method, path, headers) ?? { protocol: answer.protocol, error: unknownPath(path, unserved) };
    refuse(request, response, protocol, error);
  };
}

const findRouteOf = (path: string): ClientProtocol => {
  const answer = findClientRoute('GET', path.slice(0, 64), new URLSearchParams(), {});
  return 'found' in answer ? answer.found.protocol : answer.protocol;
};
