/** A server of the revisions with sessions, over streamable HTTP: handshake, session id, the stream of its own messages, resumption, the end. */
import { isObject } from '@model-gateway/contracts';
import type { Outbound } from '@model-gateway/upstream-client';
import { type Message, printError, printNotification, printRequest, printResult, readMessage } from '../protocol/json-rpc.ts';
import { parseJson } from '../protocol/raw-json.ts';
import { errorCodes, newestSessionVersion, sessionVersions } from '../protocol/versions.ts';
import { givenUp, type HttpReply, redirected, type ServerEvent, ServerFault, sendHttp } from './http.ts';
import { callSilenceMs, handshakeMs, type OnNotification, type Peer, type PeerInfo, type PeerReply, type PeerRequest, type Target } from './peer.ts';

/** What a session is opened with. */
export interface SessionOptions {
  outbound: Outbound;
  target: () => Target;
  /** JSON text: what the caller can do. */
  capabilities: string;
  clientInfo: { name: string; version: string };
  onNotification: OnNotification;
  /** Whether the server's own messages are listened to. */
  listens: boolean;
}

const accept = 'application/json, text/event-stream';
/** How often a reply that broke off is asked for again. */
const maxResumes = 5;
const listenAgainMs = 5_000;
/** Statuses of a proxy whose server is being restarted, or of too much at once. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The handshake. Rejects with ServerFault. */
export async function openSession(options: SessionOptions, signal: AbortSignal): Promise<SessionPeer> {
  const peer = new SessionPeer(options);
  await peer.begin(signal);
  return peer;
}

