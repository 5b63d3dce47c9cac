/** One HTTP call to an MCP server through the guarded dialer: a whole body, or server-sent events as they come. */
import { createSseParser, FramingError, Pieces, type SseParser, type SseRecord } from '@model-gateway/stream-framing';
import type { Outbound, OutboundCall } from '@model-gateway/upstream-client';

/** What may be held of one reply. */
const maxBodyBytes = 32 * 1024 * 1024;
const maxEventBytes = 16 * 1024 * 1024;

/** One event of a stream. */
export interface ServerEvent {
  event: string;
  data: string;
  id: string | undefined;
  retryMs: number | undefined;
}

export interface HttpAsk {
  method: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH' | 'HEAD';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Buffer | undefined;
  /** For the connection and the first byte. */
  answerMs: number;
  /** Between two chunks. */
  idleMs: number;
  totalMs?: number;
  maxBytes?: number;
  signal: AbortSignal;
}

/** A reply that has ended. `body` is empty where events came. */
export interface HttpReply {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  /** Events came, each of which was handed on. */
  streamed: boolean;
}

/** The server could not be reached, or broke off. The message is safe for callers: it has no address. */
export class ServerFault extends Error {
  /** Nothing was sent that a server could have acted on. */
  readonly unsent: boolean;

  constructor(message: string, { unsent = false, cause }: { unsent?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'ServerFault';
    this.unsent = unsent;
  }
}

/** It answered, with more than is held. */
export class TooLargeFault extends ServerFault {
  constructor() {
    super('The server sent more than the gateway holds.');
  }
}

/** For a request whose signal was aborted: its caller has left, or its time is over. */
export const givenUp = ({ reason }: AbortSignal, options: { unsent?: boolean; cause?: unknown } = {}): ServerFault =>
  new ServerFault(reason instanceof DOMException && reason.name === 'TimeoutError' ? 'The server did not answer in time.' : 'The call was given up.', options);

/** Redirects are not followed: credentials would go along. */
export const redirected = (status: number): ServerFault =>
  new ServerFault(`The server answered ${status}, a redirect, which is not followed: its endpoint must be the address that this leads to.`);

export interface HttpHandlers {
  head?(status: number, headers: Record<string, string>): void;
  /** Whether that was the last one that is wanted. */
  event?(event: ServerEvent): boolean;
}

/** How long a server is given to end a stream by itself, so that its connection can be used again. */
const endMs = 1000;

/** Resolves when the reply has ended, or nothing more of it is wanted; rejects with ServerFault. Redirects are answers like others. */
export function sendHttp(outbound: Outbound, ask: HttpAsk, handlers: HttpHandlers = {}): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const { signal } = ask;
    if (signal.aborted) return reject(givenUp(signal, { unsent: true }));
    const exchange = new Exchange(ask, handlers, { resolve, reject });
    const body = typeof ask.body === 'string' ? Buffer.from(ask.body, 'utf8') : ask.body;
    const call = outbound.send(
      {
        method: ask.method,
        url: ask.url,
        headers: { ...ask.headers },
        body,
        timeouts: { connect_ms: Math.min(ask.answerMs, 10_000), first_byte_ms: ask.answerMs, idle_ms: ask.idleMs, total_ms: ask.totalMs ?? 86_400_000 },
      },
      exchange,
    );
    exchange.begin(call);
  });
}

class Exchange {
  readonly #ask: HttpAsk;
  readonly #handlers: HttpHandlers;
  readonly #done: { resolve(reply: HttpReply): void; reject(fault: ServerFault): void };
  readonly #pieces = new Pieces();
  #parser: SseParser | null = null;
  #size = 0;
  #status = 0;
  #headers: Record<string, string> = {};
  #call: OutboundCall | undefined;
  /** Nothing more is wanted; the connection is closed unless the server ends the stream. */
  #ending: NodeJS.Timeout | undefined;

  constructor(ask: HttpAsk, handlers: HttpHandlers, done: { resolve(reply: HttpReply): void; reject(fault: ServerFault): void }) {
    this.#ask = ask;
    this.#handlers = handlers;
    this.#done = done;
  }

  begin(call: OutboundCall): void {
    this.#call = call;
    this.#ask.signal.addEventListener('abort', this.#abort, { once: true });
  }

  readonly #abort = (): void => this.#call?.abort(new Error('given up'));

  head(status: number, headers: Record<string, string>): void {
    this.#status = status;
    this.#headers = headers;
    const isStream = status >= 200 && status < 300 && /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
    if (isStream && this.#handlers.event) this.#parser = createSseParser({ maxEventBytes });
    this.#handlers.head?.(status, headers);
  }

  data(chunk: Buffer): void {
    if (this.#ending) return;
    if (this.#parser) return this.#read(() => this.#parser?.push(chunk) ?? []);
    this.#size += chunk.length;
    if (this.#size > (this.#ask.maxBytes ?? maxBodyBytes)) return this.#fail(new TooLargeFault());
    this.#pieces.add(chunk);
  }

  end(): void {
    if (this.#parser && !this.#ending) this.#read(() => this.#parser?.finish() ?? []);
    clearTimeout(this.#ending);
    this.#succeed();
  }

  error(fault: { message: string; class: string; phase: string; cause: unknown }): void {
    clearTimeout(this.#ending);
    this.#settle();
    if (this.#ask.signal.aborted) return this.#done.reject(givenUp(this.#ask.signal, { cause: fault.cause }));
    this.#done.reject(
      new ServerFault(fault.message.replaceAll('upstream', 'server'), { unsent: fault.class === 'connect' || fault.class === 'busy', cause: fault.cause }),
    );
  }

  #read(take: () => SseRecord[]): void {
    try {
      for (const record of take()) if (this.#handlers.event?.(readEvent(record))) return this.#stopReading();
    } catch (error) {
      if (error instanceof FramingError && error.code === 'too_large') return this.#fail(new TooLargeFault());
      this.#fail(
        new ServerFault(error instanceof FramingError ? 'The server sent events that cannot be read.' : 'A reply could not be read.', { cause: error }),
      );
    }
  }

  #stopReading(): void {
    this.#ending = setTimeout(() => this.#call?.abort(new Error('nothing more is wanted')), endMs).unref();
    this.#succeed();
  }

  #succeed(): void {
    this.#settle();
    this.#done.resolve({ status: this.#status, headers: this.#headers, body: this.#pieces.take(), streamed: this.#parser !== null });
  }

  #fail(fault: ServerFault): void {
    this.#settle();
    this.#done.reject(fault);
    this.#call?.abort(fault);
  }

  #settle(): void {
    this.#ask.signal.removeEventListener('abort', this.#abort);
  }
}

const fieldOf = (raw: string, name: string): string | undefined => new RegExp(`^${name}: ?(.*)$`, 'm').exec(raw)?.[1];

function readEvent({ event = 'message', data, raw }: SseRecord): ServerEvent {
  const head = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, 4096)).toString('utf8').replaceAll('\r', '\n');
  const tail =
    raw.byteLength > 4096
      ? Buffer.from(raw.buffer, raw.byteOffset + raw.byteLength - 1024, 1024)
          .toString('utf8')
          .replaceAll('\r', '\n')
      : '';
  const retry = fieldOf(head, 'retry') ?? fieldOf(tail, 'retry');
  return { event, data, id: fieldOf(head, 'id') ?? fieldOf(tail, 'id'), retryMs: retry !== undefined && /^\d{1,7}$/.test(retry) ? Number(retry) : undefined };
}
