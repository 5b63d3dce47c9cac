/** The bus over NATS: one connection, one inbox, and streams, credit and liveness built on core NATS. */
import { eventShapes, frameKind, type ServiceName } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Msg, NodeConnectionOptions } from '@nats-io/transport-node';
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
import { InFlight } from '../kit/in-flight.ts';
import { defaultAskDeadlineMs, eventBatchItems, eventBatchWaitMs, frameCap, gatheredBodiesCap, outboxBytesCap, outboxItemsCap } from '../kit/limits.ts';
import { type BusLogger, plainLogger } from '../kit/logger.ts';
import { MessageReader } from '../kit/message-reader.ts';
import { Outage } from '../kit/outage.ts';
import { settlesWithin } from '../kit/settle-within.ts';
import { Asks, payloadCap } from './asks.ts';
import { ServerConnection } from './connection.ts';
import type { ConnectionSource } from './connection-options.ts';
import { EventConsumer } from './event-consumer.ts';
import { EventOutbox } from './event-outbox.ts';
import { ensureEventStream, eventManager } from './event-stream.ts';
import { type Frame, frameMark, jsonBytes, readFrame, readJson } from './frame.ts';
import { GatherBudget } from './gathering.ts';
import { Peers } from './peers.ts';
import { RoundTrips } from './round-trips.ts';
import { Servers } from './servers.ts';
import { Streams } from './streams.ts';
import { answerKey, directSubject, inboxSubscription, mintInbox, namedSubject, subjectOf, toAllSubject } from './subjects.ts';

/** Options of the bus over NATS. */
export interface NatsBusOptions extends Pick<ConnectionSource, 'tls'> {
  /** `nats://host:4222`, several separated by commas. */
  url: string;
  /** The process: `edge`, `translator`. Lower-case letters, digits and dashes. */
  name: string;
  logger?: BusLogger;
  /** Passed to the library: TLS, credentials. */
  natsOptions?: NodeConnectionOptions;
  /** Checks at the start whether the server allows what this service needs; `required`: also refuses a server that allows more. */
  permissions?: { service: ServiceName; required: boolean };
  /** Cap of the durable outbox. Default 100,000 items and 64 MiB. */
  outbox?: { items?: number; bytes?: number };
  /** Largest request body a server takes; above it the opener gets `payload_too_large`. Default 256 MiB. */
  maxBodyBytes?: number;
  /** Bytes of bodies that may be on their way to this process at once; above it openers get `overloaded`. Default 512 MiB. */
  maxBodiesBytes?: number;
  /** Servers of a cluster that keep each durable event; a store with fewer copies is given more, for which the user has to be allowed to change it. Default 1. */
  eventReplicas?: number;
  /** After this long without an acknowledgement, final or "in progress", durable events are delivered again. Default 5,000. */
  ackWaitMs?: number;
  /** How long `drain` waits for what was accepted. Default 30,000. */
  drainMs?: number;
}

/** All servers of a subject share one queue group: one of them gets each message. */
const queueGroup = 'gw';
/** Largest size of the durable store, when it is made; a server with less space is asked for half of it, and so on. */
const maxStoreBytes = 1024 ** 3;

/** The bus over NATS; `connectNatsBus` creates it. */
export class NatsBus implements Bus {
  readonly link: ServerConnection;
  /** Of this connection: a new one makes the old one's late frames reach nobody. */
  inbox: string;
  private inboxBytes: Uint8Array;
  private leaveInbox: () => Promise<void>;
  private readonly options: NatsBusOptions;
  private readonly logger: BusLogger;
  private readonly reader: MessageReader;
  private readonly clock: Clock;
  private readonly asks: Asks;
  private readonly peers: Peers;
  private readonly servers: Servers;
  private readonly trips: RoundTrips;
  private readonly streams: Streams;
  private readonly outbox: EventOutbox;
  private readonly listeners = new Set<EventConsumer>();
  private readonly registrations = new Set<() => Promise<void>>();
  private readonly watchers: ((connected: boolean) => void)[] = [];
  /** Called with each new inbox, the address of this process alone. */
  private readonly directs = new Set<(inbox: string) => void>();
  private ensuring: Promise<void> | null = null;
  private readonly streamOutage: Outage;
  private fencedFrames = 0;
  private closing = false;

