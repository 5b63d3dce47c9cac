/** How realtime sessions are opened: everything that can be refused is refused over HTTP, then the handshake is accepted. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Snapshot } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { type Protocol, realtimePaths } from '@model-gateway/protocols';
import { WebSocketServer } from 'ws';
import type { Principal } from '../admission/credentials.ts';
import { innerHeaders } from '../admission/request-headers.ts';
import type { EdgeContext } from '../context.ts';
import { type AdmittedSession, admitSession, isStillGranted, noteViolation } from './admit-session.ts';
import { SessionEntry } from './session-entry.ts';
import { maxFrameBytes, SessionSocket } from './session-socket.ts';

/** The protocol spoken at a path (without a query); undefined: no session is opened there. */
export const realtimeProtocolAt = (path: string): Protocol | undefined => realtimePaths.find((known) => known.path === path)?.protocol;

/** The answer there to a request that opens no WebSocket. */
export const notASocket = (): GatewayError =>
  new GatewayError('invalid_request', {
    status: 426,
    message: 'This path takes WebSockets alone.',
    headers: { upgrade: 'websocket', connection: 'Upgrade' },
  });

/** The one subprotocol that is spoken; a browser's key is another item, and is never echoed. */
const subprotocol = 'realtime';

/** What is shared with the handshakes of other WebSockets. */
export interface Handshakes {
  /** Throws for callers who may open no connection. */
  admit(request: IncomingMessage): Promise<{ snapshot: Snapshot; principal: Principal }>;
  isStillAdmitted(request: IncomingMessage): boolean;
  refuse(socket: Duplex, request: IncomingMessage, error: GatewayError, requestId?: string): void;
}

/** A handshake with the caller's connection. */
interface Opening {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

export class RealtimeListener {
  readonly #context: EdgeContext;
  readonly #handshakes: Handshakes;
  readonly #server: WebSocketServer;
  #open = 0;

  constructor(context: EdgeContext, handshakes: Handshakes) {
    this.#context = context;
    this.#handshakes = handshakes;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: maxFrameBytes,
      perMessageDeflate: false,
      handleProtocols: (names) => (names.has(subprotocol) ? subprotocol : false),
    });
    this.#server.on('wsClientError', (error: Error, socket: Duplex, request: IncomingMessage) =>
      handshakes.refuse(socket, request, new GatewayError('invalid_request', { message: `This is no WebSocket handshake: ${error.message}.` })),
    );
  }

  /** Never rejects. */
  async open(opening: Opening, protocol: Protocol): Promise<void> {
    const entry = new SessionEntry(opening.request, protocol, this.#context);
    try {
      const { snapshot, principal } = await this.#handshakes.admit(opening.request);
      if (this.#open >= this.#context.config.realtimeMaxSessions)
        throw new GatewayError('overloaded', { message: 'The gateway is at its limit of realtime sessions.' });
      const admitted = await admitSession(entry, snapshot, principal, this.#context);
      await this.#connect(opening, entry, principal, admitted);
    } catch (error) {
      this.#refuse(opening, entry, toGatewayError(error));
    }
  }

  async #connect(opening: Opening, entry: SessionEntry, principal: Principal, { slot, plan }: AdmittedSession): Promise<void> {
    const { request, socket } = opening;
    this.#open++;
    const released = (): void => {
      this.#open--;
      slot.release();
    };
    const mayStay = (): boolean => {
      const snapshot = this.#context.catalog.current();
      return !snapshot || (this.#handshakes.isStillAdmitted(request) && isStillGranted(entry, principal, snapshot));
    };
    const session = new SessionSocket({ entry, principal, mayStay, released }, this.#context);
    const left = (): void => session.abandon();
    if (socket.destroyed) {
      left();
      throw new GatewayError('client_gone');
    }
    socket.once('close', left);
    session.use(
      this.#context.bus.open(
        'translator.realtime',
        {
          id: entry.id,
          clientRequestId: entry.clientRequestId,
          startedAt: entry.startedAt,
          accessKey: principal.key.name,
          keyGroup: principal.group.name,
          clientProtocol: entry.protocol.id,
          requestedModel: entry.requestedModel ?? '',
          headers: innerHeaders(request),
          clientIp: entry.clientIp,
          ...(entry.sessionId !== null && { sessionId: entry.sessionId }),
          plan,
          queueMs: entry.elapsedMs(),
          maxFrameBytes,
        },
        session,
      ),
    );
    await session.opened;
    socket.off('close', left);
    if (session.failure) throw session.failure;
    this.#accept(opening, entry, session);
  }

  #accept({ request, socket, head }: Opening, entry: SessionEntry, session: SessionSocket): void {
    let accepted = false;
    const addId = (headers: string[]): void => void headers.push(`X-Request-Id: ${entry.id}`);
    this.#server.once('headers', addId);
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      accepted = true;
      session.attach(webSocket);
    });
    this.#server.off('headers', addId);
    // It left meanwhile, or what it sent is no handshake: that has been answered.
    if (!accepted) session.abandon();
  }

  #refuse({ request, socket }: Opening, entry: SessionEntry, error: GatewayError): void {
    if (error.code === 'internal') this.#context.reporting.logger.error({ request: entry.id, error: error.cause ?? error }, 'defect in a handshake');
    noteViolation(entry, error, this.#context);
    entry.publish(error.status, error);
    this.#handshakes.refuse(socket, request, error, entry.id);
  }
}
