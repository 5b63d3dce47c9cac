/** One caller's HTTP exchange: the request and response, what is released when the connection closes, and the answers that are the edge's own. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StoreBodies } from '@model-gateway/contracts';
import { errorCodes, GatewayError } from '@model-gateway/contracts/errors';
import type { ClientError } from '@model-gateway/protocols';
import { mintRequestId } from '@model-gateway/service-runtime';
import type { Slot } from './admission/capacity.ts';
import { credentialsOf } from './admission/credentials.ts';
import { nothingKnown, type RequestFacts } from './admission/request-facts.ts';
import { BodyCapture } from './bodies/body-capture.ts';
import type { EdgeContext } from './context.ts';
import type { ClientProtocol, Headers } from './http/client-routes.ts';
import { discardRequestBody, markAnswered } from './http/discard-request-body.ts';
import type { HeldBody } from './http/read-body.ts';
import { clientRequestIdOf, idHeaders } from './http/request-ids.ts';
import { guardsOf } from './http/security-headers.ts';
import { completeError } from './reply/complete-error.ts';

const hasBody = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** How long a refused caller may go on writing; who writes next to nothing is dismissed earlier, as everybody is. */
const discardMs = 30_000;

/** What an exchange uses of the edge. */
type ExchangeContext = Pick<EdgeContext, 'admission' | 'reporting' | 'connections' | 'mintId'>;

export class ClientExchange {
  readonly request: IncomingMessage;
  response: ServerResponse;
  readonly protocol: ClientProtocol;
  readonly id = mintRequestId();
  readonly startedAt = Date.now();
  readonly path: string;
  readonly clientIp: string | null;
  readonly clientRequestId: string | null;
  readonly #context: ExchangeContext;
  readonly #arrived = performance.now();
  /** Of the reply, so far. */
  responseBytes = 0;
  #left = false;
  #slot: Slot | undefined;
  #body: HeldBody | undefined;
  #capture: BodyCapture | undefined;
  #replyHeader: { name: string; value: string } | undefined;
  #watcher: { closed(): void } | undefined;

