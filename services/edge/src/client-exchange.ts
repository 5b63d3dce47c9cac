/** One caller's exchange: what is known of it, how it is answered, and the row the edge can give of it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { newRequestRow, type Operation, type RequestRow } from '@model-gateway/contracts';
import { errorCodes, type GatewayError } from '@model-gateway/contracts/errors';
import type { ClientError } from '@model-gateway/protocols';
import { type Span, traceFields } from '@model-gateway/telemetry';
import type { Reservation } from './admission/budgets.ts';
import type { Slot } from './admission/capacity.ts';
import { credentialsOf, type Principal } from './admission/credentials.ts';
import { sessionOf } from './admission/session.ts';
import { BodyCapture } from './bodies/body-capture.ts';
import type { EdgeContext } from './context.ts';
import type { ClientProtocol, Headers } from './http/client-routes.ts';
import { discardRequestBody, markAnswered } from './http/discard-request-body.ts';
import type { HeldBody } from './http/read-body.ts';
import { completeError } from './reply/complete-error.ts';
import { endSpan } from './request-span.ts';

const hasBody = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** How long a refused caller may go on writing; who writes next to nothing is dismissed earlier, as everybody is. */
const discardMs = 30_000;

const plainToken = /^[\x21-\x7e]{1,128}$/;

