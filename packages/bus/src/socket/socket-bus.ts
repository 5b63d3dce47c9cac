/** The bus of a process that reaches all others through one of them, over a Unix socket. */
import { connect } from 'node:net';
import { GatewayError } from '@model-gateway/contracts/errors';
import type {
  AskHandlers,
  AskOptions,
  AskSubject,
  Bus,
  Disposable,
  EventItem,
  EventSubject,
  OpenOptions,
  OpenServerHandlers,
  OpenSubject,
  StreamCall,
  StreamHandlers,
} from '../bus.ts';
import { Clock } from '../kit/clock.ts';
import { defaultAskDeadlineMs } from '../kit/limits.ts';
import type { BusLogger } from '../kit/logger.ts';
import { settlesWithin } from '../kit/settle-within.ts';
import { soon } from '../kit/soon.ts';
import { SocketBase } from './base.ts';
import { Connection } from './connection.ts';
import { SocketConsumers, SocketOutbox } from './durable.ts';
import { jsonOf } from './host.ts';
import { failSoon } from './streams.ts';
import { type WireFrame, wireKind } from './wire.ts';

/** Options of the bus over a socket. */
export interface SocketBusOptions {
  /** Of the socket at which `createHubBus` of another process listens. */
  path: string;
  /** Of this process, in the other's logs. */
  name: string;
  logger?: BusLogger;
  /** Whether this process receives its own events. Default true. */
  echo?: boolean;
  /** How long `drain` waits for what was accepted. Default 30,000. */
  drainMs?: number;
}

const againMs = 200;

/** Returns at once: the bus connects by itself, and again whenever the connection breaks. */
export const connectSocketBus = (options: SocketBusOptions): SocketBus => new SocketBus(options);

/** The bus over a socket; `connectSocketBus` creates it. */
export class SocketBus implements Bus {
  private readonly base: SocketBase;
  private readonly options: SocketBusOptions;
  private readonly outbox = new SocketOutbox();
  private readonly consumers = new SocketConsumers();
  private readonly clock: Clock;
  private connection: Connection | null = null;
  private again: NodeJS.Timeout | null = null;
  private offering = false;
  private closing = false;

  constructor(options: SocketBusOptions) {
    this.options = options;
    this.base = new SocketBase(options.logger, () => this.offer());
    this.clock = new Clock(() => this.connection?.tick(this.clock.now));
    this.connect();
  }

  get connected(): boolean {
    return this.connection !== null && !this.closing;
  }

  ask<S extends AskSubject>(subject: S, request: unknown, options?: AskOptions): Promise<never> {
    if (this.closing || !this.connection) return Promise.reject(new GatewayError('service_unavailable'));
    this.base.asking.enter();
    const asked = this.connection.asks.ask({ subject, request, deadlineMs: options?.deadlineMs ?? defaultAskDeadlineMs });
    const left = (): void => this.base.asking.leave();
    asked.then(left, left);
    return asked;
  }

  open<S extends OpenSubject>(subject: S, request: unknown, handlers: StreamHandlers<S>, options?: OpenOptions): StreamCall {
    if (this.closing || !this.connection) return failSoon(handlers, this.base.logger);
    return this.connection.streams.open(subject, request, handlers, options);
  }

  publish(subject: string, event: unknown): void {
    this.connection?.send(wireKind.event, 0, jsonOf({ subject, event }));
    if (this.options.echo !== false) soon(() => this.base.deliver(subject, event));
  }

  publishDurable(subject: EventSubject, id: string, event: unknown): Promise<void> {
    return this.outbox.publish({ subject, id, event }, this.connection);
  }

  serve(handlers: { ask?: AskHandlers; open?: OpenServerHandlers }): Disposable {
    return this.base.handlers.add(handlers);
  }

  serveAs(name: string, handlers: OpenServerHandlers): Disposable {
    return this.base.handlers.add({ open: handlers }, name);
  }

  listen<S extends EventSubject>(subject: S, onMessage: (event: never) => void): Disposable {
    const stop = this.base.listen(subject, onMessage);
    return { dispose: async () => stop() };
  }

  listenDurably<S extends EventSubject>(
    subject: S,
    handle: (batch: EventItem<S>[]) => Promise<void>,
    options?: { maxBatch?: number; maxWaitMs?: number },
  ): Disposable {
    return { dispose: this.consumers.add({ subject, ...options }, handle as never, () => this.connection) };
  }

  onConnection(callback: (connected: boolean) => void): void {
    this.base.watchers.push(callback);
  }

  stats() {
    const { calls, served, fencedFrames, reader } = this.base;
    return {
      openCalls: calls.size,
      openServed: served.size,
      outboxItems: this.outbox.size,
      fencedFrames,
      refusedMessages: reader.refused,
      refusedListeners: 0,
    };
  }

  /** Resolves when what is served and listened to here can be reached; at once without a connection. */
  async settled(): Promise<void> {
    await Promise.resolve();
    await this.connection?.roundTrip();
  }

  async drain(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    const { calls, served, asking } = this.base;
    const ended = Promise.all([calls.ended(), served.ended(), asking.ended()]).then(() => (this.connection ? this.outbox.flushed() : undefined));
    if (!(await settlesWithin(ended, this.options.drainMs ?? 30_000))) this.base.logger.warn(this.stats(), 'the bus was closed before all work had ended');
    this.clock.stop();
    if (this.again) clearTimeout(this.again);
    const { connection } = this;
    if (connection) {
      await settlesWithin(connection.end(), 1000);
      connection.close();
    } else this.base.notify(false);
  }

  private connect(): void {
    this.again = null;
    const socket = connect(this.options.path);
    const failed = (): void => this.connectAgain();
    socket.once('error', failed);
    socket.once('connect', () => {
      socket.removeListener('error', failed);
      if (this.closing) return void socket.destroy();
      this.connection = new Connection(socket, this.base.hostOf({ receive: (from, frame) => this.receive(from, frame), lost: () => this.lost() }), 1);
      this.offerNow();
      this.outbox.sendAll(this.connection);
      this.consumers.sendAll(this.connection);
      this.base.notify(true);
    });
  }

  private connectAgain(): void {
    if (!this.closing) this.again ??= setTimeout(() => this.connect(), againMs);
  }

  private lost(): void {
    this.connection = null;
    this.base.notify(false);
    this.connectAgain();
  }

  private receive(from: Connection, frame: WireFrame): void {
    switch (frame.kind) {
      case wireKind.ask:
        return from.asks.serve(frame, (question) => this.base.answer(question));
      case wireKind.open:
      case wireKind.body:
        return from.streams.gather(frame, (opening, body) => {
          if (this.closing || !this.base.serveOpening(from, frame.number, opening, body)) from.streams.refuse(frame.number, 'service_unavailable');
        });
      case wireKind.event: {
        const read = this.base.readEvent(frame);
        if (read) this.base.deliver(read.subject, read.event);
        return;
      }
      case wireKind.stored:
      case wireKind.notStored:
        return this.outbox.receive(frame, from);
      case wireKind.batch:
        return this.consumers.receive(frame, from);
    }
  }

  /** All changes of one turn at once, and before what is sent after them. */
  private offer(): void {
    if (this.offering) return;
    this.offering = true;
    soon(() => {
      this.offering = false;
      this.offerNow();
    });
  }

  private offerNow(): void {
    this.connection?.offer({ name: this.options.name, places: this.base.handlers.places, events: this.base.events });
  }
}
