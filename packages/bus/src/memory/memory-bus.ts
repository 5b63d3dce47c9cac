/** The bus inside one process: passes references and calls directly, with the guarantees of the interface. */
import { askShapes, eventShapes, frameKind, openShapes } from '@model-gateway/contracts';
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
  ServerStream,
  StreamCall,
  StreamHandlers,
} from '../bus.ts';
import { Deadlines } from '../kit/deadlines.ts';
import { InFlight } from '../kit/in-flight.ts';
import { deadlineGraceMs, defaultAskDeadlineMs, eventBatchItems, eventBatchWaitMs, noDeadlineMs, outboxBytesCap, outboxItemsCap } from '../kit/limits.ts';
import { type BusLogger, plainLogger } from '../kit/logger.ts';
import { settlesWithin } from '../kit/settle-within.ts';
import { soon } from '../kit/soon.ts';
import { StreamCallee } from '../stream/callee.ts';
import { StreamCaller } from '../stream/caller.ts';
import { MemoryCalleeLink, MemoryCallerLink, type MemoryStreamHost } from './link.ts';
import { MemoryEvent } from './memory-events.ts';
import { StrictCallee, StrictCaller, strictBytes, strictCopy, strictMessage } from './strict.ts';

/** Options of the bus inside one process. */
export interface MemoryBusOptions {
  /** Copies through JSON and freezes: tests find out what would not cross a real bus. Default false. */
  strict?: boolean;
  logger?: BusLogger;
  /** Cap of the durable queue, per subject. Default 100,000 items and 64 MiB. */
  outbox?: { items?: number; bytes?: number };
  /** How long `drain` waits for what was accepted. Default 30,000. */
  drainMs?: number;
}

type Handler = (...args: never[]) => unknown;

/** One `serve` call: its handlers take turns with those of the others. */
interface Server {
  ask: Partial<Record<string, Handler>>;
  open: Partial<Record<string, Handler>>;
  inFlight: InFlight;
  /** What its streams need of the bus. */
  host: MemoryStreamHost;
}

const empty = new Uint8Array(0);

/** Creates the embedded arrangement's bus. */
export function createMemoryBus(options: MemoryBusOptions = {}): Bus {
  return new MemoryBus(options);
}

class MemoryBus implements Bus {
  private readonly strict: boolean;
  private readonly logger: BusLogger;
  private readonly options: MemoryBusOptions;
  private readonly servers = new Map<string, Server[]>();
  private readonly listeners = new Map<string, Set<(event: never) => void>>();
  private readonly event = new Map<string, MemoryEvent>();
  private readonly watchers: ((connected: boolean) => void)[] = [];
  private readonly deadlines = new Deadlines();
  private readonly calls = new InFlight();
  private readonly served = new InFlight();
  private readonly asks = new InFlight();
  /** For calls that found no server. */
  private readonly orphans: MemoryStreamHost;
  private fencedFrames = 0;
  private turn = 0;
  private closing = false;
  connected = true;

  constructor(options: MemoryBusOptions) {
    this.options = options;
    this.strict = options.strict ?? false;
    this.logger = options.logger ?? plainLogger;
    this.orphans = this.hostOf(null);
  }

  ask<S extends AskSubject>(subject: S, request: unknown, options?: AskOptions): Promise<never> {
    const server = this.pick(subject);
    const handler = server?.ask[subject] as ((request: unknown, info: { deadlineMs: number }) => unknown) | undefined;
    if (!server || !handler) return Promise.reject(new GatewayError('service_unavailable'));
    const deadlineMs = options?.deadlineMs ?? defaultAskDeadlineMs;
    try {
      const reply = handler(this.strict ? strictMessage(`${subject} request`, askShapes[subject].request, request) : request, { deadlineMs });
      if (isPromise(reply)) return this.awaitReply(subject, reply, deadlineMs, server) as Promise<never>;
      return Promise.resolve((this.strict ? strictMessage(`${subject} reply`, askShapes[subject].reply, reply) : reply) as never);
    } catch (error) {
      return Promise.reject(this.answerError(subject, error));
    }
  }

