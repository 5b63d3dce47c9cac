/** A server of the revision without sessions: every request says all there is to know, and closing its reply cancels it. */
import type { Outbound } from '@model-gateway/upstream-client';
import { encodeHeaderValue } from '../protocol/header-values.ts';
import { printNotification, printRequest } from '../protocol/json-rpc.ts';
import { modernVersion } from '../protocol/versions.ts';
import { type ServerEvent, ServerFault, sendHttp } from './http.ts';
import { handshakeMs, type Peer, type PeerInfo, type PeerReply, type PeerRequest, type Target } from './peer.ts';
import { ReplyReader, readWhole } from './session-peer.ts';

export interface ModernOptions {
  outbound: Outbound;
  target: () => Target;
  info: PeerInfo;
}

export class ModernPeer implements Peer {
  readonly era = 'modern';
  readonly hasState = false;
  readonly info: PeerInfo;
  readonly #outbound: Outbound;
  readonly #target: () => Target;
  #nextId = 1;

  constructor({ outbound, target, info }: ModernOptions) {
    this.#outbound = outbound;
    this.#target = target;
    this.info = info;
  }

  async request(request: PeerRequest): Promise<PeerReply> {
    const id = String(this.#nextId++);
    const wait = new ReplyReader(id, request);
    const { url, headers } = this.#target();
    const reply = await sendHttp(
      this.#outbound,
      {
        method: 'POST',
        url,
        headers: { ...headers, ...this.#standardHeaders(request.method, request.name), ...request.headers },
        body: printRequest(id, request.method, request.params),
        answerMs: request.silenceMs,
        idleMs: request.silenceMs,
        signal: request.signal,
      },
      { event: (event: ServerEvent) => wait.read(event) },
    );
    if (!reply.streamed) return readWhole(reply, id);
    if (wait.answer) return wait.answer;
    throw new ServerFault('The server ended its reply before the answer came.');
  }

  async notify(method: string, params: string | undefined): Promise<void> {
    const { url, headers } = this.#target();
    const own = { ...headers, ...this.#standardHeaders(method, undefined) };
    const body = printNotification(method, params);
    await sendHttp(this.#outbound, {
      method: 'POST',
      url,
      headers: own,
      body,
      answerMs: handshakeMs,
      idleMs: handshakeMs,
      signal: AbortSignal.timeout(handshakeMs),
    });
  }

  /** Servers of this revision ask nothing. */
  async answer(): Promise<void> {}

  async close(): Promise<void> {}

  #standardHeaders(method: string, name: string | undefined): Record<string, string> {
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': this.info.version || modernVersion,
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': encodeHeaderValue(name) }),
    };
  }
}