export class SessionPeer implements Peer {
  readonly era = 'session';
  readonly #options: SessionOptions;
  readonly #closed = new AbortController();
  #info: PeerInfo = { version: newestSessionVersion, capabilities: {}, instructions: undefined };
  #sessionId: string | undefined;
  #nextId = 1;
  #beginning: Promise<void> | undefined;
  /** How many handshakes have succeeded; the last one has, where it is open. */
  #handshakes = 0;
  #isOpen = false;
  /** Requests of callers that are not answered yet, the oldest first. */
  readonly #waiting = new Set<PeerRequest>();
  /** Of all requests that are not answered yet, by id. */
  readonly #replies = new Map<string, ReplyReader>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get info(): PeerInfo {
    return this.#info;
  }

  get hasState(): boolean {
    return this.#sessionId !== undefined;
  }

  begin(signal: AbortSignal): Promise<void> {
    this.#beginning ??= this.#initialize(signal).finally(() => {
      this.#beginning = undefined;
    });
    return this.#beginning;
  }

  async request(request: PeerRequest): Promise<PeerReply> {
    await this.#ready(request.signal);
    const [handshakes, sessionId] = [this.#handshakes, this.#sessionId];
    const reply = await this.#exchange(request);
    if (!isLost(reply, sessionId)) return reply;
    // The server has forgotten the session: nothing ran. One handshake for all requests that found out, one more try of each.
    if (handshakes === this.#handshakes) this.#isOpen = false;
    await this.#ready(request.signal);
    return this.#exchange(request);
  }

  async notify(method: string, params: string | undefined): Promise<void> {
    await this.answer(printNotification(method, params));
  }

  async answer(message: string): Promise<void> {
    const { status } = await this.#post(message, { signal: this.#closed.signal, silenceMs: handshakeMs });
    if (status >= 400) throw new ServerFault(`The server answered ${status}.`);
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    if (this.#sessionId === undefined) return;
    const { url, headers } = this.#options.target();
    const signal = AbortSignal.timeout(handshakeMs);
    const ask = { method: 'DELETE', url, headers: { ...headers, ...this.#ownHeaders() }, answerMs: handshakeMs, idleMs: handshakeMs, signal } as const;
    await sendHttp(this.#options.outbound, ask).catch(() => undefined);
  }

  /** Waits for a handshake under way, and makes one where the session is not open. It belongs to nobody: who began it may leave. */
  async #ready(signal: AbortSignal): Promise<void> {
    if (this.#isOpen) return;
    const handshake = this.#beginning ?? this.begin(AbortSignal.any([AbortSignal.timeout(handshakeMs), this.#closed.signal]));
    await orAborted(handshake, signal);
  }

  async #initialize(signal: AbortSignal): Promise<void> {
    const { capabilities, clientInfo, listens } = this.#options;
    this.#isOpen = false;
    this.#sessionId = undefined;
    this.#info = { ...this.#info, version: newestSessionVersion };
    const params = `{"protocolVersion":${JSON.stringify(newestSessionVersion)},"capabilities":${capabilities},"clientInfo":${JSON.stringify(clientInfo)}}`;
    let sessionId: string | undefined;
    const reply = await this.#exchange({ method: 'initialize', params, signal, silenceMs: handshakeMs }, (headers) => {
      sessionId = headers['mcp-session-id'];
    });
    if (reply.kind === 'error') throw new ServerFault(describeRefusal(reply));
    const result = parseJson(reply.result);
    const version = isObject(result) ? result['protocolVersion'] : undefined;
    if (!isObject(result) || typeof version !== 'string') throw new ServerFault('The server answered the handshake with what is none.');
    if (!sessionVersions.includes(version)) throw new ServerFault('The server speaks a revision of the protocol that the gateway does not know.');
    const { instructions } = result;
    this.#sessionId = sessionId;
    this.#info = {
      version,
      capabilities: isObject(result['capabilities']) ? result['capabilities'] : {},
      instructions: typeof instructions === 'string' ? instructions : undefined,
    };
    await this.notify('notifications/initialized', undefined);
    this.#handshakes++;
    this.#isOpen = true;
    if (listens && sessionId !== undefined) void this.#listen(sessionId);
  }

  #ownHeaders(): Record<string, string> {
    return {
      ...(this.#sessionId !== undefined && { 'mcp-session-id': this.#sessionId }),
      'mcp-protocol-version': this.#info.version,
    };
  }

  #post(body: string, { signal, silenceMs, handlers }: { signal: AbortSignal; silenceMs: number; handlers?: Parameters<typeof sendHttp>[2] }) {
    const { url, headers } = this.#options.target();
    const isHandshake = body.includes('"method":"initialize"');
    return sendHttp(
      this.#options.outbound,
      {
        method: 'POST',
        url,
        // A newer server may want the method in a header; older ones do not look at it.
        headers: { ...headers, ...(isHandshake ? { 'mcp-method': 'initialize' } : this.#ownHeaders()), 'content-type': 'application/json', accept },
        body,
        answerMs: silenceMs,
        idleMs: silenceMs,
        signal,
      },
      handlers,
    );
  }

  /** One request and its answer, wherever on the reply it comes. */
  async #exchange(request: PeerRequest, onHead?: (headers: Record<string, string>) => void): Promise<PeerReply> {
    const id = String(this.#nextId++);
    const wait = new ReplyReader(id, request);
    this.#replies.set(id, wait);
    const signal = AbortSignal.any([request.signal, this.#closed.signal, wait.answeredElsewhere]);
    const sendCancellation = (): void =>
      void this.notify('notifications/cancelled', `{"requestId":${id},"reason":"The caller has left."}`).catch(() => undefined);
    // The protocol forbids to cancel a handshake.
    if (request.method !== 'initialize') request.signal.addEventListener('abort', sendCancellation, { once: true });
    if (request.onMessage) this.#waiting.add(request);
    try {
      const handlers = {
        head: (_status: number, headers: Record<string, string>) => onHead?.(headers),
        event: (event: ServerEvent) => wait.read(event),
      };
      const reply = await this.#post(printRequest(id, request.method, request.params), { signal, silenceMs: request.silenceMs, handlers }).catch(
        (error: unknown) => {
          // A stream that broke off may be gone on with.
          if (wait.lastEventId === undefined || signal.aborted) throw error;
          return null;
        },
      );
      if (reply !== null && !reply.streamed) return readWhole(reply, id);
      return wait.answer ?? (await this.#resume(wait, request, signal));
    } catch (error) {
      if (wait.answer) return wait.answer;
      throw error;
    } finally {
      request.signal.removeEventListener('abort', sendCancellation);
      this.#waiting.delete(request);
      this.#replies.delete(id);
    }
  }

  /** The rest of a reply whose connection ended before its answer came. */
  async #resume(wait: ReplyReader, request: PeerRequest, signal: AbortSignal): Promise<PeerReply> {
    for (let tries = 0; tries < maxResumes && wait.lastEventId !== undefined; tries++) {
      await sleep(wait.retryMs ?? 1000, signal);
      const { url, headers } = this.#options.target();
      const own = { ...headers, ...this.#ownHeaders(), accept: 'text/event-stream', 'last-event-id': wait.lastEventId };
      const ask = { method: 'GET', url, headers: own, answerMs: request.silenceMs, idleMs: request.silenceMs, signal } as const;
      const reply = await sendHttp(this.#options.outbound, ask, { event: (event) => wait.read(event) }).catch((error: unknown) => {
        if (signal.aborted) throw error;
        return null;
      });
      if (wait.answer) return wait.answer;
      if (reply !== null && reply.status >= 400) break;
    }
    throw new ServerFault('The server ended its reply before the answer came.');
  }

  /** What a server asks beside its replies does not say for which call: the newest is meant, as on the stream of the first transport. */
  #askAside(message: Message & { kind: 'request' }): void {
    const refusal = JSON.stringify({ code: errorCodes.methodNotFound, message: 'The client cannot be asked.' });
    const newest = [...this.#waiting].at(-1);
    if (message.method === 'ping') void this.answer(printResult(message.id, '{}')).catch(() => undefined);
    else if (newest) newest.onMessage?.(message);
    else void this.answer(printError(message.id, refusal)).catch(() => undefined);
  }

  /** Messages that belong to no request, for as long as the session is open. Servers without such a stream answer 405, or fail. */
  async #listen(sessionId: string): Promise<void> {
    const { signal } = this.#closed;
    // Servers that keep what they sent go on after it.
    let lastEventId: string | undefined;
    while (!signal.aborted && this.#sessionId === sessionId) {
      const { url, headers } = this.#options.target();
      const own = {
        ...headers,
        ...this.#ownHeaders(),
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      };
      const ask = { method: 'GET', url, headers: own, answerMs: callSilenceMs, idleMs: 86_400_000, signal } as const;
      const reply = await sendHttp(this.#options.outbound, ask, {
        event: ({ data, id }) => {
          if (id !== undefined && id !== '') lastEventId = id;
          const message = data === '' ? null : readMessage(Buffer.from(data, 'utf8'));
          if (message?.kind === 'notification') this.#options.onNotification(message);
          else if (message?.kind === 'request') this.#askAside(message);
          // Servers answer here what they were asked on a reply that has ended.
          else if (message?.id) this.#replies.get(message.id)?.take(message);
          return false;
        },
      }).catch(() => null);
      const status = reply?.status ?? 0;
      // It does not know any more what it sent last.
      if (status === 400 && lastEventId !== undefined) lastEventId = undefined;
      else if (status >= 400 && !passing.has(status)) return;
      await sleep(listenAgainMs, signal).catch(() => undefined);
    }
  }
}

/** Finds the answer to one request among the messages of a stream. */
export class ReplyReader {
  readonly #id: string;
  readonly #request: Pick<PeerRequest, 'onMessage'>;
  readonly #elsewhere = new AbortController();
  answer: PeerReply | undefined;
  lastEventId: string | undefined;
  retryMs: number | undefined;

  constructor(id: string, request: Pick<PeerRequest, 'onMessage'>) {
    this.#id = id;
    this.#request = request;
  }

  /** Aborted when the answer came on another stream than those that are read for it. */
  get answeredElsewhere(): AbortSignal {
    return this.#elsewhere.signal;
  }

  /** Whether the answer has come: nothing follows it. */
  read({ event, data, id, retryMs }: ServerEvent): boolean {
    if (id !== undefined && id !== '') this.lastEventId = id;
    if (retryMs !== undefined) this.retryMs = retryMs;
    if (event !== 'message' || data === '' || this.answer) return this.answer !== undefined;
    const message = readMessage(Buffer.from(data, 'utf8'));
    if (message === null) throw new ServerFault('The server sent a message that cannot be read.');
    if (message.kind === 'notification' || message.kind === 'request') this.#request.onMessage?.(message);
    else if (message.id === this.#id) this.answer = toReply(message, 200);
    return this.answer !== undefined;
  }

  /** The answer, as it came on another stream. */
  take(message: Message & { kind: 'result' | 'error' }): void {
    this.answer ??= toReply(message, 200);
    this.#elsewhere.abort();
  }
}

/** The server does not know the session that the request was made in. */
function isLost(reply: PeerReply, sessionId: string | undefined): boolean {
  if (reply.kind !== 'error') return false;
  if (reply.status === 404) return sessionId !== undefined;
  return reply.status === 400 && reply.code === errorCodes.server && /session|not initialized/i.test(reply.error);
}

export const toReply = (message: Message & { kind: 'result' | 'error' }, status: number): PeerReply =>
  message.kind === 'result' ? { kind: 'result', result: message.result } : { kind: 'error', error: message.error, code: codeOf(message.error), status };

function codeOf(error: string): number {
  const parsed = parseJson(error);
  return isObject(parsed) && typeof parsed['code'] === 'number' ? parsed['code'] : errorCodes.server;
}

/** A reply that is one message, or none. Throws ServerFault. */
export function readWhole({ status, headers, body }: HttpReply, id: string): PeerReply {
  const message = body.length > 0 ? readMessage(body) : null;
  if (message?.kind === 'error') return toReply(message, status);
  if (message?.kind === 'result' && message.id === id && status < 400) return toReply(message, status);
  if (status >= 400) {
    const error = JSON.stringify({ code: errorCodes.server, message: `The server answered ${status}.` });
    return { kind: 'error', error, code: errorCodes.server, status };
  }
  if (status >= 300) throw redirected(status);
  const [type] = /^[\w.+/-]{1,80}/.exec(headers['content-type'] ?? '') ?? [];
  if (body.length > 0 && type !== undefined && !/json$/i.test(type))
    throw new ServerFault(`The server sent ${type}, which is not a message of MCP: its endpoint may have another path.`);
  throw new ServerFault('The server sent a reply that cannot be read.');
}

/** Why a handshake or probe failed, for operators: a status and the server's own words, cut. */
export function describeRefusal({ error, status }: PeerReply & { kind: 'error' }): string {
  const parsed = parseJson(error);
  const words = isObject(parsed) && typeof parsed['message'] === 'string' ? parsed['message'] : '';
  return status >= 400 && !words.includes(String(status))
    ? `The server answered ${status}: ${words.slice(0, 300)}`
    : words.slice(0, 300) || 'The server refused.';
}

/** What the promise gives, unless the signal is aborted first. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(givenUp(signal, { unsent: true }));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Rejects when the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(givenUp(signal));
    const stop = (): void => {
      clearTimeout(timer);
      reject(givenUp(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms).unref();
    signal.addEventListener('abort', stop, { once: true });
  });
}
