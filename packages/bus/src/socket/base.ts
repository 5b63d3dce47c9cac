/** What both ends of the sockets have: a clock, counters, handlers and listeners. */
import { eventShapes } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { EventSubject } from '../bus.ts';
import { Deadlines } from '../kit/deadlines.ts';
import { InFlight } from '../kit/in-flight.ts';
import { type BusLogger, plainLogger } from '../kit/logger.ts';
import { MessageReader } from '../kit/message-reader.ts';
import type { WireQuestion } from './asks.ts';
import type { Connection, ConnectionHost } from './connection.ts';
import { Handlers, placeOf } from './handlers.ts';
import { readJson } from './host.ts';
import type { WireOpening } from './streams.ts';
import type { WireFrame } from './wire.ts';

/** A part of each bus over sockets. `offersChanged`: announces to the others what is served and listened to here. */
export class SocketBase {
  readonly logger: BusLogger;
  readonly reader: MessageReader;
  readonly deadlines = new Deadlines();
  readonly calls = new InFlight();
  readonly served = new InFlight();
  readonly asking = new InFlight();
  readonly handlers: Handlers;
  readonly watchers: ((connected: boolean) => void)[] = [];
  fencedFrames = 0;
  private readonly listeners = new Map<string, Set<(event: never) => void>>();
  private readonly offersChanged: () => void;

  constructor(logger: BusLogger | undefined, offersChanged: () => void) {
    this.logger = logger ?? plainLogger;
    this.reader = new MessageReader(this.logger);
    this.offersChanged = offersChanged;
    this.handlers = new Handlers(offersChanged);
  }

  get events(): string[] {
    return [...this.listeners.keys()];
  }

  listen(subject: string, onMessage: (event: never) => void): () => void {
    const listeners = this.listeners.get(subject) ?? new Set();
    this.listeners.set(subject, listeners.add(onMessage));
    this.offersChanged();
    return () => {
      listeners.delete(onMessage);
      if (listeners.size === 0) this.listeners.delete(subject);
      this.offersChanged();
    };
  }

  deliver(subject: string, event: unknown): void {
    for (const onMessage of this.listeners.get(subject) ?? []) {
      try {
        onMessage(event as never);
      } catch (error) {
        this.logger.error({ error }, 'a listener threw');
      }
    }
  }

  /** undefined: of another shape, and dropped. */
  readEvent({ payload }: WireFrame): { subject: EventSubject; event: unknown } | undefined {
    const { subject, event } = readJson(payload) as { subject: EventSubject; event: unknown };
    const read = this.reader.readOrDrop(subject, eventShapes[subject as keyof typeof eventShapes], () => event);
    return read === undefined ? undefined : { subject, event };
  }

  /** Answers a question that came over a connection; throws where nobody here serves it. */
  answer({ subject, request, deadlineMs }: WireQuestion): unknown {
    const served = this.handlers.pick(subject);
    if (!served) throw new GatewayError('service_unavailable');
    served.inFlight.enter();
    this.asking.enter();
    const left = (): void => {
      served.inFlight.leave();
      this.asking.leave();
    };
    try {
      const reply = (served.handler as (...args: unknown[]) => unknown)(request, { deadlineMs }) as PromiseLike<unknown> | null | undefined;
      if (typeof reply?.then !== 'function') {
        left();
        return reply;
      }
      reply.then(left, left);
      return reply;
    } catch (error) {
      left();
      throw error;
    }
  }

  /** Serves an opening that is whole; false: nobody here does. */
  serveOpening(from: Connection, number: number, opening: WireOpening, body: Buffer): boolean {
    const served = this.handlers.pick(placeOf(opening.subject, opening.to));
    if (!served) return false;
    from.streams.serve(number, opening, body, served);
    return true;
  }

  notify(connected: boolean): void {
    for (const watch of this.watchers) {
      try {
        watch(connected);
      } catch (error) {
        this.logger.error({ error }, 'a connection watcher threw');
      }
    }
  }

  /** For connections of this bus. */
  hostOf(own: Pick<ConnectionHost, 'receive' | 'lost'>): ConnectionHost {
    const base = this;
    const { logger, reader, deadlines, calls, served } = base;
    return {
      logger,
      reader,
      deadlines,
      calls,
      served,
      droppedBefore(frames) {
        base.fencedFrames += frames;
      },
      ...own,
    };
  }
}