  constructor(options: NatsBusOptions) {
    this.options = options;
    this.logger = options.logger ?? plainLogger;
    this.reader = new MessageReader(this.logger);
    this.link = new ServerConnection({
      url: options.url,
      name: options.name,
      logger: this.logger,
      tls: options.tls,
      ...(options.natsOptions && { natsOptions: options.natsOptions }),
      ...(options.permissions && { permissions: options.permissions }),
    });
    this.inbox = mintInbox(options.name);
    this.inboxBytes = Buffer.from(this.inbox, 'latin1');
    this.leaveInbox = this.receiveInbox();
    const host = this.host();
    this.peers = host.peers;
    this.servers = host.servers;
    this.trips = host.trips;
    this.asks = new Asks(host);
    this.streams = new Streams(host);
    this.outbox = new EventOutbox(host, { items: options.outbox?.items ?? outboxItemsCap, bytes: options.outbox?.bytes ?? outboxBytesCap });
    this.streamOutage = new Outage({
      begins: (_reason, error) => this.logger.warn({ error }, 'the event stream cannot be configured yet: durable events wait'),
      ends: () => this.logger.info({}, 'the event stream is configured'),
    });
    this.link.onChange((connected) => this.changed(connected));
    this.clock = new Clock(() => this.tick());
  }

  get connected(): boolean {
    return this.link.connected && !this.trips.hung;
  }

  ask<S extends AskSubject>(subject: S, request: unknown, options?: AskOptions): Promise<never> {
    if (this.closing || this.trips.hung) return Promise.reject(new GatewayError('service_unavailable'));
    return this.asks.ask(subject, request, options?.deadlineMs ?? defaultAskDeadlineMs);
  }

  open<S extends OpenSubject>(subject: S, request: unknown, handlers: StreamHandlers<S>, options?: OpenOptions): StreamCall {
    return this.streams.open(subject, request, handlers, options);
  }

  publish(subject: string, event: unknown): void {
    this.link.publish(subjectOf(subject), jsonBytes(event));
  }

  publishDurable(subject: string, id: string, event: unknown): Promise<void> {
    return this.outbox.publish(subjectOf(subject), id, event);
  }

  serve(handlers: { ask?: AskHandlers; open?: OpenServerHandlers }): Disposable {
    const inFlight = new InFlight();
    const leave: (() => Promise<void>)[] = [];
    for (const [name, handler] of Object.entries(handlers.ask ?? {})) {
      const subject = name as AskSubject;
      leave.push(this.answerCalls(subject, (frame) => this.asks.answer(subject, handler as never, frame, inFlight)));
    }
    for (const [name, handler] of Object.entries(handlers.open ?? {})) {
      const subject = name as OpenSubject;
      leave.push(this.answerCalls(subject, (frame) => this.streams.accept(subject, handler as never, frame, inFlight)));
    }
    return this.registration(async () => {
      await Promise.all(leave.map((stop) => stop()));
      await inFlight.ended();
    });
  }

  serveAs(name: string, handlers: OpenServerHandlers): Disposable {
    const inFlight = new InFlight();
    const leave: (() => Promise<void>)[] = [];
    for (const [key, handler] of Object.entries(handlers)) {
      const subject = key as OpenSubject;
      const onMessage = (data: Uint8Array) => {
        const frame = readFrame(data);
        if (frame) this.streams.accept(subject, handler as never, frame, inFlight);
        else this.fencedFrames++;
      };
      leave.push(this.subscribeSubject(namedSubject(subjectOf(subject), name), queueGroup, onMessage));
    }
    return this.registration(async () => {
      await Promise.all(leave.map((stop) => stop()));
      await inFlight.ended();
    });
  }

  listen<S extends EventSubject>(subject: S, onMessage: (event: never) => void): Disposable {
    const shape = eventShapes[subject as keyof typeof eventShapes];
    return this.registration(
      this.subscribeHandler(subject, undefined, (data) => {
        const event = this.reader.readOrDrop(subject, shape, () => readJson(data));
        if (event !== undefined) onMessage(event as never);
      }),
    );
  }

