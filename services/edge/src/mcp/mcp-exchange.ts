/** Calls at `/mcp`: the edge lets callers in and reads their bodies, the MCP aggregator reads what they say. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StreamCall, StreamHandlers } from '@model-gateway/bus';
import { isMcpHeader, type McpExchange, type McpReplyHead, mcpSessionForm, mcpStateInBody, mcpStatePrefix } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { headersAllowed } from '@model-gateway/routing/header-rules';
import { mintRequestId } from '@model-gateway/service-runtime';
import type { Slot } from '../admission/capacity.ts';
import { authenticate, maskOfCaller, type Principal } from '../admission/credentials.ts';
import { streamOwnerOf } from '../admission/owner.ts';
import type { EdgeContext } from '../context.ts';
import type { Headers } from '../http/client-routes.ts';
import { answerPreflight } from '../http/cross-origin.ts';
import { discardRequestBody } from '../http/discard-request-body.ts';
import { type HeldBody, readBody } from '../http/read-body.ts';
import { clientRequestIdOf } from '../http/request-ids.ts';
import { originForm, refusalOfHead } from '../http/request-target.ts';
import type { OpenReply } from '../open-connections.ts';
import { rowOfLostCall } from './lost-call.ts';
import { allowOrigin, mcpMethods } from './origin.ts';
import { messageIdOf } from './read-message.ts';
import { isRepeatable } from './repeatable.ts';

export const isMcpPath = (path: string): boolean => path === '/mcp' || path.startsWith('/mcp/');

const maxHeader = 8192;
const lineFeed = 10;

/** The process where the call waits that the body goes on with. A guess: one that is gone, or knows of no such call, does no harm. */
function holderOf(body: Buffer | undefined): string | undefined {
  return body?.includes(`"${mcpStatePrefix}`) ? mcpStateInBody.exec(body.toString('latin1'))?.[1] : undefined;
}

/** Never rejects. */
export async function handleMcp(request: IncomingMessage, response: ServerResponse, context: EdgeContext): Promise<void> {
  const exchange = new McpCall(request, response, context);
  try {
    await exchange.enter();
  } catch (error) {
    exchange.refuse(toGatewayError(error));
  }
}

class McpCall implements OpenReply, StreamHandlers<'mcp.exchange'> {
  index = -1;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #context: EdgeContext;
  readonly #id = mintRequestId();
  readonly #began = performance.now();
  readonly #clientRequestId: string | null;
  readonly #query: URLSearchParams;
  readonly #path: string;
  #slot: Slot | undefined;
  #body: HeldBody | undefined;
  #call: StreamCall | undefined;
  #sent: McpExchange | undefined;
  /** Bytes that the caller's connection has not taken yet. */
  #unread = 0;
  /** Only one process has this session's connections. */
  #to: string | undefined;
  #over = false;
  /** Events are sent. */
  #streams = false;
  /** The last of them is complete. */
  #betweenEvents = true;
  /** It was opened again, on another process. */
  #repeated = false;

