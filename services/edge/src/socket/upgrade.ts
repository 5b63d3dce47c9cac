/** WebSocket handshakes: which paths accept them, who may open one, and the answer to a refused one. */
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Snapshot } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { headersAllowed } from '@model-gateway/routing/header-rules';
import { isAccessKeyFormat } from '@model-gateway/secrets';
import { WebSocketServer } from 'ws';
import { authenticate, credentialsOf, type Principal } from '../admission/credentials.ts';
import { presentCaller } from '../admission/present-caller.ts';
import type { EdgeContext } from '../context.ts';
import { azureSessionPath } from '../http/azure-path.ts';
import { type ClientRouteMatch, findClientRoute, type Headers, protocolOfPrefix } from '../http/client-routes.ts';
import { sayLast } from '../http/close-with-message.ts';
import { BodyBudget } from '../http/read-body.ts';
import { headerLines, idHeaders, newRequestIds } from '../http/request-ids.ts';
import { isAmbiguous, originForm, singleSlash } from '../http/request-target.ts';
import { RealtimeListener, realtimeAt, type SessionCaller } from '../realtime/open-session.ts';
import { presentParent, principalOf, ShortLivedKeyChecks } from '../realtime/short-lived-keys.ts';
import { acceptHandshake, type Opening } from './accept-handshake.ts';
import { type TurnHeaders, turnHeaders } from './turn-request.ts';
import { TurnSocket } from './turn-socket.ts';

/** Browsers cannot set headers: they offer the key as one of their subprotocols. It is never echoed. */
const keyProtocol = 'openai-insecure-api-key.';
/** Sent to clients that ask for another version (RFC 6455 §4.2.2). */
const versions = { 'sec-websocket-version': '13, 8' };
/** How often open connections are checked for a key that was revoked meanwhile. */
const accessCheckMs = 1000;
/** What a connection may remember of its last turn. */
const maxRemembered = 16 * 1024 * 1024;
/** What all connections may remember, of what request bodies may hold: the bodies must not go short of it. */
const rememberedShare = 1 / 4;

const offered = (request: IncomingMessage): string[] => (request.headers['sec-websocket-protocol'] ?? '').split(',', 16).map((name) => name.trim());

function findSocketRoute(request: IncomingMessage): ClientRouteMatch | null {
  const [path = '/', query] = originForm(request).split('?', 2);
  if (path.length > 4096) return null;
  const answer = findClientRoute('POST', path, new URLSearchParams(query), request.headers as Headers);
  return 'found' in answer && answer.found.route.socket ? answer.found : null;
}

const queryOf = (request: IncomingMessage): URLSearchParams => new URLSearchParams(request.url?.split('?', 2)[1]);
const pathOf = (request: IncomingMessage): string => azureSessionPath(singleSlash(originForm(request).split('?', 1)[0] ?? '/'));
const realtimeOf = (request: IncomingMessage) => realtimeAt(pathOf(request));

/** Whether a request opens a WebSocket here. Every other wish to upgrade (h2c) is ignored, as HTTP allows, and answered as the request it is. */
export const opensSocket = (request: IncomingMessage): boolean =>
  request.method === 'GET' &&
  request.headers.upgrade?.toLowerCase() === 'websocket' &&
  (realtimeOf(request) !== undefined || findSocketRoute(request) !== null);

export function acceptSockets(server: Server, context: EdgeContext): void {
  const memory = new BodyBudget(Math.floor(context.config.bodyBudgetBytes * rememberedShare));
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: context.config.maxBodyBytes,
    perMessageDeflate: false,
    handleProtocols: (names) => [...names].find((name) => !name.startsWith('openai-')) ?? false,
  });
  const shortLivedKeys = new ShortLivedKeyChecks(context.bus);
  const realtime = new RealtimeListener(context, { admit: (request) => admitSessionCaller(request, shortLivedKeys, context), refuse });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Until the handshake is done nobody else listens, and an unheard error would end the process.
    socket.on('error', () => socket.destroy());
    const path = realtimeOf(request);
    if (path) return void realtime.open({ request, socket, head }, path);
    const match = findSocketRoute(request);
    if (!match) return refuse(socket, request, new GatewayError('not_found'));
    admit(request, context)
      .then(({ principal }) => accept({ request, socket, head, match, principal }))
      .catch((error: unknown) => {
        const refusal = toGatewayError(error);
        if (refusal.code === 'internal') context.reporting.logger.error({ error }, 'defect in a handshake');
        refuse(socket, request, refusal);
      });
  });
  const checks = setInterval(() => context.connections.sockets.forEach((one) => one.checkAccess()), accessCheckMs).unref();
  server.on('close', () => clearInterval(checks));
  // What the library finds no handshake in.
  sockets.on('wsClientError', (error: Error, socket: Duplex, request: IncomingMessage) =>
    refuse(socket, request, new GatewayError('invalid_request', { message: `This is not a WebSocket handshake: ${error.message}.`, headers: versions })),
  );

  function accept({ match, principal, ...opening }: Handshake): void {
    const { request } = opening;
    const headers = headersWithKey(request);
    acceptHandshake(sockets, opening, { ids: newRequestIds(request), client: match.protocol.client }, (accepted) => {
      const session = match.protocol.client.createSocketSession?.({
        headers: request.headers as Readonly<Record<string, string | undefined>>,
        mintId: context.mintId,
        now: Date.now,
        maxBytes: maxRemembered,
        memory,
        storesTurns: true,
      });
      const present = presentCaller(principal, context, (snapshot) => checkCaller(request, headers, snapshot));
      const caller = { upgrade: request, headers, match, presentCaller: present };
      if (session) new TurnSocket(accepted, caller, session, context);
      else accepted.close();
    });
  }
}