  open<S extends OpenSubject>(subject: S, request: unknown, handlers: StreamHandlers<S>, options?: OpenOptions): StreamCall {
    const server = this.pick(options?.to === undefined ? subject : named(subject, options.to));
    const host = server?.host ?? this.orphans;
    const link = new MemoryCallerLink(host);
    const call = this.strict ? new StrictCaller(link, handlers, this.logger) : new StreamCaller(link, handlers, this.logger);
    this.calls.enter();
    const handler = server?.open[subject] as ((request: unknown, body: Uint8Array, stream: ServerStream<S>) => unknown) | undefined;
    if (!server || !handler) {
      link.connect(call, null);
      soon(() => call.receive(frameKind.error, new GatewayError('service_unavailable'), 0));
      return call;
    }
    const back = new MemoryCalleeLink(host, call);
    const deadlineMs = options?.deadlineMs ?? noDeadlineMs;
    const served = this.strict ? new StrictCallee<S>(subject, back, deadlineMs, host) : new StreamCallee<S>(back, deadlineMs, host);
    link.connect(call, served);
    call.release();
    server.inFlight.enter();
    this.served.enter();
    if (options?.deadlineMs !== undefined) this.deadlines.add(options.deadlineMs + deadlineGraceMs, link);
    const body = options?.body ?? empty;
    // Not in this turn: the opener must hold its end before a handler is called.
    soon(() => {
      if (call.live)
        this.runOpenHandler(
          subject,
          () =>
            handler(
              this.strict ? strictMessage(`${subject} request`, openShapes[subject].request, request) : request,
              this.strict ? strictBytes(body) : body,
              served,
            ),
          served,
        );
    });
    return call;
  }

  publish(subject: string, event: unknown): void {
    const listeners = this.listeners.get(subject);
    if (!listeners || this.closing) return;
    const sent = (this.strict ? strictMessage(subject, eventShapes[subject as keyof typeof eventShapes], event) : event) as never;
    // Later, as over a real bus: the publisher must not run the listeners' code inside its own.
    soon(() => {
      for (const onMessage of listeners) this.guard(() => onMessage(sent), 'a listener threw');
    });
  }

  publishDurable(subject: string, id: string, event: unknown): Promise<void> {
    return this.eventOf(subject).publish(id, this.strict ? strictCopy(event) : event);
  }

  serve(handlers: { ask?: AskHandlers; open?: OpenServerHandlers }): Disposable {
    return this.register(handlers, (subject) => subject);
  }

  serveAs(name: string, handlers: OpenServerHandlers): Disposable {
    return this.register({ open: handlers }, (subject) => named(subject, name));
  }

  /** `placeOf`: where a subject's server is looked for. */
  private register(handlers: { ask?: AskHandlers; open?: OpenServerHandlers }, placeOf: (subject: string) => string): Disposable {
    const inFlight = new InFlight();
    const server = { ask: { ...handlers.ask }, open: { ...handlers.open }, inFlight, host: this.hostOf(inFlight) } as Server;
    const subjects = [...Object.keys(server.ask), ...Object.keys(server.open)].map(placeOf);
    for (const subject of subjects) this.servers.set(subject, [...(this.servers.get(subject) ?? []), server]);
    return {
      dispose: () => {
        for (const subject of subjects) {
          this.servers.set(
            subject,
            (this.servers.get(subject) ?? []).filter((other) => other !== server),
          );
        }
        return server.inFlight.ended();
      },
    };
  }

  listen<S extends EventSubject>(subject: S, onMessage: (event: never) => void): Disposable {
    const listeners = this.listeners.get(subject) ?? new Set();
    this.listeners.set(subject, listeners);
    listeners.add(onMessage);
    return {
      dispose: () => {
        listeners.delete(onMessage);
        return Promise.resolve();
      },
    };
  }

