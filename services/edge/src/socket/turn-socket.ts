/** One WebSocket connection: its turns, those of one lane one after another, its pings, its age, and its end. */
import type { IncomingMessage } from 'node:http';
import type { SocketRequest, SocketSession } from '@model-gateway/protocols';
import type { RawData, WebSocket } from 'ws';
import { BudgetWatch } from '../admission/budget-watch.ts';
import type { PresentCaller } from '../admission/present-caller.ts';
import { call } from '../call.ts';
import type { EdgeContext } from '../context.ts';
import type { ClientRouteMatch } from '../http/client-routes.ts';
import type { OpenSocket } from '../open-connections.ts';
import { ArrivingBytes } from './arriving-bytes.ts';
import { type TurnHeaders, turnRequest } from './turn-request.ts';
import { TurnResponse } from './turn-response.ts';

/** The vendor's own. */
const maxLifetimeMs = 60 * 60 * 1000;
/** A peer that answers no ping for this many of them is gone. */
const missedPings = 2;
/** Turns under way at once, as the vendor has it. */
const maxTurns = 16;
/** Requests that wait for their turn. */
const maxWaiting = 32;
/** Bytes that may wait for a peer to read them when it sends what is answered at once. */
const maxUnread = 1024 * 1024;

/** After the close frame a peer has this long to read it. */
const closeDelayMs = 1000;

/** A turn under way when its caller's key is revoked, or its budget spent, may end, but not go on for longer than this. */
const lastTurnMs = 4000;

const closeCodes = { normal: 1000, goingAway: 1001, unsupportedData: 1003, policyViolation: 1008, internalError: 1011, tryAgainLater: 1013 } as const;

/** Who opened the connection. */
export interface SocketCaller {
  upgrade: IncomingMessage;
  headers: TurnHeaders;
  match: ClientRouteMatch;
  presentCaller: PresentCaller;
}

export class TurnSocket implements OpenSocket {
  index = -1;
  readonly #socket: WebSocket;
  readonly #upgrade: IncomingMessage;
  readonly #headers: TurnHeaders;
  readonly #session: SocketSession;
  readonly #match: ClientRouteMatch;
  readonly #context: EdgeContext;
  readonly #presentCaller: PresentCaller;
  readonly #budget: BudgetWatch;
  /** When its caller was found to have lost access, and why. */
  #lost: { at: number; reason: string } | null = null;
  readonly #pings: NodeJS.Timeout;
  readonly #life: NodeJS.Timeout;
  /** Under way, by lane. */
  readonly #turns = new Map<string, TurnResponse>();
  /** In the order they came; each holds its bytes of the budget of bodies. */
  #waiting: { request: SocketRequest; bytes: number }[] = [];
  readonly #arriving: ArrivingBytes;
  #unanswered = 0;
  #tooOld = false;
  /** When its peer was notified that this process shuts down. */
  #leftAt = Number.POSITIVE_INFINITY;

  constructor(socket: WebSocket, { upgrade, headers, match, presentCaller }: SocketCaller, session: SocketSession, context: EdgeContext) {
    this.#presentCaller = presentCaller;
    this.#budget = new BudgetWatch(context);
    this.#socket = socket;
    this.#upgrade = upgrade;
    this.#headers = headers;
    this.#session = session;
    this.#match = match;
    this.#context = context;
    this.#arriving = new ArrivingBytes(context.admission.bodyBudget);
    this.#pings = setInterval(() => this.#guard(() => this.#ping()), context.config.keepAliveMs).unref();
    this.#life = setTimeout(() => this.#guard(() => this.#age()), maxLifetimeMs).unref();
    context.connections.sockets.add(this);
    // Before the library takes it, and perhaps finds a message complete.
    upgrade.socket.prependListener('data', (chunk: Buffer) => {
      if (!this.#arriving.take(chunk.length)) this.#turnAway();
    });
    socket.on('message', (data, isBinary) => {
      this.#arriving.release();
      this.#guard(() => this.#receive(data, isBinary));
    });
    socket.on('pong', (data) => {
      this.#arriving.releaseControl(data.length);
      this.#unanswered = 0;
    });
    // Answered by the library.
    socket.on('ping', (data) => {
      this.#arriving.releaseControl(data.length);
      this.#awaitReader();
    });
    // `close` follows; the reason why a caller's connection broke is of no interest here.
    socket.on('error', () => socket.terminate());
    socket.on('close', () => this.#closed());
  }

  /** A defect costs its caller the connection, and nobody else anything. */
  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#context.reporting.logger.error({ error }, 'defect in a socket');
      this.#socket.terminate();
    }
  }