  constructor(request: IncomingMessage, response: ServerResponse, context: EdgeContext) {
    this.#request = request;
    this.#response = response;
    this.#context = context;
    const [path = '/mcp', query = ''] = originForm(request).split(/\?(.*)/s, 2);
    this.#path = path;
    this.#query = new URLSearchParams(query);
    response.setHeader('x-request-id', this.#id);
    this.#clientRequestId = clientRequestIdOf(request);
    if (this.#clientRequestId !== null) response.setHeader('z-request-id', this.#clientRequestId);
    response.on('close', () => this.#closed());
    response.on('drain', () => this.#giveCredit());
    // What the caller writes after its refusal, or breaks off, is nobody's concern.
    request.on('error', () => undefined);
  }

  async enter(): Promise<void> {
    const { admission, config, connections } = this.#context;
    const request = this.#request;
    const origin = allowOrigin(request, this.#response, config.mcpAllowedOrigins);
    const refusal = refusalOfHead(request);
    if (refusal) throw refusal;
    if (origin && request.method === 'OPTIONS') return answerPreflight(this.#response, mcpMethods);
    if (this.#path.length > 1024) throw new GatewayError('not_found');
    if (connections.draining) this.#response.setHeader('connection', 'close');
    this.#slot = await admission.capacity.enter();
    this.#stopIfLeft(this.#slot);
    const clientIp = admission.clientAddress(request);
    await admission.rateLimits.admitAddress(clientIp);
    const principal = this.#authenticate();
    await admission.rateLimits.admitKey(principal);
    this.#checkHeaders(principal, clientIp);
    if (request.method === 'POST') {
      this.#body = await readBody(request, { maxBytes: config.maxBodyBytes, accepts: 'any' }, admission.bodyBudget);
      this.#stopIfLeft(this.#body);
    }
    if (this.#over || this.#response.destroyed) throw new GatewayError('client_gone');
    this.#sent = this.#describe(principal, clientIp);
    this.#to = mcpSessionForm.exec(this.#sent.headers['mcp-session-id'] ?? this.#query.get('sessionId') ?? '')?.[1] ?? holderOf(this.#body?.bytes);
    connections.replies.add(this);
    this.#open();
  }

  /** An answer of the edge's own. Limits of a key have a text of their own, everything else is an error of the protocol. */
  refuse(error: GatewayError): void {
    if (error.code === 'internal') this.#context.reporting.logger.error({ error: error.cause ?? error, request: this.#id }, 'defect in an MCP call');
    this.#over = true;
    const response = this.#response;
    if (response.headersSent) return this.#breakOff(error);
    if (response.destroyed) return;
    const isPlain = error.body !== undefined;
    const body = error.body ?? JSON.stringify(this.#errorOf(error));
    const unread = !this.#request.complete;
    response.writeHead(error.status, {
      'content-type': isPlain ? 'text/plain; charset=utf-8' : 'application/json',
      ...error.headers,
      ...(error.retryAfter !== undefined && { 'retry-after': String(error.retryAfter) }),
      'content-length': Buffer.byteLength(body),
      ...(unread && { connection: 'close' }),
    });
    response.end(body);
    discardRequestBody(this.#request, this.#context.connections.discardLimits);
  }

  #errorOf({ message, code }: GatewayError): object {
    return { jsonrpc: '2.0', id: messageIdOf(this.#body?.bytes), error: { code: -32000, message, data: { code } } };
  }

  /** Libraries wait for the answer to a request until their own time is over, even where its stream has ended: the error is the last event. */
  #breakOff(error: GatewayError): void {
    const response = this.#response;
    // The answer is whole, and on its way.
    if (response.writableEnded) return;
    if (!this.#streams || messageIdOf(this.#body?.bytes) === null) return void response.destroy();
    this.#event(this.#errorOf(error));
    response.end();
  }

  #event(message: object): void {
    // What came last may be the beginning of an event.
    this.#response.write(`${this.#betweenEvents ? '' : '\n\n'}event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  head({ status, headers }: McpReplyHead): void {
    this.#streams = headers['content-type']?.startsWith('text/event-stream') === true;
    this.#response.writeHead(status, headers);
    this.#response.flushHeaders();
  }

  data(bytes: Uint8Array): void {
    this.#unread += bytes.length;
    this.#betweenEvents = bytes.at(-1) === lineFeed && bytes.at(-2) === lineFeed;
    if (this.#response.write(bytes)) this.#giveCredit();
  }

  #giveCredit(): void {
    const bytes = this.#unread;
    this.#unread = 0;
    if (bytes > 0) this.#call?.consumed(bytes);
  }

  tail(): void {
    this.#end();
  }

  whole({ status, headers }: McpReplyHead, bytes: Uint8Array): void {
    this.#over = true;
    const hasBody = status !== 204 && status !== 304;
    this.#response.writeHead(status, { ...headers, ...(hasBody && { 'content-length': bytes.length }) });
    this.#response.end(hasBody ? bytes : undefined);
  }

  broken(error: GatewayError): void {
    if (this.#mayGoElsewhere(error)) {
      this.#to = undefined;
      this.#repeated = true;
      return this.#open();
    }
    if (error.code === 'service_lost') this.#noteLost(error);
    this.refuse(error.code === 'service_unavailable' ? new GatewayError('service_unavailable', { message: 'The MCP aggregator is not available.' }) : error);
  }

  #noteLost(error: GatewayError): void {
    const { headersSent: stream, statusCode } = this.#response;
    const durationMs = Math.round(performance.now() - this.#began);
    const status = stream ? statusCode : error.status;
    const row = rowOfLostCall({ exchange: this.#sent!, body: this.#body?.bytes, error, status, stream, durationMs });
    if (row) this.#context.reporting.rows.publish(row);
  }

  /** The process that had the session is gone: any other can go on with what its id says. One that was lost may have begun what it was sent. */
  #mayGoElsewhere({ code }: GatewayError): boolean {
    if (this.#response.headersSent || this.#over || this.#repeated) return false;
    if (code === 'service_unavailable') return this.#to !== undefined;
    return code === 'service_lost' && isRepeatable(this.#request.method, this.#body?.bytes);
  }

  interrupt(error: GatewayError): void {
    this.#call?.cancel('drain');
    if (!this.#response.headersSent || messageIdOf(this.#body?.bytes) !== null) return this.refuse(error);
    this.#end();
  }

  /** Listens to what belongs to no call: callers open such a stream again, elsewhere. That of the first transport carries answers too. */
  drain(): void {
    const { method, headers } = this.#request;
    const listens = method === 'GET' ? this.#path !== '/mcp/sse' : headers['mcp-method'] === 'subscriptions/listen';
    if (!listens || !this.#streams || this.#over) return;
    this.#call?.cancel('drain');
    const id = messageIdOf(this.#body?.bytes);
    if (id !== null) this.#event({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': id } } });
    this.#end();
  }

  #end(): void {
    this.#over = true;
    this.#response.end();
  }

  /** Throws where the caller's connection closed while this was taken for it: nobody else would give it back. */
  #stopIfLeft(taken: { release(): void }): void {
    if (!this.#over) return;
    taken.release();
    throw new GatewayError('client_gone');
  }

  #authenticate(): Principal {
    const snapshot = this.#context.catalog.current();
    if (!snapshot) throw new GatewayError('not_ready');
    return authenticate(this.#request, this.#query, snapshot, Date.now());
  }

  #checkHeaders(principal: Principal, clientIp: string | null): void {
    const { key, group } = principal;
    if (headersAllowed(group.header_acl, this.#request.headers as Headers)) return;
    this.#context.admission.violations.note({
      key: key.hash,
      mask: maskOfCaller(this.#request, this.#query, principal),
      keyName: key.name,
      group: group.name,
      code: 'header_denied',
      model: null,
      clientIp,
      requestId: this.#clientRequestId,
    });
    throw new GatewayError('header_denied');
  }

  #describe(principal: Principal, clientIp: string | null): McpExchange {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(this.#request.headers))
      if (typeof value === 'string' && value.length <= maxHeader && isMcpHeader(name)) headers[name] = value;
    const query = new URLSearchParams(this.#query);
    query.delete('key');
    return {
      id: this.#id,
      caller: {
        accessKey: principal.key.name,
        owner: streamOwnerOf(principal),
        keyGroup: principal.group.name,
        mask: maskOfCaller(this.#request, this.#query, principal),
        clientIp,
        userAgent: this.#request.headers['user-agent']?.slice(0, 512) ?? null,
        clientRequestId: this.#clientRequestId,
      },
      method: this.#request.method ?? 'GET',
      path: this.#path,
      query: query.toString(),
      headers,
    };
  }

  #open(): void {
    const body = this.#body?.bytes;
    const to = this.#to;
    this.#call = this.#context.bus.open('mcp.exchange', this.#sent!, this, {
      ...(body && { body }),
      ...(to !== undefined && { to }),
      deadlineMs: this.#context.config.maxRequestMs,
    });
  }

  #closed(): void {
    this.#context.connections.replies.remove(this);
    if (!this.#over) this.#call?.cancel('client gone');
    this.#over = true;
    this.#body?.release();
    this.#slot?.release();
  }
}
