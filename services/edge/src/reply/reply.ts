/** Writes what the translator sends to the caller: back-pressure, keep-alive, and a proper ending whatever breaks. */
import type { StreamCall, StreamHandlers } from '@model-gateway/bus';
import { type BrokenEnding, frameFlag, type ReplyHead, type ReplyTail, type StreamForm, type Usage } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { StreamTerminator } from '@model-gateway/protocols';
import { ownerOf } from '../admission/owner.ts';
import type { RequestFacts } from '../admission/request-facts.ts';
import type { ClientExchange } from '../client-exchange.ts';
import type { EdgeContext } from '../context.ts';
import type { Headers } from '../http/client-routes.ts';
import type { OpenReply } from '../open-connections.ts';
import type { RequestLogEntry } from '../request-log-entry.ts';
import { type Keeping, keepInBackground } from '../resume/keep.ts';
import { writeTurnEnd } from '../turns/write-turn-end.ts';
import { Delivered, eventsIn } from './delivered.ts';
import { endingOf } from './on-break.ts';
import { ReplyBody } from './reply-body.ts';

/** A caller who takes nothing of a finished reply for this long is cut off: the reply holds memory and a slot until its last byte is out. */
const stalledMs = 60_000;
/** How long the tail may follow a caller who closed the connection at what looked like the end of the stream. */
const tailGraceMs = 900;
/** The events of a longer piece are not counted: it holds a file. */
const maxCounted = 64 * 1024;
/** Idle checks per keep-alive interval: resetting a timer with every event would cost more than the event itself. */
const looks = 8;

/** Whose reply it is. Not the request's body, which is released long before a stream ends. */
export interface RepliedRequest {
  exchange: ClientExchange;
  entry: RequestLogEntry;
  facts: RequestFacts;
  form: StreamForm;
  /** Of the request's prompt, by its bytes. */
  promptTokens: number;
  /** Absent: the reply cannot be kept for another connection. */
  keeping?: Keeping | undefined;
}

/** What a reply uses of the edge. */
type ReplyContext = Pick<EdgeContext, 'bus' | 'catalog' | 'config' | 'mintId' | 'reporting' | 'connections' | 'streams'>;

export class Reply implements StreamHandlers<'translator.run'>, OpenReply {
  index = -1;
  readonly #exchange: ClientExchange;
  readonly #entry: RequestLogEntry;
  readonly #facts: RequestFacts;
  readonly #keeping: Keeping | undefined;
  readonly #context: ReplyContext;
  readonly #promptTokens: number;
  readonly #delivered = new Delivered();
  #form: StreamForm;
  #body: ReplyBody;
  #terminator: StreamTerminator | null;
  /** The stored turn that the reply is. */
  #turn: ReplyHead['turn'];
  /** What answers. */
  #origin: ReplyHead['served'];
  #background = false;
  readonly #keepAlive: string | null;
  #call: StreamCall | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Looks since something was sent. */
  #quiet = 0;
  #betweenEvents = true;
  #unconsumed = 0;
  #awaitsDrain = false;
  #finished = false;
  /** The caller closed the connection with the whole stream in hand: only the tail is waited for. */
  #served = false;
  /** How a broken stream was ended. */
  #ended: BrokenEnding | null = null;

  constructor({ exchange, entry, facts, form, promptTokens, keeping }: RepliedRequest, context: ReplyContext) {
    this.#keeping = keeping;
    this.#exchange = exchange;
    this.#entry = entry;
    this.#facts = facts;
    this.#form = form;
    this.#promptTokens = promptTokens;
    this.#context = context;
    this.#body = new ReplyBody(exchange.response);
    this.#keepAlive = exchange.protocol.client.keepAlive(form, exchange.request.headers as Headers);
    // Of bytes nobody knows what would end them.
    this.#terminator = form === 'whole' || form === 'bytes' ? null : this.#createTerminator(form);
  }