  listenDurably<S extends EventSubject>(
    subject: S,
    handle: (batch: EventItem<S>[]) => Promise<void>,
    options?: { maxBatch?: number; maxWaitMs?: number },
  ): Disposable {
    const listener = new EventConsumer(this.link, this.logger, () => this.ensureStream(), {
      subject,
      handle: handle as never,
      maxBatch: options?.maxBatch ?? eventBatchItems,
      maxWaitMs: options?.maxWaitMs ?? eventBatchWaitMs,
      ackWaitMs: this.options.ackWaitMs ?? 5_000,
    });
    this.listeners.add(listener);
    return this.registration(() => {
      this.listeners.delete(listener);
      return listener.stop();
    });
  }

  onConnection(callback: (connected: boolean) => void): void {
    this.watchers.push(callback);
  }

  stats() {
    return {
      openCalls: this.streams.calls.size,
      openServed: this.streams.served.size,
      outboxItems: this.outbox.size,
      fencedFrames: this.fencedFrames,
      refusedMessages: this.reader.refused,
      refusedListeners: [...this.listeners].filter(({ refused }) => refused).length,
    };
  }

  async drain(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    this.streams.refusing = true;
    const ended = this.finish();
    if (!(await settlesWithin(ended, this.options.drainMs ?? 30_000))) this.logger.warn(this.stats(), 'the bus was closed before all work had ended');
    this.streams.loseAll('the bus closes');
    this.asks.loseAll();
    this.peers.flushAllAcks();
    this.clock.stop();
    await this.link.close();
  }

  /** No new work; what was accepted; the tails and events that others wait for. */
  private async finish(): Promise<void> {
    const listening = [...this.registrations].map((close) => close());
    await Promise.all([this.streams.calls.ended(), this.streams.served.ended(), this.asks.inFlight.ended(), ...listening]);
    this.peers.flushAllAcks();
    await settlesWithin(this.peers.settled(), 5000);
    this.peers.loseAll('the bus closes');
    await this.outbox.flushed();
  }

  /** What is sent to any of us, to all of us, and to this process alone. */
  private answerCalls(subject: AskSubject | OpenSubject, take: (frame: Frame) => void): () => Promise<void> {
    const onMessage = (data: Uint8Array) => {
      const frame = readFrame(data);
      if (!frame) this.fencedFrames++;
      else if (frame.kind === frameKind.find) this.servers.answer(subject, frame);
      else take(frame);
    };
    // Of several that serve it in this process, one.
    const receiveDirect = (inbox: string) => this.subscribeSubject(directSubject(subjectOf(subject), inbox), queueGroup, onMessage);
    const leaveAny = this.subscribeHandler(subject, queueGroup, onMessage);
    const leaveAll = this.subscribeSubject(toAllSubject(subjectOf(subject)), undefined, onMessage);
    let leaveDirect = receiveDirect(this.inbox);
    const renew = (inbox: string) => {
      void leaveDirect();
      leaveDirect = receiveDirect(inbox);
    };
    this.directs.add(renew);
    return async () => {
      this.directs.delete(renew);
      await Promise.all([leaveAny(), leaveAll(), leaveDirect()]);
    };
  }

  /** Empty messages are permission probes and are ignored. */
  private subscribeHandler(subject: string, queue: string | undefined, onMessage: (data: Uint8Array) => void): () => Promise<void> {
    return this.subscribeSubject(subjectOf(subject), queue, onMessage);
  }

  private subscribeSubject(subject: string, queue: string | undefined, onMessage: (data: Uint8Array) => void): () => Promise<void> {
    return this.link.subscribe(subject, queue, ({ data }) => {
      if (data.length > 0) onMessage(data);
    });
  }

  private registration(close: () => Promise<void>): Disposable {
    const once = () => {
      this.registrations.delete(once);
      return close();
    };
    this.registrations.add(once);
    return { dispose: once };
  }

  private receiveInbox(): () => Promise<void> {
    return this.link.subscribe(inboxSubscription(this.inbox), undefined, (message) => this.receive(message));
  }

  /** Our own frames start with their version; what is empty or JSON comes from the server. */
  private receive(message: Msg): void {
    const { data } = message;
    const frame = readFrame(data);
    if (!frame) return this.receiveServer(message);
    if (frame.kind === frameKind.here) return this.servers.receive(frame);
    if (frame.kind === frameKind.pulse) return this.peers.receivePulse(frame);
    if (frame.kind === frameKind.ack) return this.peers.receiveAcks(frame);
    if ((frame.marks & frameMark.ask) !== 0) return this.asks.receive(frame);
    this.streams.receive(frame);
  }