  /** There is no room for what it sends: it is not read on. */
  #turnAway(): void {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return;
    socket.close(closeCodes.tryAgainLater, 'The gateway holds too many request bodies.');
    socket.pause();
    setTimeout(() => socket.terminate(), closeDelayMs).unref();
  }

  /** This process leaves: at once, or when the turns under way have ended. Asked again, who has not closed its half meanwhile is cut off. */
  drain(): void {
    if (this.#turns.size > 0) return;
    const now = performance.now();
    if (now - this.#leftAt >= closeDelayMs) return this.#socket.terminate();
    this.#leftAt = Math.min(this.#leftAt, now);
    this.#socket.close(closeCodes.goingAway, 'The gateway is shutting down.');
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Closes the connection once its caller's key is revoked or its budget spent: when the turns under way have ended, or are cut off. */
  checkAccess(): void {
    this.#guard(() => {
      const caller = this.#lost ? null : this.#presentCaller();
      if (caller) return this.#budget.check(caller, () => this.#lose('The budget of this access key is exhausted.'));
      this.#lose('The access key may not be used any more.');
    });
  }

  /** The first reason is the one that is said. */
  #lose(reason: string): void {
    const now = performance.now();
    this.#lost ??= { at: now, reason };
    if (this.#turns.size === 0 || now - this.#lost.at >= lastTurnMs) this.#closeLost(this.#lost.reason);
  }

  #closeLost(reason: string): void {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return;
    socket.close(closeCodes.policyViolation, reason);
    setTimeout(() => socket.terminate(), closeDelayMs).unref();
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#unanswered = 0;
    if (isBinary) return this.#socket.close(closeCodes.unsupportedData, 'Frames must be text.');
    const text = data.toString();
    const input = this.#session.read(text);
    if ('answer' in input) return this.#answer(input.answer);
    if (this.#mayBegin(input)) return this.#begin(input);
    if (this.#waiting.length >= maxWaiting || !this.#context.admission.bodyBudget.take(text.length)) return this.#send(input.refuse());
    this.#waiting.push({ request: input, bytes: text.length });
  }

  #mayBegin({ lane }: SocketRequest): boolean {
    return !this.#leaves && this.#socket.readyState === this.#socket.OPEN && this.#turns.size < maxTurns && !this.#turns.has(lane);
  }

  get #leaves(): boolean {
    return this.#context.connections.draining || this.#tooOld || this.#lost !== null;
  }

  #begin(asked: SocketRequest): void {
    const begun = asked.begin();
    if ('answer' in begun) return this.#answer(begun.answer);
    const turn = new TurnResponse(this.#socket, begun.turn);
    this.#turns.set(asked.lane, turn);
    turn.on('error', () => this.#socket.terminate());
    turn.on('close', () => this.#guard(() => this.#turnOver(asked.lane, turn)));
    const request = turnRequest(this.#upgrade, this.#headers, begun.turn.body);
    const query = new URLSearchParams(this.#upgrade.url?.split('?', 2)[1]);
    const { repeats } = begun.turn;
    void call({ request, response: turn.asServerResponse(), found: this.#match, query, socket: repeats ? { repeats } : {} }, this.#context);
  }

  #beginWaiting(): void {
    for (;;) {
      const at = this.#waiting.findIndex(({ request }) => this.#mayBegin(request));
      const next = this.#waiting[at];
      if (!next) return;
      this.#waiting.splice(at, 1);
      this.#context.admission.bodyBudget.give(next.bytes);
      this.#begin(next.request);
    }
  }

  #answer(frames: readonly string[]): void {
    for (const frame of frames) this.#send(frame);
  }

  #send(frame: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(frame);
    this.#awaitReader();
  }

  /** Backpressure: a peer that does not read its answers is not read from until it does, else they would pile up here without end. */
  #awaitReader(): void {
    const socket = this.#socket;
    if (socket.isPaused || socket.bufferedAmount <= maxUnread) return;
    socket.pause();
    // It goes out behind all that waits.
    socket.ping('', false, () => socket.resume());
  }

  #turnOver(lane: string, turn: TurnResponse): void {
    // Its end was broken off: the caller must not take what it has for a reply.
    if (turn.brokenOff) this.#closeFailed();
    else if (!turn.writableFinished) this.#socket.terminate();
    this.#turns.delete(lane);
    if (!this.#leaves) return this.#beginWaiting();
    if (this.#context.connections.draining) this.drain();
    else if (!this.#lost) this.#age();
    else if (this.#turns.size === 0) this.#closeLost(this.#lost.reason);
  }

  #closeFailed(): void {
    const socket = this.#socket;
    socket.close(closeCodes.internalError, 'The reply broke off: send the request again.');
    setTimeout(() => socket.terminate(), closeDelayMs).unref();
  }

  #age(): void {
    this.#tooOld = true;
    if (this.#turns.size > 0) return;
    this.#send(this.#session.limitReached());
    this.#socket.close(closeCodes.normal, 'The connection has reached its age.');
  }

  #ping(): void {
    if (this.#unanswered++ >= missedPings) return this.#socket.terminate();
    this.#socket.ping();
  }

  #closed(): void {
    clearInterval(this.#pings);
    clearTimeout(this.#life);
    this.#context.connections.sockets.remove(this);
    this.#arriving.close();
    this.#session.close();
    for (const { bytes } of this.#waiting) this.#context.admission.bodyBudget.give(bytes);
    this.#waiting = [];
    // The caller left: its calls see a closed connection.
    for (const turn of this.#turns.values()) turn.destroy();
  }
}
