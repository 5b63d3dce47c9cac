/** One keep-alive connection that speaks HTTP/1.1 on a raw socket, so that the driver costs far less than the server under test. */
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

export interface Exchange {
  /** All times in ms of `performance.now()`. */
  sentAt: number;
  firstByteAt: number;
  /** When the first word of a stream arrived: a gateway may hold back what comes before it. */
  firstContentAt: number;
  status: number;
  bytes: number;
  arrivals: number;
  /** The last bytes of a stream, to see whether it ended properly. */
  tail: Buffer | null;
}

export interface ConnectionOptions {
  host: string;
  port: number;
  /** Head and body of the next request, ready to be sent. */
  wire(): Buffer;
  stream: boolean;
  onGap(ms: number): void;
  onDone(connection: Connection, exchange: Exchange, now: number): void;
  onFailed(connection: Connection, code: string): void;
}

const headEnd = Buffer.from('\r\n\r\n');
const tailBytes = 1500;
/** The mock's first word. */
const firstWord = Buffer.from('" the"');
type Framing = 'length' | 'chunked' | 'until-close';

export class Connection {
  readonly #options: ConnectionOptions;
  #socket: Socket | null = null;
  #busy = false;
  #headDone = false;
  #framing: Framing = 'until-close';
  /** Bytes left of the body, or of the chunk; -1 between chunks. */
  #left = 0;
  #carry: Buffer | null = null;
  #closes = false;
  #previousAt = 0;
  #exchange: Exchange = emptyExchange(0);

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  send(): void {
    this.#busy = true;
    this.#headDone = false;
    this.#carry = null;
    this.#exchange = emptyExchange(performance.now());
    if (this.#socket === null || this.#socket.destroyed || !this.#socket.writable) this.#socket = this.#dial();
    this.#socket.write(this.#options.wire());
  }

  destroy(): void {
    this.#busy = false;
    this.#socket?.destroy();
    this.#socket = null;
  }

  #dial(): Socket {
    const socket = connect({ host: this.#options.host, port: this.#options.port, noDelay: true });
    const lost = (code: string): void => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      if (!this.#busy) return;
      if (this.#headDone && this.#framing === 'until-close') this.#finish();
      else this.#fail(code);
    };
    socket.on('data', (bytes: Buffer) => this.#socket === socket && this.#read(bytes));
    socket.on('error', (error: NodeJS.ErrnoException) => lost(error.code ?? 'error'));
    socket.on('close', () => lost('closed'));
    return socket;
  }

  #read(bytes: Buffer): void {
    if (!this.#busy) return;
    const now = performance.now();
    const body = this.#headDone ? bytes : this.#readHead(bytes);
    if (body === null || body.length === 0) return;
    const exchange = this.#exchange;
    if (exchange.firstByteAt === 0) exchange.firstByteAt = now;
    else if (this.#options.stream) this.#options.onGap(now - this.#previousAt);
    if (this.#options.stream && exchange.firstContentAt === 0 && body.includes(firstWord)) exchange.firstContentAt = now;
    this.#previousAt = now;
    exchange.arrivals++;
    exchange.bytes += body.length;
    if (this.#options.stream) exchange.tail = exchange.tail === null || body.length > 64 ? body : Buffer.concat([exchange.tail.subarray(-tailBytes), body]);
    if (this.#framing === 'length') {
      this.#left -= body.length;
      if (this.#left <= 0) this.#finish();
    } else if (this.#framing === 'chunked') this.#readChunks(body);
  }

  /** What follows the head in these bytes; null while the head is not complete, or when it was the whole answer. */
  #readHead(bytes: Buffer): Buffer | null {
    const held = this.#carry === null ? bytes : Buffer.concat([this.#carry, bytes]);
    const end = held.indexOf(headEnd);
    if (end < 0) {
      this.#carry = held;
      return null;
    }
    this.#carry = null;
    const head = held.toString('latin1', 0, end);
    this.#headDone = true;
    this.#exchange.status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length:\s*(\d+)/i.exec(head)?.[1];
    this.#framing = /\r\ntransfer-encoding:\s*chunked/i.test(head) ? 'chunked' : length === undefined ? 'until-close' : 'length';
    this.#left = this.#framing === 'length' ? Number(length) : -1;
    this.#closes = this.#framing === 'until-close' || /\r\nconnection:\s*close/i.test(head);
    if (this.#framing === 'length' && this.#left === 0) {
      this.#finish();
      return null;
    }
    return held.subarray(end + headEnd.length);
  }

  #readChunks(bytes: Buffer): void {
    const held = this.#carry === null ? bytes : Buffer.concat([this.#carry, bytes]);
    this.#carry = null;
    for (let at = 0; ; ) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, held.length - at);
        this.#left -= taken;
        at += taken;
        if (this.#left > 0) return;
        this.#left = -1;
      }
      if (at >= held.length) return;
      const lineEnd = held.indexOf(10, at);
      if (lineEnd < 0) {
        this.#carry = held.subarray(at);
        return;
      }
      const size = Number.parseInt(held.toString('latin1', at, lineEnd), 16);
      if (!(size >= 0)) return this.#fail('bad-chunk');
      if (size === 0) {
        if (held.length >= lineEnd + 3) return this.#finish();
        this.#carry = held.subarray(at);
        return;
      }
      at = lineEnd + 1;
      this.#left = size + 2;
    }
  }

  #finish(): void {
    this.#busy = false;
    if (this.#closes) {
      const socket = this.#socket;
      this.#socket = null;
      socket?.destroy();
    }
    this.#options.onDone(this, this.#exchange, performance.now());
  }

  #fail(code: string): void {
    this.destroy();
    this.#options.onFailed(this, code);
  }
}

const emptyExchange = (sentAt: number): Exchange => ({ sentAt, firstByteAt: 0, firstContentAt: 0, status: 0, bytes: 0, arrivals: 0, tail: null });
