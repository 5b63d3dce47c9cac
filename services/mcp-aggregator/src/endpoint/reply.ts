/** How one HTTP exchange is answered: as one message, or as a stream of events once there is more to say. */
import type { ServerStream } from '@model-gateway/bus';
import { codeOfCancel, type ErrorCode, GatewayError } from '@model-gateway/contracts/errors';

/** Events that wait for a caller who does not read: more ends the exchange. */
const maxHeldBytes = 16 * 1024 * 1024;
const keepAliveMs = 15_000;

/** What JSON texts lack inside strings: line ends. */
const oneLine = (text: string): string => (text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]+/g, ' ') : text);

export const jsonHeaders = { 'content-type': 'application/json' } as const;
const eventHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' } as const;

export class Reply {
  readonly #stream: ServerStream<'mcp.exchange'>;
  readonly #headers: Record<string, string> = {};
  readonly #left = new AbortController();
  #streaming = false;
  #ended = false;
  #held: string[] = [];
  #heldBytes = 0;
  #blocked = false;
  #keepAlive: NodeJS.Timeout | undefined;
  /** Bytes that were sent. */
  bytes = 0;

  constructor(stream: ServerStream<'mcp.exchange'>) {
    this.#stream = stream;
    stream.onCancel((reason) => this.#leave(codeOfCancel(reason)));
    stream.onWritable(() => this.#flush());
  }

  /** Aborted when nobody takes the answer any more, with why: the caller has left, or the edge has given up. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get streaming(): boolean {
    return this.#streaming;
  }

  /** Of whatever head is sent. */
  setHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  /** The whole answer, where no event was sent before; else its last event. */
  end(status: number, text: string): void {
    if (this.#ended) return;
    if (this.#streaming) {
      this.event(text);
      return this.close();
    }
    this.#finish();
    const bytes = Buffer.from(text, 'utf8');
    this.bytes += bytes.length;
    this.#stream.whole({ status, headers: { ...jsonHeaders, ...this.#headers } }, bytes, {});
  }

  /** An answer without a body. */
  empty(status: number, headers: Record<string, string> = {}): void {
    if (this.#ended) return;
    this.#finish();
    this.#stream.whole({ status, headers: { ...this.#headers, ...headers } }, new Uint8Array(0), {});
  }

  /** Begins the stream of events, if it has not begun. */
  open(): void {
    if (this.#streaming || this.#ended) return;
    this.#streaming = true;
    this.#stream.head({ status: 200, headers: { ...eventHeaders, ...this.#headers } });
    this.#keepAlive = setInterval(() => this.#write(': keep-alive\n\n'), keepAliveMs).unref();
  }

  /** One message of the protocol. */
  event(text: string): void {
    this.named('message', oneLine(text));
  }

  /** An event of another name. */
  named(name: string, data: string): void {
    if (this.#ended) return;
    this.open();
    this.#write(`event: ${name}\ndata: ${data}\n\n`);
  }

  /** Ends a stream of events. */
  close(): void {
    if (this.#ended) return;
    if (!this.#streaming) return this.empty(202);
    if (this.#blocked && this.#held.length > 0) {
      this.#held.push('');
      return;
    }
    this.#finish();
    this.#stream.tail({});
  }

  #write(text: string): void {
    if (this.#ended) return;
    if (this.#blocked) {
      this.#held.push(text);
      this.#heldBytes += text.length;
      if (this.#heldBytes > maxHeldBytes) this.#giveUp();
      return;
    }
    const bytes = Buffer.from(text, 'utf8');
    this.bytes += bytes.length;
    this.#blocked = !this.#stream.data(bytes);
  }

  #flush(): void {
    this.#blocked = false;
    const held = this.#held.splice(0);
    this.#heldBytes = 0;
    for (const [at, text] of held.entries()) {
      if (text === '') return this.close();
      this.#write(text);
      if (this.#blocked) {
        this.#held = [...held.slice(at + 1), ...this.#held];
        return;
      }
    }
  }

  /** Its caller is there, and would wait for the rest. */
  #giveUp(): void {
    this.#leave('client_gone');
    this.#stream.fail(new GatewayError('overloaded', { message: 'Too much of the stream waits to be read.' }));
  }

  #leave(code: ErrorCode): void {
    if (this.#ended) return;
    this.#finish();
    this.#left.abort(new GatewayError(code));
  }

  #finish(): void {
    this.#ended = true;
    this.#held = [];
    clearInterval(this.#keepAlive);
  }
}