export class ClientExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly protocol: ClientProtocol;
  readonly id: string;
  readonly startedAt = Date.now();
  readonly path: string;
  readonly clientIp: string | null;
  readonly clientRequestId: string | null;
  readonly #context: EdgeContext;
  readonly #arrived = performance.now();
  principal: Principal | undefined;
  /** Of the budgets of key and group; settled by the row. */
  reservation: Reservation | undefined;
  /** The translator has it: what it cost is for its row to tell. */
  handed = false;
  /** Of the coding agent or chat that asks. */
  sessionId: string | null;
  requestedModel: string | null = null;
  /** Canonical, once the router resolved it. */
  model: string | null = null;
  stream = false;
  /** Of a call that goes to an upstream. */
  operation: Operation = 'generate';
  requestBytes = 0;
  responseBytes = 0;
  /** The caller closed the connection before the answer was complete. */
  left = false;
  /** What is given back when the connection is done with this exchange. */
  slot: Slot | undefined;
  body: HeldBody | undefined;
  /** Where the request is traced. */
  span: Span | undefined;
  /** For a key group that keeps bodies. */
  capture: BodyCapture | undefined;
  /** Set for callers that cache the list of models: a reply header with the list's version. */
  modelsTag: { header: string; value: string } | undefined;
  /** Notified when the connection closes, as well. */
  reply: { closed(): void } | undefined;
  #clientError = false;

  constructor(request: IncomingMessage, response: ServerResponse, protocol: ClientProtocol, id: string, context: EdgeContext) {
    this.request = request;
    this.response = response;
    this.protocol = protocol;
    this.id = id;
    this.#context = context;
    this.path = (request.url ?? '/').split('?', 1)[0]!;
    this.clientIp = context.clientAddress(request);
    this.sessionId = sessionOf(request.headers as Headers);
    const given = request.headers['z-request-id'];
    this.clientRequestId = typeof given === 'string' && plainToken.test(given) ? given : null;
    response.on('close', () => this.#closed());
  }

  #closed(): void {
    if (!this.response.writableFinished) this.left = true;
    this.slot?.release();
    this.body?.release();
    this.body = undefined;
    this.reply?.closed();
  }

  /** The request is here: from now on what goes out is kept too, where the group wants it. */
  captureBodies(query: URLSearchParams): void {
    const settings = this.principal?.group.store_bodies;
    if (!settings?.enabled || !this.body) return;
    const others = new URLSearchParams(query);
    others.delete('key');
    const path = `${this.path}${others.size === 0 ? '' : `?${others}`}`;
    this.capture = new BodyCapture(settings, { path, bytes: this.body.bytes }, credentialsOf(this.request, query), this.#context.bodies);
  }

  /** Registers a callback for waits before there is a reply; called at once when the caller has left already. */
  onLeave(leave: () => void): void {
    if (this.left) leave();
    else this.reply = { closed: leave };
  }

  elapsedMs(): number {
    return performance.now() - this.#arrived;
  }

  /** What every data-plane reply carries, and these, as Node writes a head fastest: name, value, name, value. */
  headersWith(headers: Readonly<Record<string, string>>): string[] {
    const list = ['x-request-id', this.id];
    if (this.clientRequestId !== null) list.push('z-request-id', this.clientRequestId);
    const { replyHeaders } = this.protocol.client;
    if (replyHeaders) addTo(list, replyHeaders(this.id));
    if (this.modelsTag) list.push(this.modelsTag.header, this.modelsTag.value);
    const { draining, pressure } = this.#context;
    if ((draining || pressure.level > 0) && headers['connection'] === undefined) list.push('connection', 'close');
    addTo(list, headers);
    return list;
  }

  /** 304: what the caller has is still so. */
  answerUnchanged(headers: Record<string, string>): void {
    if (this.response.headersSent || this.response.destroyed) return;
    this.response.writeHead(304, this.headersWith(headers));
    this.response.end();
  }

  /** A whole JSON answer of the edge's own. */
  answer(status: number, body: string, headers: Record<string, string> = {}): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) return;
    const unread = !this.request.complete && hasBody(this.request);
    const bytes = Buffer.from(body, 'utf8');
    this.responseBytes = bytes.length;
    this.capture?.add(bytes);
    const own = { 'content-type': 'application/json', ...headers, 'content-length': String(bytes.length), ...(unread && { connection: 'close' }) };
    response.writeHead(status, this.headersWith(own));
    if (unread) this.#endUnread(bytes);
    else response.end(bytes);
  }

  /**
   * Before the connection closes the caller may finish writing and the bytes are discarded: most clients write their whole body before they read, and
   * one that is cut off while it writes never sees why. Such a caller no longer counts as a running request.
   */
  #endUnread(bytes: Buffer): void {
    const { request, response } = this;
    this.slot?.release();
    response.write(bytes);
    markAnswered(response);
    const late = setTimeout(() => response.end(), discardMs).unref();
    request.on('close', () => clearTimeout(late));
    request.on('end', () => response.end());
    discardRequestBody(request, this.#context.discardLimits);
  }

  /** Answers an error in the caller's own shape. */
  writeError(error: GatewayError): void {
    const clientError: ClientError = {
      status: error.status,
      code: error.code,
      message: error.message,
      requestId: this.id,
      ...(error.param !== undefined && { param: error.param }),
      ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
      ...(error.details && { details: error.details }),
    };
    if (this.stream && this.#refuseInStream(clientError)) return;
    const drawn = this.protocol.client.writeError(clientError);
    this.answer(error.status, error.body === undefined ? drawn.body : completeError(error.body, drawn.body), {
      ...drawn.headers,
      ...error.headers,
      ...(error.retryAfter !== undefined && { 'retry-after': String(error.retryAfter) }),
      // SDKs retry every server error; two of them respect this header when a retry cannot help.
      ...(error.status >= 500 && !errorCodes[error.code].retryable && { 'x-should-retry': 'false' }),
    });
  }

  /** Writes the error into the stream for callers whose protocol reports it there; returns whether it did. */
  #refuseInStream(error: ClientError): boolean {
    const { client } = this.protocol;
    const text = client.refuseInStream?.(error, {
      headers: this.request.headers as Headers,
      model: this.requestedModel ?? '',
      createdAt: Math.floor(this.startedAt / 1000),
      mintId: this.#context.mintId,
    });
    if (text == null) return false;
    this.answer(200, text, { 'content-type': client.contentType('sse'), 'cache-control': 'no-cache' });
    return true;
  }

  /** The edge says no, before or instead of the translator: answer and row. */
  refuse(error: GatewayError): void {
    const status = this.left ? 499 : error.status;
    if (error.code === 'internal')
      this.#context.logger.error({ request: this.id, ...traceFields(this.span), error: error.cause ?? error }, 'defect in the edge');
    this.writeError(error);
    this.publishRow(this.row(status, this.left ? 'client_gone' : error.code));
  }

  /** Publishes one request log row per exchange, whichever part finished it. */
  publishRow(row: RequestRow, settled?: () => void): void {
    if (this.#clientError) return;
    this.#clientError = true;
    if (row.authority === 1 && this.handed) this.reservation?.settleByRows();
    else this.reservation?.settle(row);
    this.#context.meters.finished(row);
    this.#context.rows.publish(row, settled);
    if (this.capture) this.#handBodies(this.capture, row);
    if (this.span) endSpan(this.span, row);
  }

  #handBodies(capture: BodyCapture, row: RequestRow): void {
    const { principal } = this;
    if (!principal) return capture.drop();
    this.#context.bodies.hand(capture, () => ({
      id: this.id,
      startedAt: this.startedAt,
      accessKey: principal.key.name,
      keyGroup: principal.group.name,
      model: row.model,
      clientProtocol: this.protocol.id,
      stream: this.stream,
      status: row.status,
      revision: this.#context.catalog.current()?.revision ?? 0,
    }));
  }

  /** What the edge knows by itself; the translator's row, when there is one, replaces it. */
  row(status: number, errorCode: string | null): RequestRow {
    return newRequestRow({
      id: this.id,
      client_request_id: this.clientRequestId,
      started_at: this.startedAt,
      authority: 1,
      access_key: this.principal?.key.name ?? null,
      key_group: this.principal?.group.name ?? null,
      model: this.model,
      requested_model: this.requestedModel?.slice(0, 200) ?? null,
      client_protocol: this.protocol.id,
      stream: this.stream,
      status,
      error_code: errorCode,
      duration_ms: Math.round(this.elapsedMs()),
      request_bytes: this.requestBytes,
      response_bytes: this.responseBytes,
      client_ip: this.clientIp,
      user_agent: this.request.headers['user-agent']?.slice(0, 512) ?? null,
      session_id: this.sessionId,
    });
  }
}

function addTo(list: string[], headers: Readonly<Record<string, string>>): void {
  for (const name in headers) list.push(name, headers[name]!);
}