  #createTerminator(streamForm: StreamForm): StreamTerminator {
    const { id: requestId, startedAt, protocol } = this.#exchange;
    const { requestedModel, operation } = this.#facts;
    const createdAt = Math.floor(startedAt / 1000);
    return protocol.client.createTerminator({ requestId, model: requestedModel ?? '', createdAt, streamForm, operation, mintId: this.#context.mintId });
  }

  start(call: StreamCall): void {
    this.#call = call;
    this.#entry.handOver();
    if (!this.#finished) this.#context.connections.replies.add(this);
    this.#exchange.watch(this);
    if (this.#finished || this.#keepAlive === null) return;
    this.#timer = setInterval(() => this.#listen(), this.#context.config.keepAliveMs / looks);
  }

  head(head: ReplyHead): void {
    this.#turn = head.turn;
    this.#origin = head.served;
    if (head.background) this.#runInBackground(head, head.background);
    else this.#commit(head.status, head.headers);
  }

  /** The request goes on without its caller, who has the whole answer now, or reads the events that follow as others may. */
  #runInBackground({ status, headers }: ReplyHead, { answer }: NonNullable<ReplyHead['background']>): void {
    const { client } = this.#exchange.protocol;
    if (!this.#keeping) throw new Error('a reply that cannot be kept is not run in the background');
    this.#background = true;
    if (answer !== undefined)
      this.#answerInFull(status, { ...headers, 'content-type': client.contentType('whole'), 'x-gateway-stream': this.#keeping.id }, answer);
    keepInBackground(this.#exchange, this.#keeping, this.#context.streams, answer === undefined ? this.#body : null);
    this.#body = new ReplyBody(this.#exchange.response);
    this.#form = 'sse';
    this.#terminator ??= this.#createTerminator('sse');
    this.#commit(200, { ...headers, 'content-type': client.contentType('sse'), 'cache-control': 'no-cache' });
  }

  #answerInFull(status: number, headers: Record<string, string>, answer: string): void {
    const bytes = Buffer.from(answer, 'utf8');
    this.#exchange.responseBytes = bytes.length;
    this.#exchange.capture?.add(bytes);
    this.#body.head(status, this.#exchange.headersWith(headers));
    this.#body.end(bytes);
  }

  /** The usual way of a reply that is not a stream: all of it at once, in one write. */
  whole(head: ReplyHead, bytes: Uint8Array, tail: ReplyTail): void {
    this.#exchange.responseBytes = bytes.length;
    this.#commit(head.status, head.headers);
    this.#exchange.capture?.addWhole(bytes);
    this.#body.end(bytes);
    this.#finish();
    this.#publish(tail);
  }

  data(bytes: Uint8Array, flags: number): void {
    if (this.#served) return this.#call?.consumed(bytes.length);
    if (!this.#mayPass(bytes.length, flags)) this.#terminator?.observe(bytes);
    this.#exchange.capture?.add(bytes);
    this.#delivered.add(bytes.length, this.#eventsIn(bytes));
    this.#sent(this.#body.write(bytes), bytes.length, flags);
  }

  /** The same where the bytes are at hand as text, as the socket takes them soonest. */
  text(text: string, flags: number): void {
    if (this.#served) return this.#call?.consumed(text.length);
    if (!this.#mayPass(text.length, flags)) this.#terminator?.observe(Buffer.from(text, 'latin1'));
    this.#exchange.capture?.add(Buffer.from(text, 'latin1'));
    this.#delivered.add(text.length, this.#eventsIn(text));
    this.#sent(this.#body.writeText(text), text.length, flags);
  }

  #eventsIn(piece: string | Uint8Array): number {
    return this.#form === 'sse' && piece.length <= maxCounted ? eventsIn(piece) : 1;
  }

  /** Whether the stream terminator may skip this text. */
  #mayPass(length: number, flags: number): boolean {
    return (flags & frameFlag.words) !== 0 && this.#terminator?.passes !== undefined && this.#terminator.passes(length);
  }

  #sent(more: boolean, length: number, flags: number): void {
    this.#betweenEvents = (flags & frameFlag.messageEnd) !== 0;
    this.#exchange.responseBytes += length;
    this.#unconsumed += length;
    this.#quiet = 0;
    if (more) return this.#consume();
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    this.#exchange.response.on('drain', () => this.#consume());
  }

  tail(tail: ReplyTail): void {
    const error = tail.error && GatewayError.fromWire(tail.error);
    if (!this.#served) {
      if (error) this.#end(error, tail.row.upstream, tail.usage);
      else this.#body.end();
    }
    this.#finish();
    this.#publish(tail);
  }

  #publish(tail: ReplyTail): void {
    const { response } = this.#exchange;
    // A keep-alive may have committed 200 before the translator knew: the row says what the caller saw.
    const status = response.headersSent ? response.statusCode : tail.row.status;
    if (tail.task !== undefined) this.#entry.leaveToTask();
    const row = { ...tail.row, status, duration_ms: Math.round(this.#exchange.elapsedMs()), response_bytes: this.#exchange.responseBytes, ending: this.#ended };
    this.#entry.publish(row, this.#facts, acknowledger(this.#call));
  }

  broken(error: GatewayError): void {
    // Finished: it was the telling of its row that failed.
    if (!this.#finished) {
      const ended = this.#terminator?.ended;
      if (!this.#served) this.#end(error, null);
      this.#finish();
      if (!ended) this.#finishTurn(error);
    }
    const row = this.#entry.row(this.#facts, this.#exchange.response.statusCode, error.code);
    // Where the translator lives, its own row takes the place of this estimate.
    const estimate = this.#delivered.estimate(this.#origin, this.#facts.operation, this.#promptTokens);
    this.#entry.publish({ ...row, ...estimate, ending: this.#ended }, this.#facts);
  }

  /** The translator cannot write the end of its turn any more, or not as the caller saw it. */
  #finishTurn(error: GatewayError): void {
    const { principal } = this.#facts;
    const owner = principal && ownerOf(principal);
    if (!this.#turn || owner == null) return;
    // Of a connection that was broken off the end was not even made.
    if (this.#ended === 'break' && this.#terminator) this.#ending(this.#terminator, error);
    const closed = this.#terminator?.closed?.(this.#background ? { code: 'server_error', message: error.message } : undefined);
    if (closed) writeTurnEnd(this.#context, { owner, id: this.#turn.id, ...closed });
  }

  /** Ends the stream by force, as drain does when its time is up. */
  interrupt(error: GatewayError): void {
    if (this.#finished) return;
    this.#call?.cancel('drain');
    this.broken(error);
  }

  /** Nothing sent yet: a real status. Else the stream is ended in its own terms, or broken off where the caller is to repeat the request. */
  #end(error: GatewayError, upstream: string | null, usage?: Usage): void {
    const { response } = this.#exchange;
    if (!response.headersSent) return this.#exchange.writeError(error, this.#facts);
    if (!this.#terminator) {
      response.destroy();
      return;
    }
    if (this.#terminator.repeatable && this.#shallBreak(upstream)) {
      this.#ended = 'break';
      return this.#body.breakOff();
    }
    // A stream that had come to its end did not break: only its row was lost.
    if (!this.#terminator.ended) this.#ended = 'finish';
    const text = this.#ending(this.#terminator, error, usage);
    if (text === null) return void response.destroy();
    this.#exchange.responseBytes += Buffer.byteLength(text);
    this.#exchange.capture?.add(Buffer.from(text, 'utf8'));
    this.#body.end(text);
  }

  #shallBreak(upstream: string | null): boolean {
    const { principal, model } = this.#facts;
    const { request } = this.#exchange;
    const snapshot = this.#context.catalog.current();
    return endingOf({ principal, snapshot, model, upstream, userAgent: request.headers['user-agent'] }) === 'break';
  }

  /** null: it cannot be said. A broken connection is better than one that never ends. */
  #ending(terminator: StreamTerminator, { code, message }: GatewayError, usage?: Usage): string | null {
    try {
      return terminator.close({ reason: code, detail: message, timestamp: new Date().toISOString() }, usage);
    } catch (error) {
      this.#context.reporting.logger.error({ request: this.#exchange.id, error }, 'defect in the end of a stream');
      return null;
    }
  }

  /** Counts idle checks since the last event; after enough of them sends a keep-alive. */
  #listen(): void {
    this.#quiet += 1;
    if (this.#quiet < looks) return;
    this.#quiet = 0;
    this.#beat();
  }

  /** Commits the 200 if nothing did, and sends a keep-alive, between events only. */
  #beat(): void {
    const { response } = this.#exchange;
    if (this.#finished || response.destroyed || this.#keepAlive === null) return;
    if (!response.headersSent) this.#commit(200, { 'content-type': this.#exchange.protocol.client.contentType(this.#form), 'cache-control': 'no-cache' });
    if (this.#betweenEvents && !response.writableNeedDrain) this.#body.keepAlive(this.#keepAlive);
  }

  #commit(status: number, headers: Record<string, string>): void {
    if (this.#exchange.response.headersSent) return;
    this.#exchange.capture?.head(headers);
    this.#body.head(status, this.#exchange.headersWith(headers));
  }

  /** Gives the translator credit for what the socket has taken. */
  #consume(): void {
    const bytes = this.#unconsumed;
    if (bytes === 0) return;
    this.#unconsumed = 0;
    this.#call?.consumed(bytes);
  }

  /** The connection is done with this exchange. */
  closed(): void {
    if (this.#finished) return;
    // SDKs close as soon as they have read the protocol's end, which may be before the tail is here: nobody left such a reply. But what looks like an end
    // may be none (some Gemini models finish in every chunk), so the tail is not waited for long.
    if (this.#facts.stream && this.#terminator?.ended && !this.#served) {
      this.#served = true;
      clearInterval(this.#timer);
      this.#consume();
      setTimeout(() => this.#leave(), tailGraceMs).unref();
      return;
    }
    this.#leave();
  }

  /** The caller is gone before the reply was complete: the upstream's call is given up. */
  #leave(): void {
    if (this.#finished) return;
    this.#finish();
    this.#call?.cancel('client gone');
    this.#entry.publish(this.#entry.row(this.#facts, 499, 'client_gone'), this.#facts);
  }

  #finish(): void {
    this.#finished = true;
    this.#context.connections.replies.remove(this);
    clearInterval(this.#timer);
    const { response } = this.#exchange;
    // The socket's own time-out, which any progress puts off. Most replies have left by now.
    if (response.writableLength > 0) response.setTimeout(stalledMs, () => response.destroy());
  }
}

/** Made outside the class, so that it holds the stream alone: a reply with its sockets and bytes must not live until its row is committed. */
const acknowledger =
  (call: StreamCall | undefined): (() => void) =>
  () =>
    call?.acknowledge();