  private receiveServer(message: Msg): void {
    const key = answerKey(message.subject);
    if (this.outbox.receive(key, message)) return;
    if (message.data.length > 0 || !(this.asks.noResponders(key) || this.streams.noResponders(key))) this.fencedFrames++;
  }

  private changed(connected: boolean): void {
    this.trips.reset();
    if (!connected) {
      this.servers.reset();
      // Frames under way may be lost on either side: nothing of the old connection goes on.
      this.outbox.disconnected();
      this.asks.loseAll();
      this.streams.loseAll('the bus connection was lost');
      this.peers.loseAll('the bus connection was lost');
      void this.leaveInbox();
      this.inbox = mintInbox(this.options.name);
      this.inboxBytes = Buffer.from(this.inbox, 'latin1');
      this.leaveInbox = this.receiveInbox();
      for (const renew of this.directs) renew(this.inbox);
    } else {
      this.trips.flush();
      this.outbox.pump();
    }
    this.notifyWatchers(connected);
  }

  /** Questions and unaccepted openings fail; streams under way continue when the server does, within their peers' time limits. */
  private hangs(hung: boolean): void {
    this.logger.warn({ hung }, hung ? 'the bus server does not answer' : 'the bus server answers again');
    if (hung) {
      this.asks.loseAll();
      this.streams.loseUnaccepted('the bus server does not answer');
    }
    this.notifyWatchers(!hung && this.link.connected);
  }

  private notifyWatchers(connected: boolean): void {
    for (const watch of this.watchers) {
      try {
        watch(connected);
      } catch (error) {
        this.logger.error({ error }, 'a connection watcher threw');
      }
    }
  }

  private tick(): void {
    try {
      this.trips.tick();
      this.servers.tick();
      this.asks.tick();
      this.streams.tick();
      this.peers.tick();
      this.outbox.tick();
    } catch (error) {
      this.logger.error({ error }, 'defect in the bus clock');
    }
  }

  /** One attempt at a time for all who need it. Never rejects: a caller finds out by using the stream. */
  private ensureStream(): Promise<void> {
    const { connection } = this.link;
    if (!connection) return Promise.resolve();
    this.ensuring ??= eventManager(connection)
      .then((manager) => ensureEventStream(manager, { maxBytes: maxStoreBytes, replicas: this.options.eventReplicas ?? 1 }))
      .then((notes) => {
        for (const note of notes) this.logger.error({}, note);
        this.streamOutage.over();
      })
      // Attempts go on for as long as the server lacks something.
      .catch((error: Error) => this.streamOutage.met(error.message, error))
      .finally(() => {
        this.ensuring = null;
      });
    return this.ensuring;
  }

  /** This bus as its parts see it. */
  private host() {
    const bus = this;
    const host = {
      logger: this.logger,
      reader: this.reader,
      gatherBudget: new GatherBudget(this.options.maxBodiesBytes ?? gatheredBodiesCap),
      maxBodyBytes: this.options.maxBodyBytes ?? 256 * 1024 * 1024,
      get now() {
        return bus.clock?.now ?? 0;
      },
      get inbox() {
        return bus.inbox;
      },
      get inboxBytes() {
        return bus.inboxBytes;
      },
      get connected() {
        return bus.link.connected;
      },
      get cap() {
        return payloadCap(frameCap, bus.link.maxPayload, bus.inboxBytes);
      },
      publish: (...frame: Parameters<ServerConnection['publish']>) => bus.link.publish(...frame),
      refuses: (subject: string) => bus.link.refuses(subject),
      droppedBefore: (frames: number) => {
        bus.fencedFrames += frames;
      },
      ensureStream: () => bus.ensureStream(),
    };
    const trips = new RoundTrips({
      get now() {
        return host.now;
      },
      ping: () => bus.link.ping(),
      hangs: (hung) => bus.hangs(hung),
      giveUp: () => bus.link.giveUp(),
    });
    return Object.assign(host, { peers: new Peers(host), servers: new Servers(host), trips });
  }
}
