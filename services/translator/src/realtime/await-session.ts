/** An accepted WebSocket until its upstream begins the session, or fails to: until then it may still be exchanged for another. */
import type { SocketClose } from '@model-gateway/contracts';
import type { UpstreamFault } from '@model-gateway/protocols';
import type { DialContext, Dialled, Frame, LastWords, UpstreamSocket } from './dialled.ts';

const beginMs = 15_000;
/** The close that belongs to an error comes at once, or not at all. */
const closeDelayMs = 1000;
/** Of frames before the session. */
const maxHeldBytes = 1024 * 1024;

/** Sends what the session opens with, and resolves with the session or with why there is none. */
export function awaitSession(socket: UpstreamSocket, context: DialContext, resolve: (dialled: Dialled) => void): void {
  const { opening, realtime, route } = context;
  new Beginning(socket, context, resolve);
  if (opening) socket.send(realtime.rewrite(opening.bytes, route.target), { binary: opening.isBinary });
  socket.resume();
}

class Beginning {
  readonly #socket: UpstreamSocket;
  readonly #context: DialContext;
  readonly #resolve: (dialled: Dialled) => void;
  readonly #late: NodeJS.Timeout;
  readonly #frames: Frame[] = [];
  #heldBytes = 0;
  #begun = false;

  constructor(socket: UpstreamSocket, context: DialContext, resolve: (dialled: Dialled) => void) {
    this.#socket = socket;
    this.#context = context;
    this.#resolve = resolve;
    this.#late = setTimeout(
      () => this.#fail({ class: 'timeout', code: 'timeout_first-byte', message: 'The upstream began no session in time.' }),
      context.route.timeouts.first_byte_ms ?? beginMs,
    );
    // `close` follows.
    socket.on('error', () => {});
    socket.on('message', this.#hear);
    socket.on('close', this.#closed);
  }

  readonly #hear = (bytes: Buffer, isBinary: boolean): void => {
    const frame = { bytes, isBinary };
    this.#frames.push(frame);
    // More frames may have come with the one that began it.
    if (this.#begun) return;
    const { realtime, opening } = this.#context;
    const notice = isBinary && !realtime.jsonInBinary ? null : realtime.readNotice(bytes);
    if (notice?.kind === 'session') return this.#begin();
    if (notice?.kind === 'error') {
      const { fault } = notice;
      // Where nothing that the caller sent has reached the upstream, whatever it finds wrong, another may do better.
      return this.#refused(fault.class === 'caller' && !opening ? { ...fault, class: 'server' } : fault, frame);
    }
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > maxHeldBytes) this.#overrun();
  };

  readonly #closed = (code: number, bytes: Buffer): void => {
    const reason = bytes.toString('utf8');
    const said = this.#context.realtime.readClose?.(code, reason);
    const fault: UpstreamFault = { class: 'server', message: 'The upstream closed the session before it began.', ...said, code: `closed_${code}` };
    this.#fail(fault, { error: null, closed: Promise.resolve({ code, reason }) });
  };

  #begin(): void {
    this.#begun = true;
    clearTimeout(this.#late);
    this.#socket.pause();
    this.#resolve({
      socket: this.#socket,
      takeOver: () => {
        this.#stopListening();
        return this.#frames;
      },
    });
  }

  /** Another upstream need not wait for this one to close. */
  #refused(fault: UpstreamFault, error: Frame): void {
    const socket = this.#socket;
    const closed = new Promise<SocketClose>((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString('utf8') }));
    });
    setTimeout(() => socket.terminate(), closeDelayMs).unref();
    this.#settle({ fault, status: 101, lastWords: { error, closed } });
  }

  #overrun(): void {
    const message = 'The upstream sent too much before the session began.';
    this.#fail({ class: 'server', code: 'too_much_held', message }, { error: null, closed: Promise.resolve({ code: 1013, reason: message }) });
  }

  #fail(fault: UpstreamFault, lastWords?: LastWords): void {
    this.#settle({ fault, status: 101, ...(lastWords && { lastWords }) });
    this.#socket.terminate();
  }

  #settle(dialled: Dialled): void {
    clearTimeout(this.#late);
    this.#stopListening();
    this.#resolve(dialled);
  }

  #stopListening(): void {
    this.#socket.off('message', this.#hear);
    this.#socket.off('close', this.#closed);
  }
}
