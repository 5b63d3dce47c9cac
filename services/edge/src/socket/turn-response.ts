/** The answer to a turn: what would be written to an HTTP reply leaves as frames, with the socket's back-pressure. */
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import type { SocketTurn } from '@model-gateway/protocols';
import { createSseParser } from '@model-gateway/stream-framing';
import type { WebSocket } from 'ws';

/** Of one event; the translator's own cap. */
const maxEventBytes = 16 * 1024 * 1024;
/** Bytes that may wait in the socket before the upstream is slowed down. */
const highWater = 64 * 1024;

/** What of a `ServerResponse` a call uses; the rest of a stream is `Writable`'s. */
export class TurnResponse extends Writable {
  readonly #socket: WebSocket;
  readonly #turn: SocketTurn;
  readonly #parser = createSseParser({ maxEventBytes });
  #stream = false;
  #parts: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  statusCode = 200;
  headersSent = false;
  /** The connection is to be closed as failed, so that the caller repeats the turn. */
  brokenOff = false;

  constructor(socket: WebSocket, turn: SocketTurn) {
    super({ highWaterMark: highWater });
    this.#socket = socket;
    this.#turn = turn;
    this.on('close', () => clearTimeout(this.#timer));
  }

  /** For the call, which knows replies as Node's server gives them. */
  asServerResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }

  /** `headers`: name, value, name, value. */
  writeHead(status: number, headers: readonly string[]): this {
    this.statusCode = status;
    this.headersSent = true;
    const type = headers.find((_value, at) => at % 2 === 1 && headers[at - 1] === 'content-type');
    this.#stream = status === 200 && type?.startsWith('text/event-stream') === true;
    return this;
  }

  setTimeout(ms: number, callback: () => void): this {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(callback, ms).unref();
    return this;
  }

  /** Frames that were written still arrive before the connection's end. */
  breakOff(): void {
    this.brokenOff = true;
    this.destroy();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    if (!this.#stream) {
      this.#parts.push(chunk);
      return done();
    }
    try {
      this.#send(this.#parser.push(chunk), done);
    } catch (error) {
      done(error instanceof Error ? error : new Error('unreadable stream'));
    }
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#stream) return this.#send(this.#parser.finish(), done);
    this.#socket.send(this.#turn.writeError(this.statusCode, Buffer.concat(this.#parts).toString('utf8')), done);
  }

  /** Comments (keep-alives) are not records: the socket has its own pings. */
  #send(records: readonly { event?: string | undefined; data: string }[], done: (error?: Error | null) => void): void {
    const events = records.filter(({ data }) => data.startsWith('{'));
    if (events.length === 0) return done();
    events.forEach(({ event, data }, at) => {
      this.#socket.send(this.#turn.frame(event, data), at === events.length - 1 ? done : undefined);
    });
  }
}
