/** Relays a reply that another process writes in full: its head, its bytes under back-pressure, keep-alives where it is an event stream. */
import type { OpenSubject, StreamCall, StreamHandlers } from '@model-gateway/bus';
import { frameFlag, type ReplyHead } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { ClientExchange } from '../client-exchange.ts';
import type { EdgeContext } from '../context.ts';
import type { Headers } from '../http/client-routes.ts';
import type { OpenReply } from '../open-connections.ts';
import { ReplyBody } from './reply-body.ts';

/** Subjects whose replies are relayed. */
export type RelayedSubject = Extract<OpenSubject, 'translator.turns' | 'edge.stream'>;
type Tail<S extends RelayedSubject> = Parameters<StreamHandlers<S>['tail']>[0];

/** Idle checks per keep-alive interval. */
const looks = 8;

/** What a relayed reply leaves to its opener. */
export interface RelayOptions<S extends RelayedSubject> {
  /** true: somebody else goes on with the reply, of which nothing was sent. */
  goesOn?(tail: Tail<S>): boolean;
  /** The error that is answered instead of this one. */
  refusal?(error: GatewayError): GatewayError;
}

type RelayContext = Pick<EdgeContext, 'config' | 'connections'>;

export class RelayedReply<S extends RelayedSubject> implements StreamHandlers<S>, OpenReply {
  index = -1;
  readonly #exchange: ClientExchange;
  readonly #context: RelayContext;
  readonly #options: RelayOptions<S>;
  readonly #body: ReplyBody;
  #call: StreamCall | undefined;
  #timer: NodeJS.Timeout | undefined;
  #quiet = 0;
  #betweenEvents = true;
  #unconsumed = 0;
  #awaitsDrain = false;
  #finished = false;

  constructor(exchange: ClientExchange, context: RelayContext, options: RelayOptions<S> = {}) {
    this.#exchange = exchange;
    this.#context = context;
    this.#options = options;
    this.#body = new ReplyBody(exchange.response);
  }

  start(call: StreamCall): void {
    this.#call = call;
    if (!this.#finished) this.#context.connections.replies.add(this);
    this.#exchange.watch(this);
  }

  head({ status, headers }: Pick<ReplyHead, 'status' | 'headers'>): void {
    this.#body.head(status, this.#exchange.headersWith(headers));
    const keepAlive = headers['content-type']?.startsWith('text/event-stream')
      ? this.#exchange.protocol.client.keepAlive('sse', this.#exchange.request.headers as Headers)
      : null;
    if (keepAlive === null) return;
    // The first event may be long in coming.
    this.#exchange.response.flushHeaders();
    if (!this.#finished) this.#timer = setInterval(() => this.#look(keepAlive), this.#context.config.keepAliveMs / looks);
  }

  data(bytes: Uint8Array, flags: number): void {
    this.#betweenEvents = (flags & frameFlag.messageEnd) !== 0;
    this.#quiet = 0;
    this.#exchange.responseBytes += bytes.length;
    this.#unconsumed += bytes.length;
    if (this.#body.write(bytes)) return this.#consume();
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    this.#exchange.response.on('drain', () => this.#consume());
  }

  tail(tail: Tail<S>): void {
    this.#finish();
    if (!this.#exchange.response.headersSent && this.#options.goesOn?.(tail)) return;
    this.#body.end();
  }

  broken(error: GatewayError): void {
    this.#finish();
    const { response } = this.#exchange;
    // What was sent so far cannot be taken back, and must not pass for the whole.
    if (response.headersSent) return void response.destroy();
    this.#exchange.writeError(this.#options.refusal?.(error) ?? error);
  }

  interrupt(error: GatewayError): void {
    if (this.#finished) return;
    this.#call?.cancel('drain');
    this.broken(error);
  }

  /** The caller left, or has the whole answer. */
  closed(): void {
    if (this.#finished) return;
    this.#finish();
    this.#call?.cancel('client gone');
  }

  #look(keepAlive: string): void {
    this.#quiet += 1;
    if (this.#quiet < looks) return;
    this.#quiet = 0;
    if (this.#betweenEvents && !this.#exchange.response.writableNeedDrain) this.#body.write(keepAlive);
  }

  #consume(): void {
    const bytes = this.#unconsumed;
    this.#unconsumed = 0;
    if (bytes > 0) this.#call?.consumed(bytes);
  }

  #finish(): void {
    this.#finished = true;
    clearInterval(this.#timer);
    this.#context.connections.replies.remove(this);
  }
}
