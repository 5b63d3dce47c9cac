/** A session that an upstream has begun: frames pass both ways as they are, each side no faster than the other reads. */
import type { ServerStream } from '@model-gateway/bus';
import { frameFlag, type RealtimeControl, type SocketClose } from '@model-gateway/contracts';
import type { ErrorCode } from '@model-gateway/contracts/errors';
import { localCodes } from './close-codes.ts';
import type { EarlyFrame } from './early-frames.ts';
import type { Begun } from './find-upstream.ts';
import type { SessionRecord } from './session-record.ts';

type Stream = ServerStream<'translator.realtime'>;

const pingMs = 15_000;
/** A peer that answers no ping for this many of them is gone. */
const missedPings = 2;
/** After the close frame the upstream has this long to answer it. */
const closeDelayMs = 1000;

export interface RelayEnd {
  readonly close: SocketClose;
  /** null: closed properly. */
  readonly errorCode: string | null;
  /** What ended a response that still ran, where that was the gateway and not the caller. */
  readonly cutBy?: 'draining' | 'timeout';
}

/** Where what is seen of a session goes. */
export interface RelayNotes {
  readonly record: SessionRecord;
  /** The upstream can resume the session by this. */
  keepHandle(handle: string): void;
}

export class Relay {
  readonly #begun: Begun;
  readonly #stream: Stream;
  readonly #record: SessionRecord;
  readonly #keepHandle: RelayNotes['keepHandle'];
  readonly #resolve: (end: RelayEnd) => void;
  readonly #pings: NodeJS.Timeout;
  #leaveTimer: NodeJS.Timeout | undefined;
  /** What the gateway wants to close it with, once no response is running. */
  #leaving: { close: SocketClose; errorCode: ErrorCode | null } | null = null;
  #unanswered = 0;
  #over = false;

  constructor(begun: Begun, stream: Stream, { record, keepHandle }: RelayNotes, resolve: (end: RelayEnd) => void) {
    this.#begun = begun;
    this.#stream = stream;
    this.#record = record;
    this.#keepHandle = keepHandle;
    this.#resolve = resolve;
    const { socket } = begun;
    this.#pings = setInterval(() => this.#ping(), pingMs).unref();
    socket.on('pong', () => {
      this.#unanswered = 0;
    });
    socket.on('close', (code: number, reason: Buffer) => this.#closed(code, reason.toString('utf8')));
    stream.onWritable(() => socket.resume());
  }

  /** `settings`: what the session begins with, before any frame of the caller's. */
  start(early: readonly EarlyFrame[], settings: Readonly<Record<string, unknown>> | null = null): void {
    const { socket, realtime, route } = this.#begun;
    socket.resume();
    for (const { bytes, isBinary } of this.#begun.takeOver()) this.#down(bytes, isBinary);
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#down(data, isBinary));
    if (settings && !this.#over) socket.send(realtime.rewrite(Buffer.from(realtime.writeSettings(settings)), route.target), { binary: false });
    for (const { bytes, flags } of early) this.up(bytes, flags, 0);
  }

  /** A whole message of the caller's. `consumed`: bytes of credit to give back once it is written. */
  up(message: Buffer, flags: number, consumed: number): void {
    if (this.#over) return;
    if ((flags & frameFlag.control) !== 0) {
      this.#stream.consumed(consumed);
      return this.#control(message);
    }
    const isText = (flags & frameFlag.text) !== 0;
    const { realtime, route, socket } = this.#begun;
    let frame = message;
    if (isText || realtime.jsonInBinary) {
      const ask = realtime.readAsk(message);
      if (ask) this.#record.asked(ask);
      frame = realtime.rewrite(message, route.target);
    }
    this.#record.upBytes += message.length;
    socket.send(frame, { binary: !isText }, () => {
      if (consumed > 0) this.#stream.consumed(consumed);
    });
  }

  #control(message: Buffer): void {
    const { close, withinMs, errorCode } = JSON.parse(message.toString('utf8')) as RealtimeControl;
    if (withinMs === undefined) return this.#finish({ close, errorCode: close.code === 1006 ? 'client_gone' : null }, close, true);
    this.leave(close, withinMs, errorCode);
  }

  /**
   * The gateway ends the session: once no response is running, and after this many milliseconds at the latest. What comes after the first is ignored.
   * `errorCode` says in the session's row what was wrong.
   */
  leave(close: SocketClose, withinMs: number, errorCode: ErrorCode | null = null): void {
    if (this.#leaving || this.#over) return;
    this.#leaving = { close, errorCode };
    this.#leaveTimer = setTimeout(() => this.#leave(), withinMs).unref();
    if (!this.#record.responding) this.#leave();
  }

  #leave(): void {
    if (this.#leaving) this.#finish({ ...this.#leaving, cutBy: this.#leaving.close.code === 1001 ? 'draining' : 'timeout' }, { code: 1000, reason: '' });
  }

  #down(data: Buffer, isBinary: boolean): void {
    if (this.#over) return;
    this.#unanswered = 0;
    this.#record.downBytes += data.length;
    if (!this.#stream.data(data, isBinary ? frameFlag.messageEnd : frameFlag.messageEnd | frameFlag.text)) this.#begun.socket.pause();
    const { realtime } = this.#begun;
    const notice = isBinary && !realtime.jsonInBinary ? null : realtime.readNotice(data);
    if (!notice) return;
    if (notice.kind === 'turn' && notice.handle !== undefined) this.#keepHandle(notice.handle);
    this.#record.noticed(notice);
    if (this.#leaving && !this.#record.responding) this.#leave();
  }

  /** The caller, or who stands for it, is gone without a word. */
  abandon(errorCode: string): void {
    this.#finish({ close: { code: 1006, reason: '' }, errorCode }, { code: 1006, reason: 'The client connection was lost.' });
  }

  /** Ends both sides; what the upstream sends meanwhile is not read. */
  end(close: SocketClose, errorCode: string | null): void {
    this.#finish({ close, errorCode }, { code: 1000, reason: '' });
  }

  #closed(code: number, reason: string): void {
    this.#finish({ close: { code, reason }, errorCode: code === 1006 ? 'upstream_broken' : null }, null);
  }

  /** `toUpstream` null: it has closed already. `patient`: it may read what was sent before, however slowly; the library's limit holds. */
  #finish(end: RelayEnd, toUpstream: SocketClose | null, patient = false): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#pings);
    clearTimeout(this.#leaveTimer);
    const { socket } = this.#begun;
    if (toUpstream) {
      const { code, reason } = toUpstream;
      // Its answer to the close frame has to be read.
      socket.resume();
      if (code === 1005) socket.close();
      else socket.close(localCodes.has(code) ? 1011 : code, reason);
      if (!patient) setTimeout(() => socket.terminate(), closeDelayMs).unref();
    }
    this.#resolve(end);
  }

  #ping(): void {
    const { socket } = this.#begun;
    // An upstream that is not read because the caller does not read has no way to answer.
    if (socket.isPaused) {
      this.#unanswered = 0;
      return;
    }
    if (this.#unanswered++ >= missedPings) return socket.terminate();
    socket.ping();
  }
}
