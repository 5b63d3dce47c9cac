/** The bus of a process whose own services call one another directly, and which other processes of the machine reach over a Unix socket. */
import { createServer, type Server, type Socket } from 'node:net';
import type { DurableSubject } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
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
import { createMemoryBus } from '../memory/memory-bus.ts';
import type { WireQuestion } from './asks.ts';
import { SocketBase } from './base.ts';
import { Connection } from './connection.ts';
import { RemoteConsumer, type WireConsume, type WireEvent } from './durable.ts';
import { placeOf } from './handlers.ts';
import { jsonOf, readJson } from './host.ts';
import { Relays } from './relays.ts';
import { failSoon } from './streams.ts';
import { type WireFrame, wireKind } from './wire.ts';

/** Options of the bus that others connect to. */
export interface HubBusOptions {
  /** Where the socket is made; nobody but this user may be able to reach its folder. */
  path: string;
  logger?: BusLogger;
  /** A process has connected and said what it serves, or is gone. */
  onPeer?(name: string, present: boolean): void;
  /** How long `drain` waits for what was accepted. Default 30,000. */
  drainMs?: number;
}

/** Resolves when others can connect. */
export async function createHubBus(options: HubBusOptions): Promise<HubBus> {
  const bus = new HubBus(options);
  await bus.listening;
  return bus;
}

/** The bus in the middle; `createHubBus` creates it. */
export class HubBus implements Bus {
  /** Resolves when others can connect. */
  readonly listening: Promise<void>;
  connected = true;
  private readonly base: SocketBase;
  private readonly options: HubBusOptions;
  private readonly memory: Bus;
  private readonly relays: Relays;
  private readonly server: Server;
  private readonly connections = new Set<Connection>();
  private readonly consumers = new Map<Connection, Map<number, { consumer: RemoteConsumer; listening: Disposable }>>();
  private readonly clock: Clock;
  private turn = 0;
  private closing = false;