/** A handshake whose caller is let in. */
interface Handshake extends Opening {
  readonly match: ClientRouteMatch;
  readonly principal: Principal;
}

/** The caller's headers, with a key that came as a subprotocol among them. */
function headersWithKey(request: IncomingMessage): TurnHeaders {
  const keys = new Set(offered(request).filter((name) => name.startsWith(keyProtocol)));
  if (keys.size > 1) throw new GatewayError('unauthorized', { message: 'Two different access keys were sent.' });
  const [offer] = keys;
  if (offer === undefined) return turnHeaders(request, null);
  const key = offer.slice(keyProtocol.length);
  // A token in a header may be meant for somebody else; an access key there is meant for us, and has to be this one.
  const others = credentialsOf(request, queryOf(request)).filter((other) => other !== key);
  if (others.some(isAccessKeyFormat)) throw new GatewayError('unauthorized', { message: 'Two different access keys were sent.' });
  return turnHeaders(request, key);
}

/** Who calls is asked again for each turn; here it only keeps strangers from holding connections. */
async function admit(request: IncomingMessage, context: EdgeContext): Promise<{ snapshot: Snapshot; principal: Principal }> {
  const snapshot = await admitConnection(request, context);
  return { snapshot, principal: checkCaller(request, headersWithKey(request), snapshot) };
}

/** The same, by an access key or a short-lived one. */
async function admitSessionCaller(request: IncomingMessage, keys: ShortLivedKeyChecks, context: EdgeContext): Promise<SessionCaller> {
  const snapshot = await admitConnection(request, context);
  const given = headersWithKey(request);
  const shortLived = await keys.find(asRequest(given), queryOf(request));
  const principal = shortLived ? principalOf(shortLived, given.headers, snapshot) : checkCaller(request, given, snapshot);
  const find = (now: Snapshot): Principal => (shortLived ? presentParent(principal, given.headers, now) : checkCaller(request, given, now));
  return { snapshot, principal, shortLived, presentCaller: presentCaller(principal, context, find) };
}

/** Throws for a connection that no caller would get. */
async function admitConnection(request: IncomingMessage, context: EdgeContext): Promise<Snapshot> {
  if (isAmbiguous(request)) throw new GatewayError('invalid_request');
  await context.admission.rateLimits.admitAddress(context.admission.clientAddress(request));
  const snapshot = context.catalog.current();
  if (!snapshot) throw new GatewayError('not_ready');
  if (context.connections.draining) throw new GatewayError('draining');
  if (context.connections.sockets.size >= context.config.maxGlobalConcurrency) throw new GatewayError('overloaded');
  return snapshot;
}

const asRequest = ({ headers, raw }: TurnHeaders): IncomingMessage => ({ headers, rawHeaders: raw }) as unknown as IncomingMessage;

/** Throws for a caller whose key or headers the snapshot refuses. */
function checkCaller(request: IncomingMessage, given: TurnHeaders, snapshot: Snapshot): Principal {
  const principal = authenticate(asRequest(given), queryOf(request), snapshot, Date.now());
  if (!headersAllowed(principal.group.header_acl, given.headers)) throw new GatewayError('header_denied');
  return principal;
}

/** `ids`: of what left a row. */
function refuse(socket: Duplex, request: IncomingMessage, error: GatewayError, ids = newRequestIds(request)): void {
  const { status, code, message, headers = {}, retryAfter, param } = error;
  const { client } = protocolOfPrefix(pathOf(request));
  const drawn = client.writeError({ status, code, message, requestId: ids.id, ...(param !== undefined && { param }) });
  // A limit of the key has a text of its own.
  const body = code === 'rate_limited' && error.body !== undefined ? error.body : drawn.body;
  const all = { 'content-type': 'application/json', ...headers, ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }) };
  const lines = headerLines([...idHeaders(ids, client), ...Object.entries(all).flat()]);
  sayLast(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
  );
}
