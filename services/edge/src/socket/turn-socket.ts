/** One WebSocket connection: its turns one after another, its pings, its age, and its end. */
import type { IncomingMessage } from 'node:http';
import type { SocketSession } from '@model-gateway/protocols';
import type { Rostered } from '@model-gateway/roster';
import type { RawData, WebSocket } from 'ws';
import { call } from '../call.ts';
import type { DoorMatch } from '../http/doors.ts';
import type { Room } from '../room.ts';
import { type TurnHeaders, turnRequest } from './turn-request.ts';
import { TurnResponse } from './turn-response.ts';

/** The vendor's own. */
const longestLifeMs = 60 * 60 * 1000;
/** A peer that answers no ping for this many of them is gone. */
const missedPings = 2;

const closeCodes = { normal: 1000, goingAway: 1001, unsupportedData: 1003 } as const;

export class TurnSocket implements Rostered {
  place = -1;
  readonly #socket: WebSocket;
  readonly #upgrade: IncomingMessage;
  readonly #headers: TurnHeaders;
  readonly #session: SocketSession;
  readonly #match: DoorMatch;
  readonly #room: Room;
  readonly #pings: NodeJS.Timeout;
  readonly #life: NodeJS.Timeout;
  #turn: TurnResponse | null = null;
  #unanswered = 0;
  #tooOld = false;

  constructor(socket: WebSocket, upgrade: IncomingMessage, headers: TurnHeaders, session: SocketSession, match: DoorMatch, room: Room) {
    this.#socket = socket;
    this.#upgrade = upgrade;
    this.#headers = headers;
    this.#session = session;
    this.#match = match;
    this.#room = room;
    this.#pings = setInterval(() => this.#ping(), room.config.keepAliveMs).unref();
    this.#life = setTimeout(() => this.#age(), longestLifeMs).unref();
    room.sockets.add(this);
    socket.on('message', (data, isBinary) => this.#hear(data, isBinary));
    socket.on('pong', () => {
      this.#unanswered = 0;
    });
    // Told as `close` too; what broke a caller's connection is no news here.
    socket.on('error', () => socket.terminate());
    socket.on('close', () => this.#closed());
  }

  /** This process leaves: at once, or when the turn under way has ended. */
  drain(): void {
    if (!this.#turn) this.#socket.close(closeCodes.goingAway, 'The gateway is shutting down.');
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #hear(data: RawData, isBinary: boolean): void {
    this.#unanswered = 0;
    if (isBinary) return this.#socket.close(closeCodes.unsupportedData, 'Frames must be text.');
    if (this.#turn) return this.#send(this.#session.busy());
    const input = this.#session.read(data.toString());
    if ('answer' in input) return input.answer.forEach((frame) => this.#send(frame));
    const turn = new TurnResponse(this.#socket, this.#session);
    this.#turn = turn;
    turn.on('error', () => this.#socket.terminate());
    turn.on('close', () => this.#turnOver());
    void call(
      turnRequest(this.#upgrade, this.#headers, input.body),
      turn.asServerResponse(),
      this.#match,
      new URLSearchParams(this.#upgrade.url?.split('?', 2)[1]),
      this.#room,
    );
  }

  #send(frame: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(frame);
  }

  #turnOver(): void {
    // Its end was broken off: the caller must not take what it has for a reply.
    if (!this.#turn?.writableFinished) this.#socket.terminate();
    this.#turn = null;
    if (this.#room.draining) this.drain();
    else if (this.#tooOld) this.#age();
  }

  #age(): void {
    this.#tooOld = true;
    if (this.#turn) return;
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
    this.#room.sockets.remove(this);
    // The caller left: the call hears it as it would of a closed connection.
    this.#turn?.destroy();
  }
}