  constructor(options: HubBusOptions) {
    this.options = options;
    this.base = new SocketBase(options.logger, () => undefined);
    this.memory = createMemoryBus({ logger: this.base.logger, ...(options.drainMs !== undefined && { drainMs: options.drainMs }) });
    this.relays = new Relays(this.base.deadlines);
    this.server = createServer((socket) => this.accept(socket));
    this.listening = new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(options.path, resolve);
    });
    this.clock = new Clock(() => {
      for (const connection of this.connections) connection.tick(this.clock.now);
    });
  }

  ask<S extends AskSubject>(subject: S, request: unknown, options?: AskOptions): Promise<never> {
    if (this.closing || this.base.handlers.has(subject)) return this.memory.ask(subject, request as never, options) as Promise<never>;
    return this.askPeer({ subject, request, deadlineMs: options?.deadlineMs ?? defaultAskDeadlineMs });
  }

  open<S extends OpenSubject>(subject: S, request: unknown, handlers: StreamHandlers<S>, options?: OpenOptions): StreamCall {
    const place = placeOf(subject, options?.to);
    if (this.closing || this.base.handlers.has(place)) return this.memory.open(subject, request as never, handlers, options);
    const peer = this.peerFor(place);
    return peer ? peer.streams.open(subject, request, handlers, options) : failSoon(handlers, this.base.logger);
  }

  publish(subject: string, event: unknown): void {
    this.memory.publish(subject as 'router.outcome', event as never);
    this.send(subject, jsonOf({ subject, event }), null);
  }

  publishDurable<S extends DurableSubject>(subject: S, id: string, event: unknown): Promise<void> {
    return this.memory.publishDurable(subject, id, event as never);
  }

  serve(handlers: { ask?: AskHandlers; open?: OpenServerHandlers }): Disposable {
    return both(this.base.handlers.add(handlers), this.memory.serve(handlers));
  }

  serveAs(name: string, handlers: OpenServerHandlers): Disposable {
    return both(this.base.handlers.add({ open: handlers }, name), this.memory.serveAs(name, handlers));
  }

  listen<S extends EventSubject>(subject: S, onMessage: (event: never) => void): Disposable {
    return this.memory.listen(subject as 'router.outcome', onMessage as never);
  }

  listenDurably<S extends EventSubject>(
    subject: S,
    handle: (batch: EventItem<S>[]) => Promise<void>,
    options?: { maxBatch?: number; maxWaitMs?: number },
  ): Disposable {
    return this.memory.listenDurably(subject as DurableSubject, handle as never, options);
  }

  onConnection(callback: (connected: boolean) => void): void {
    this.base.watchers.push(callback);
  }

  stats() {
    const own = this.memory.stats();
    const { calls, served, fencedFrames, reader } = this.base;
    return {
      openCalls: own.openCalls + calls.size,
      openServed: own.openServed + served.size,
      outboxItems: own.outboxItems,
      fencedFrames: own.fencedFrames + fencedFrames,
      refusedMessages: reader.refused,
      refusedListeners: 0,
    };
  }

  /** Resolves when what others have sent so far is read, and what this process has sent is theirs. */
  async settled(): Promise<void> {
    await Promise.all([...this.connections].map((connection) => connection.roundTrip()));
  }

  async drain(): Promise<void> {
    if (this.closing) return;
    const { calls, served, asking } = this.base;
    const ended = Promise.all([calls.ended(), served.ended(), asking.ended()]);
    if (!(await settlesWithin(ended, this.options.drainMs ?? 30_000))) this.base.logger.warn(this.stats(), 'the bus was closed before all work had ended');
    this.closing = true;
    await this.memory.drain();
    this.clock.stop();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    await Promise.all([...this.connections].map((connection) => settlesWithin(connection.end(), 500)));
    for (const connection of [...this.connections]) connection.close();
    await closed;
    this.connected = false;
    this.base.notify(false);
  }

  private accept(socket: Socket): void {
    const host = this.base.hostOf({ receive: (from, frame) => this.receive(from, frame), lost: (one) => this.lost(one) });
    const connection = new Connection(
      socket,
      {
        ...host,
        relay: (from, frame) => this.relays.forward(from, frame),
        offered: ({ offers }) => {
          if (known) return;
          known = true;
          this.options.onPeer?.(offers.name, true);
        },
      },
      0,
    );
    let known = false;
    this.connections.add(connection);
  }

  private lost(connection: Connection): void {
    this.connections.delete(connection);
    this.relays.lost(connection);
    for (const { consumer, listening } of this.consumers.get(connection)?.values() ?? []) {
      void listening.dispose();
      consumer.lost();
    }
    this.consumers.delete(connection);
    if (connection.offers.name !== '') this.options.onPeer?.(connection.offers.name, false);
  }

  private receive(from: Connection, frame: WireFrame): void {
    switch (frame.kind) {
      case wireKind.ask:
        return from.asks.serve(frame, (question) => (this.base.handlers.has(question.subject) ? this.base.answer(question) : this.askPeer(question, from)));
      case wireKind.open:
      case wireKind.body:
        return from.streams.gather(frame, (opening, body) => this.serveOpening(from, frame.number, { opening, body }));
      case wireKind.event: {
        const read = this.base.readEvent(frame);
        if (!read) return;
        this.memory.publish(read.subject as 'router.outcome', read.event as never);
        return this.send(read.subject, frame.payload, from);
      }
      case wireKind.durable:
        return this.store(from, frame);
      case wireKind.consume:
        return this.consume(from, frame);
      case wireKind.endConsume: {
        const all = this.consumers.get(from);
        void all?.get(frame.number)?.listening.dispose();
        return;
      }
      case wireKind.committed:
      case wireKind.notCommitted:
        return this.consumers.get(from)?.get(frame.number)?.consumer.receive(frame);
    }
  }

  private serveOpening(from: Connection, number: number, { opening, body }: { opening: Parameters<Relays['begin']>[2]; body: Buffer }): void {
    if (this.closing) return from.streams.refuse(number, 'service_unavailable');
    if (this.base.serveOpening(from, number, opening, body)) return;
    const peer = this.peerFor(placeOf(opening.subject, opening.to));
    if (peer) this.relays.begin({ connection: from, number }, peer, opening, body);
    else from.streams.refuse(number, 'service_unavailable');
  }

  private askPeer(question: WireQuestion, from?: Connection): Promise<never> {
    const peer = this.peerFor(question.subject, from);
    if (!peer) return Promise.reject(new GatewayError('service_unavailable'));
    this.base.asking.enter();
    const asked = peer.asks.ask(question);
    const left = (): void => this.base.asking.leave();
    asked.then(left, left);
    return asked;
  }

  /** Processes take turns. */
  private peerFor(place: string, except?: Connection): Connection | undefined {
    const all = [...this.connections].filter((one) => one !== except && one.offers.places.has(place));
    return all[this.turn++ % Math.max(1, all.length)];
  }

  private send(subject: string, payload: Buffer, except: Connection | null): void {
    for (const connection of this.connections) if (connection !== except && connection.offers.events.has(subject)) connection.send(wireKind.event, 0, payload);
  }

  private store(from: Connection, { number, payload }: WireFrame): void {
    const { subject, id, event } = readJson(payload) as WireEvent;
    this.memory.publishDurable(subject as DurableSubject, id, event as never).then(
      () => from.send(wireKind.stored, number),
      (error: unknown) => from.send(wireKind.notStored, number, jsonOf(toGatewayError(error).toWire())),
    );
  }

  private consume(from: Connection, { number, payload }: WireFrame): void {
    const { subject, maxBatch, maxWaitMs } = readJson(payload) as WireConsume;
    const consumer = new RemoteConsumer(from, number);
    const listening = this.memory.listenDurably(subject as DurableSubject, (items) => consumer.hand(items as never), {
      ...(maxBatch !== undefined && { maxBatch }),
      ...(maxWaitMs !== undefined && { maxWaitMs }),
    });
    const all = this.consumers.get(from) ?? new Map();
    this.consumers.set(from, all.set(number, { consumer, listening }));
  }
}

const both = (...registrations: Disposable[]): Disposable => ({ dispose: async () => void (await Promise.all(registrations.map((one) => one.dispose()))) });