  listenDurably<S extends EventSubject>(
    subject: S,
    handle: (batch: EventItem<S>[]) => Promise<void>,
    options?: { maxBatch?: number; maxWaitMs?: number },
  ): Disposable {
    const stop = this.eventOf(subject).listen(handle, options?.maxBatch ?? eventBatchItems, options?.maxWaitMs ?? eventBatchWaitMs);
    return { dispose: stop };
  }

  onConnection(callback: (connected: boolean) => void): void {
    this.watchers.push(callback);
  }

  stats() {
    let outboxItems = 0;
    for (const event of this.event.values()) outboxItems += event.size;
    return { openCalls: this.calls.size, openServed: this.served.size, outboxItems, fencedFrames: this.fencedFrames, refusedMessages: 0, refusedListeners: 0 };
  }

  async drain(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    const ended = Promise.all([this.calls.ended(), this.served.ended(), this.asks.ended()]).then(() =>
      Promise.all([...this.event.values()].map((event) => event.flushed())),
    );
    if (!(await settlesWithin(ended, this.options.drainMs ?? 30_000))) {
      this.logger.warn({ ...this.stats() }, 'the bus was closed before all work had ended');
    }
    this.connected = false;
    for (const watch of this.watchers) this.guard(() => watch(false), 'a connection watcher threw');
  }

  private pick(subject: string): Server | undefined {
    const servers = this.servers.get(subject);
    if (this.closing || !servers || servers.length === 0) return undefined;
    return servers.length === 1 ? servers[0] : servers[this.turn++ % servers.length];
  }

  private awaitReply(subject: AskSubject, reply: PromiseLike<unknown>, deadlineMs: number, server: Server): Promise<unknown> {
    server.inFlight.enter();
    this.asks.enter();
    return new Promise((resolve, reject) => {
      const deadline = { index: -1, endsAt: 0, expire: () => reject(new GatewayError('timeout')) };
      this.deadlines.add(deadlineMs, deadline);
      const leave = () => {
        this.deadlines.delete(deadline);
        server.inFlight.leave();
        this.asks.leave();
      };
      reply.then(
        (value) => {
          leave();
          try {
            resolve(this.strict ? strictMessage(`${subject} reply`, askShapes[subject].reply, value) : value);
          } catch (error) {
            reject(this.answerError(subject, error));
          }
        },
        (error) => {
          leave();
          reject(this.answerError(subject, error));
        },
      );
    });
  }

  /** The error sent to the asker for a handler's failure; a defect is logged here, where its stack is. */
  private answerError(subject: string, error: unknown): GatewayError {
    const answer = toGatewayError(error);
    if (answer !== error) this.logger.error({ error, subject }, 'a handler threw');
    return this.strict ? GatewayError.fromWire(answer.toWire()) : answer;
  }

  private runOpenHandler<S extends OpenSubject>(subject: S, run: () => unknown, served: StreamCallee<S>): void {
    try {
      const running = run();
      if (isPromise(running)) running.then(undefined, (error) => served.fail(this.answerError(subject, error)));
    } catch (error) {
      served.fail(this.answerError(subject, error));
    }
  }

  private hostOf(inFlight: InFlight | null): MemoryStreamHost {
    return {
      logger: this.logger,
      callEnded: (call) => {
        this.deadlines.delete(call);
        this.calls.leave();
      },
      servedEnded: () => {
        inFlight?.leave();
        this.served.leave();
      },
      droppedBefore: (frames) => {
        this.fencedFrames += frames;
      },
    };
  }

  private eventOf(subject: string): MemoryEvent {
    let event = this.event.get(subject);
    if (!event) {
      const { items = outboxItemsCap, bytes = outboxBytesCap } = this.options.outbox ?? {};
      event = new MemoryEvent(subject, { items, bytes }, this.logger);
      this.event.set(subject, event);
    }
    return event;
  }

  private guard(run: () => void, what: string): void {
    try {
      run();
    } catch (error) {
      this.logger.error({ error }, what);
    }
  }
}

/** A subject at one process. */
const named = (subject: string, name: string): string => `${subject} ${name}`;

const isPromise = (value: unknown): value is PromiseLike<unknown> => typeof (value as PromiseLike<unknown> | null)?.then === 'function';
