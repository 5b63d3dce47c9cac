/**
 * How realtime sessions are opened: everything that can be refused is refused over HTTP, then the handshake is accepted. Where a frame names the model,
 * the handshake comes first, and what is refused then is refused by an error and a close.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Snapshot } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { type RealtimePath, realtimePaths } from '@model-gateway/protocols';
import { WebSocketServer } from 'ws';
import type { Slot } from '../admission/capacity.ts';
import type { Principal } from '../admission/credentials.ts';
import type { PresentCaller } from '../admission/present-caller.ts';
import { innerHeaders } from '../admission/request-headers.ts';
import type { EdgeContext } from '../context.ts';
import type { RequestIds } from '../http/request-ids.ts';
import { acceptHandshake, type Opening } from '../socket/accept-handshake.ts';
import { type AdmittedSession, admitSession, isStillGranted, noteViolation } from './admit-session.ts';
import { FirstFrames } from './first-frames.ts';
import { SessionEntry } from './session-entry.ts';
import { maxFrameBytes, SessionSocket } from './session-socket.ts';
import type { ShortLivedKey } from './short-lived-keys.ts';
import { kindOf, modelOf } from './what-is-asked.ts';

/** What is opened at a path (without a query); undefined: no session is opened there. */
export const realtimeAt = (path: string): RealtimePath | undefined => realtimePaths.find((known) => known.path === path);

/** The answer there to a request that opens no WebSocket. */
export const notASocket = (): GatewayError =>
  new GatewayError('invalid_request', {
    status: 426,
    message: 'This path takes WebSockets alone.',
    headers: { upgrade: 'websocket', connection: 'Upgrade' },
  });

/** The one subprotocol that is spoken; a browser's key is another item, and is never echoed. */
const subprotocol = 'realtime';

/** Who opens a session. */
export interface SessionCaller {
  readonly snapshot: Snapshot;
  readonly principal: Principal;
  readonly shortLived: ShortLivedKey | null;
  readonly presentCaller: PresentCaller;
}

/** A handshake whose caller is known. */
interface KnownOpening {
  readonly opening: Opening;
  readonly entry: SessionEntry;
  readonly caller: SessionCaller;
  /** Gives back its place among the sessions; may be called more than once. */
  leave(): void;
}

