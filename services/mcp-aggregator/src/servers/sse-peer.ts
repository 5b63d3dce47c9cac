/** A server of the first transport: one stream of events brings all answers, requests are posted to the address that its first event names. */
import { isObject } from '@model-gateway/contracts';
import type { Outbound } from '@model-gateway/upstream-client';
import { printNotification, printRequest, readMessage } from '../protocol/json-rpc.ts';
import { parseJson } from '../protocol/raw-json.ts';
import { sessionVersions } from '../protocol/versions.ts';
import { givenUp, redirected, type ServerEvent, ServerFault, sendHttp } from './http.ts';
import { handshakeMs, type OnNotification, type Peer, type PeerInfo, type PeerReply, type PeerRequest, type Target } from './peer.ts';
import { describeRefusal, toReply } from './session-peer.ts';

export interface SseOptions {
  outbound: Outbound;
  target: () => Target;
  /** JSON text: what the caller can do. */
  capabilities: string;
  clientInfo: { name: string; version: string };
  onNotification: OnNotification;
}

interface Waiting {
  request: PeerRequest;
  resolve(reply: PeerReply): void;
  reject(error: unknown): void;
}

/** The newest revision that this transport was specified with. */
const offeredVersion = '2024-11-05';

export async function openSseSession(options: SseOptions, signal: AbortSignal): Promise<SsePeer> {
  const peer = new SsePeer(options);
  try {
    await peer.begin(signal);
    return peer;
  } catch (error) {
    await peer.close();
    throw error;
  }
}

export class SsePeer implements Peer {
  readonly era = 'session';
  readonly hasState = true;
  readonly #options: SseOptions;
  readonly #closed = new AbortController();
  readonly #waiting = new Map<string, Waiting>();
  readonly #endpoint = Promise.withResolvers<string>();
  #info: PeerInfo = { version: offeredVersion, capabilities: {}, instructions: undefined };
  #nextId = 1;
  #lost: ServerFault | undefined;

  constructor(options: SseOptions) {
    this.#options = options;
    // Nobody may be waiting for it any more.
    this.#endpoint.promise.catch(() => undefined);
  }

  get info(): PeerInfo {
    return this.#info;
  }

  /** Its stream has ended: it serves nobody any more. */
  get lost(): boolean {
    return this.#lost !== undefined;
  }