  /** `path`: the call's, where the request has another for it. */
  constructor(request: IncomingMessage, response: ServerResponse, { protocol, path }: { protocol: ClientProtocol; path?: string }, context: ExchangeContext) {
    this.request = request;
    this.response = response;
    this.protocol = protocol;
    this.#context = context;
    this.path = path ?? (request.url ?? '/').split('?', 1)[0]!;
    this.clientIp = context.admission.clientAddress(request);
    this.clientRequestId = clientRequestIdOf(request);
    response.on('close', this.#closed);
  }

  /** From now on what is written goes to this response, and the exchange lasts as long as it does; the caller's connection is of no more concern. */
  replaceResponse(response: ServerResponse): void {
    this.response.off('close', this.#closed);
    this.response = response;
    response.on('close', this.#closed);
  }

  readonly #closed = (): void => {
    if (!this.response.writableFinished) this.#left = true;
    this.#slot?.release();
    this.dropBody();
    this.#watcher?.closed();
  };

  /** The caller closed the connection before the answer was complete. */
  get left(): boolean {
    return this.#left;
  }

  /** What is kept of the bodies, for a key group that keeps them. */
  get capture(): BodyCapture | undefined {
    return this.#capture;
  }

  /** Released when the connection closes. Throws where it has closed meanwhile: nobody else would give the place back. */
  holdSlot(slot: Slot): void {
    this.#slot = slot;
    if (this.#left) this.#stop(slot);
  }

  /** The same of the body's bytes. */
  holdBody(body: HeldBody): void {
    this.#body = body;
    if (this.#left) this.#stop(body);
  }

  /** The body's bytes are with somebody else, or nobody needs them: a reply may take minutes. */
  dropBody(): void {
    this.#body?.release();
    this.#body = undefined;
  }

  /** All of the body went to another process: nobody here reads it again, but whom the group lets keep it. */
  freeBody(): void {
    const body = this.#body;
    this.dropBody();
    // Who sends the last part still looks at where it ended.
    if (body && !this.#capture) setImmediate(() => body.free());
  }

  #stop(held: { release(): void }): never {
    held.release();
    throw new GatewayError('client_gone');
  }

  /** The request is here: from now on what goes out is kept too, where the group wants it. */
  captureBodies(bytes: Buffer, settings: StoreBodies, query: URLSearchParams): void {
    if (!settings.enabled) return;
    const others = new URLSearchParams(query);
    others.delete('key');
    const path = `${this.path}${others.size === 0 ? '' : `?${others}`}`;
    this.#capture = new BodyCapture(
      settings,
      { path, bytes, headers: this.request.headers },
      credentialsOf(this.request, query),
      this.#context.reporting.bodies,
    );
  }

  /** Notified when the connection closes, in place of an earlier watcher; at once when the caller has left already. */
  watch(watcher: { closed(): void }): void {
    if (this.#left) watcher.closed();
    else this.#watcher = watcher;
  }

  /** A header that every reply carries from now on: there is at most one. */
  addReplyHeader(name: string, value: string): void {
    this.#replyHeader = { name, value };
  }

  elapsedMs(): number {
    return performance.now() - this.#arrived;
  }

  /** What every data-plane reply carries, and these, as Node writes a head fastest: name, value, name, value. */
  headersWith(headers: Readonly<Record<string, string>>): string[] {
    const list = idHeaders(this, this.protocol.client);
    if (this.#replyHeader) list.push(this.#replyHeader.name, this.#replyHeader.value);
    const { draining, pressure } = this.#context.connections;
    if ((draining || pressure.level > 0) && headers['connection'] === undefined) list.push('connection', 'close');
    for (const name in headers) list.push(name, headers[name]!);
    list.push(...guardsOf(headers['content-type']));
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
    this.#capture?.add(bytes);
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
    this.#slot?.release();
    response.write(bytes);
    markAnswered(response);
    const late = setTimeout(() => response.end(), discardMs).unref();
    request.on('close', () => clearTimeout(late));
    request.on('end', () => response.end());
    discardRequestBody(request, this.#context.connections.discardLimits);
  }

  /** Answers an error in the caller's own shape; `facts` tell whether it asked for a stream, and of which model. */
  writeError(error: GatewayError, facts: RequestFacts = nothingKnown): void {
    const clientError: ClientError = {
      status: error.status,
      code: error.code,
      message: error.message,
      requestId: this.id,
      ...(error.param !== undefined && { param: error.param }),
      ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
      ...(error.details && { details: error.details }),
    };
    if (facts.stream && this.#refuseInStream(clientError, facts.requestedModel ?? '')) return;
    const drawn = this.protocol.client.writeError(clientError);
    this.answer(error.status, this.#bodyOf(error, drawn.body), {
      ...drawn.headers,
      ...error.headers,
      ...(error.retryAfter !== undefined && { 'retry-after': String(error.retryAfter) }),
      ...(isRepeated(error.status) && !errorCodes[error.code].retryable && { 'x-should-retry': 'false' }),
    });
  }

  #bodyOf({ body }: GatewayError, drawn: string): string {
    if (body === undefined) return drawn;
    return this.protocol.client.passesErrors ? body : completeError(body, drawn);
  }

  /** Writes the error into the stream for callers whose protocol reports it there; returns whether it did. */
  #refuseInStream(error: ClientError, model: string): boolean {
    const { client } = this.protocol;
    const text = client.refuseInStream?.(error, {
      headers: this.request.headers as Headers,
      model,
      createdAt: Math.floor(this.startedAt / 1000),
      mintId: this.#context.mintId,
    });
    if (text == null) return false;
    this.answer(200, text, { 'content-type': client.contentType('sse'), 'cache-control': 'no-cache' });
    return true;
  }
}

/** SDKs repeat every server error, and Claude Code repeats refused keys for minutes; both heed `x-should-retry` where that cannot help. */
const isRepeated = (status: number): boolean => status >= 500 || status === 401;