/** What is shared with the handshakes of other WebSockets. */
export interface Handshakes {
  /** Throws for callers who may open no connection. */
  admit(request: IncomingMessage): Promise<SessionCaller>;
  refuse(socket: Duplex, request: IncomingMessage, error: GatewayError, ids?: RequestIds): void;
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
      handshakes.refuse(socket, request, new GatewayError('invalid_request', { message: `This is not a WebSocket handshake: ${error.message}.` })),
    );
  }

  /** Never rejects. */
  async open(opening: Opening, path: RealtimePath): Promise<void> {
    const entry = new SessionEntry(opening.request, path, this.#context);
    let leave: (() => void) | undefined;
    try {
      const caller = await this.#handshakes.admit(opening.request);
      leave = this.#enter();
      const known = { opening, entry, caller, leave };
      entry.principal = caller.principal;
      entry.trace(caller.principal);
      await this.#context.admission.rateLimits.admitKey(caller.principal);
      const query = new URLSearchParams(opening.request.url?.split('?', 2)[1]);
      entry.kind = kindOf(path, query, caller.shortLived);
      const { adapter } = entry;
      if (!adapter) throw new GatewayError('not_found');
      entry.requestedModel = modelOf(adapter, query, caller.shortLived, caller.snapshot);
      if (entry.requestedModel === null && adapter.firstFrame) return this.#await(known, new FirstFrames(adapter.firstFrame, adapter.jsonInBinary));
      await this.#connect(known, await admitSession(entry, caller.snapshot, caller.principal, this.#context));
    } catch (error) {
      leave?.();
      this.#refuse(opening, entry, toGatewayError(error));
    }
  }

  /** Takes a place at once, since many handshakes may be under way: returns how to give it back. Throws where there is none. */
  #enter(): () => void {
    if (this.#open >= this.#context.config.realtimeMaxSessions)
      throw new GatewayError('overloaded', { message: 'The gateway is at its limit of realtime sessions.' });
    this.#open++;
    let left = false;
    return () => {
      if (!left) this.#open--;
      left = true;
    };
  }

  async #connect(known: KnownOpening, { slot, plan }: AdmittedSession): Promise<void> {
    const { opening, entry, caller } = known;
    const { socket } = opening;
    const session = this.#sessionOf(known, () => slot);
    const left = (): void => session.abandon();
    if (socket.destroyed) {
      left();
      throw new GatewayError('client_gone');
    }
    socket.once('close', left);
    this.#relay(session, entry, caller, plan);
    await session.opened;
    socket.off('close', left);
    if (session.failure) throw session.failure;
    // It left meanwhile, or what it sent is not a handshake: that has been answered.
    if (!this.#accept(opening, entry, session)) session.abandon();
  }

  /** The handshake is accepted, and the model read from the first frames. */
  #await(known: KnownOpening, first: FirstFrames): void {
    const { opening, entry, caller } = known;
    let slot: Slot | undefined;
    const session = this.#sessionOf(known, () => slot, first);
    if (!this.#accept(opening, entry, session)) return session.abandon();
    const admitting = async (): Promise<void> => {
      entry.requestedModel = await first.model;
      const principal = caller.presentCaller();
      if (!principal) throw new GatewayError('unauthorized');
      entry.principal = principal;
      const admitted = await admitSession(entry, this.#context.catalog.current() ?? caller.snapshot, principal, this.#context);
      slot = admitted.slot;
      if (session.isOver) {
        slot.release();
        throw new GatewayError('client_gone');
      }
      this.#relay(session, entry, { ...caller, principal }, admitted.plan);
    };
    admitting().catch((cause: unknown) => {
      const error = toGatewayError(cause);
      this.#record(entry, error);
      session.broken(error);
    });
  }

  #sessionOf({ entry, caller, leave }: KnownOpening, slot: () => Slot | undefined, first?: FirstFrames): SessionSocket {
    const released = (): void => {
      leave();
      slot()?.release();
    };
    const presentCaller = (): Principal | null => {
      const principal = caller.presentCaller();
      const snapshot = this.#context.catalog.current();
      return principal && (!snapshot || isStillGranted(entry, principal, snapshot)) ? principal : null;
    };
    return new SessionSocket({ entry, presentCaller, released, ...(first && { first }) }, this.#context);
  }

  #relay(session: SessionSocket, entry: SessionEntry, { principal, shortLived }: SessionCaller, plan: AdmittedSession['plan']): void {
    session.use(
      this.#context.bus.open(
        'translator.realtime',
        {
          id: entry.id,
          clientRequestId: entry.clientRequestId,
          startedAt: entry.startedAt,
          accessKey: principal.key.name,
          accessKeyHash: principal.key.hash,
          keyGroup: principal.group.name,
          ...(entry.kind !== 'realtime' && { kind: entry.kind }),
          ...(entry.version !== undefined && { version: entry.version }),
          ...(shortLived && { shortLived: { carried: shortLived.carried, parentHash: principal.key.hash } }),
          clientProtocol: entry.protocol.id,
          requestedModel: entry.requestedModel ?? '',
          headers: innerHeaders(entry.request),
          clientIp: entry.clientIp,
          ...(entry.sessionId !== null && { sessionId: entry.sessionId }),
          plan,
          queueMs: entry.elapsedMs(),
          ...(entry.traceparent !== undefined && { traceparent: entry.traceparent }),
          maxFrameBytes,
        },
        session,
      ),
    );
  }

  /** false: there is no connection any more, or no handshake on it. */
  #accept(opening: Opening, entry: SessionEntry, session: SessionSocket): boolean {
    let accepted = false;
    acceptHandshake(this.#server, opening, { ids: entry, client: entry.protocol.client }, (webSocket) => {
      accepted = true;
      webSocket.once('close', () => entry.endTrace(101, null));
      session.attach(webSocket);
    });
    if (!accepted) entry.endTrace(499, 'client_gone');
    return accepted;
  }

  #refuse({ request, socket }: Opening, entry: SessionEntry, error: GatewayError): void {
    this.#record(entry, error);
    this.#handshakes.refuse(socket, request, error, entry);
  }

  #record(entry: SessionEntry, error: GatewayError): void {
    if (error.code === 'internal') this.#context.reporting.logger.error({ request: entry.id, error: error.cause ?? error }, 'defect in a handshake');
    noteViolation(entry, error, this.#context);
    entry.publish(error.status, error);
  }
}