  async begin(signal: AbortSignal): Promise<void> {
    void this.#listen();
    const giveUp = setTimeout(() => this.#end(new ServerFault('The server did not say where to post requests.')), handshakeMs).unref();
    await this.#endpoint.promise.finally(() => clearTimeout(giveUp));
    const { capabilities, clientInfo } = this.#options;
    const params = `{"protocolVersion":"${offeredVersion}","capabilities":${capabilities},"clientInfo":${JSON.stringify(clientInfo)}}`;
    const reply = await this.request({ method: 'initialize', params, signal, silenceMs: handshakeMs });
    if (reply.kind === 'error') throw new ServerFault(describeRefusal(reply));
    const result = parseJson(reply.result);
    const version = isObject(result) ? result['protocolVersion'] : undefined;
    if (!isObject(result) || typeof version !== 'string' || !sessionVersions.includes(version))
      throw new ServerFault('The server speaks a revision of the protocol that the gateway does not know.');
    const { capabilities: can, instructions } = result;
    this.#info = { version, capabilities: isObject(can) ? can : {}, instructions: typeof instructions === 'string' ? instructions : undefined };
    await this.notify('notifications/initialized', undefined);
  }

  request(request: PeerRequest): Promise<PeerReply> {
    const id = String(this.#nextId++);
    return new Promise<PeerReply>((resolve, reject) => {
      if (this.#lost) return reject(this.#lost);
      const { signal, silenceMs } = request;
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        this.#waiting.delete(id);
      };
      const leave = (): void => {
        settle();
        void this.notify('notifications/cancelled', `{"requestId":${id},"reason":"The caller has left."}`).catch(() => undefined);
        reject(givenUp(signal));
      };
      const timer = setTimeout(() => {
        settle();
        reject(new ServerFault('The server did not answer in time.'));
      }, silenceMs).unref();
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.set(id, {
        request,
        resolve: (reply) => {
          settle();
          resolve(reply);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      this.answer(printRequest(id, request.method, request.params)).catch((error: unknown) => this.#waiting.get(id)?.reject(error));
    });
  }

  async notify(method: string, params: string | undefined): Promise<void> {
    await this.answer(printNotification(method, params));
  }

  async answer(body: string): Promise<void> {
    const url = await this.#endpoint.promise;
    const { headers } = this.#options.target();
    const ask = {
      method: 'POST',
      url,
      headers: { ...headers, 'content-type': 'application/json', 'mcp-protocol-version': this.#info.version },
      body,
      answerMs: handshakeMs,
      idleMs: handshakeMs,
      signal: this.#closed.signal,
    } as const;
    const { status } = await sendHttp(this.#options.outbound, ask);
    if (status >= 400) throw new ServerFault(`The server answered ${status}.`);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#end(new ServerFault('The connection to the server was closed.'));
  }

  async #listen(): Promise<void> {
    const { url, headers } = this.#options.target();
    const ask = {
      method: 'GET',
      url,
      headers: { ...headers, accept: 'text/event-stream' },
      answerMs: handshakeMs,
      idleMs: 86_400_000,
      signal: this.#closed.signal,
    } as const;
    try {
      const { status } = await sendHttp(this.#options.outbound, ask, {
        event: (event) => {
          this.#read(event, url);
          return false;
        },
      });
      if (status >= 300 && status < 400) return this.#end(redirected(status));
      this.#end(new ServerFault(status >= 400 ? `The server answered ${status}.` : 'The server ended its stream of events.'));
    } catch (error) {
      this.#end(error instanceof ServerFault ? error : new ServerFault('The stream of events broke off.', { cause: error }));
    }
  }

  #read({ event, data }: ServerEvent, base: string): void {
    if (event === 'endpoint') {
      const url = URL.parse(data, base);
      // Requests carry the server's credentials: they go to its own origin alone.
      if (url === null || url.origin !== new URL(base).origin) return this.#end(new ServerFault('The server named another origin for requests.'));
      return this.#endpoint.resolve(url.href);
    }
    const message = event === 'message' ? readMessage(Buffer.from(data, 'utf8')) : null;
    if (message === null) return;
    if (message.kind === 'result' || message.kind === 'error') {
      if (message.id !== null) this.#waiting.get(message.id)?.resolve(toReply(message, 200));
      return;
    }
    const receiver = this.#receiverOf(message);
    if (receiver) receiver.request.onMessage?.(message);
    else if (message.kind === 'notification') this.#options.onNotification(message);
  }

  /** All calls share the stream: a progress token says which one is meant, and what names none is for the newest. */
  #receiverOf(message: { kind: string; method: string; params: string | undefined }): Waiting | undefined {
    if (message.kind === 'notification' && /list_changed$|\/updated$/.test(message.method)) return undefined;
    const all = [...this.#waiting.values()];
    const params = message.params === undefined ? undefined : parseJson(message.params);
    const token = isObject(params) ? params['progressToken'] : undefined;
    if (token === undefined) return all.at(-1);
    return all.find(({ request }) => {
      const sent = request.params === undefined ? undefined : parseJson(request.params);
      const meta = isObject(sent) && isObject(sent['_meta']) ? sent['_meta'] : {};
      return meta['progressToken'] === token;
    });
  }

  #end(fault: ServerFault): void {
    this.#lost ??= fault;
    this.#endpoint.reject(fault);
    for (const waiting of [...this.#waiting.values()]) waiting.reject(fault);
    this.#closed.abort();
  }
}
