/** Durable events over a socket: what was published waits here until the other process has stored it. */
import { GatewayError } from '@model-gateway/contracts/errors';
import type { EventItem, EventSubject } from '../bus.ts';
import { outboxBytesCap, outboxItemsCap } from '../kit/limits.ts';
import type { Connection } from './connection.ts';
import { jsonOf, readError, readJson } from './host.ts';
import { type WireFrame, wireKind } from './wire.ts';

/** A durable event as it crosses the socket. */
export interface WireEvent {
  subject: EventSubject;
  id: string;
  event: unknown;
}

interface Waiting {
  bytes: Buffer;
  stored(): void;
  refused(error: GatewayError): void;
}

/** What was published and is not stored yet; sent again over each new connection. */
export class SocketOutbox {
  private readonly waiting = new Map<number, Waiting>();
  private readonly emptied: (() => void)[] = [];
  private bytes = 0;
  private next = 0;

  get size(): number {
    return this.waiting.size;
  }

  publish(event: WireEvent, connection: Connection | null): Promise<void> {
    const bytes = jsonOf(event);
    if (this.waiting.size >= outboxItemsCap || this.bytes + bytes.length > outboxBytesCap)
      return Promise.reject(new GatewayError('overloaded', { message: 'The queue of durable events is full.' }));
    const number = ++this.next;
    this.bytes += bytes.length;
    connection?.send(wireKind.durable, number, bytes);
    return new Promise((stored, refused) => this.waiting.set(number, { bytes, stored, refused }));
  }

  /** In order; what was stored before and is not known here as such comes twice, and the database's key decides. */
  sendAll(connection: Connection): void {
    for (const [number, { bytes }] of this.waiting) connection.send(wireKind.durable, number, bytes);
  }

  receive({ kind, number, payload }: WireFrame, connection: Connection): void {
    const waiting = this.waiting.get(number);
    if (!waiting) return;
    this.waiting.delete(number);
    this.bytes -= waiting.bytes.length;
    if (kind === wireKind.stored) waiting.stored();
    else waiting.refused(readError(connection.reader, 'a durable event', payload));
    if (this.waiting.size === 0) for (const wake of this.emptied.splice(0)) wake();
  }

  /** Resolves when everything published is stored. */
  flushed(): Promise<void> {
    return this.waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => this.emptied.push(resolve));
  }
}

/** What a listener wants, as it crosses the socket. */
export interface WireConsume {
  subject: EventSubject;
  maxBatch?: number;
  maxWaitMs?: number;
}

interface WireBatch {
  batch: number;
  items: EventItem<EventSubject>[];
}

type Handle = (batch: EventItem<EventSubject>[]) => Promise<void>;

/** Listeners of this process for durable events, which the other one hands out. */
export class SocketConsumers {
  private readonly consumers = new Map<number, { want: WireConsume; handle: Handle; running: Set<Promise<void>> }>();
  private next = 0;

  add(want: WireConsume, handle: Handle, connection: () => Connection | null): () => Promise<void> {
    const number = ++this.next;
    const running = new Set<Promise<void>>();
    this.consumers.set(number, { want, handle, running });
    connection()?.send(wireKind.consume, number, jsonOf(want));
    return async () => {
      connection()?.send(wireKind.endConsume, number);
      await Promise.allSettled(running);
      this.consumers.delete(number);
    };
  }

  sendAll(connection: Connection): void {
    for (const [number, { want }] of this.consumers) connection.send(wireKind.consume, number, jsonOf(want));
  }

  receive({ number, payload }: WireFrame, connection: Connection): void {
    const consumer = this.consumers.get(number);
    const { batch, items } = readJson(payload) as WireBatch;
    const done = (kind: number): void => connection.send(kind, number, jsonOf(batch));
    if (!consumer) return done(wireKind.notCommitted);
    const running = Promise.resolve()
      .then(() => consumer.handle(items))
      .then(
        () => done(wireKind.committed),
        () => done(wireKind.notCommitted),
      );
    consumer.running.add(running);
    void running.then(() => consumer.running.delete(running));
  }
}

/** The other side of `SocketConsumers`: batches that a process beyond the socket was handed. */
export class RemoteConsumer {
  private readonly connection: Connection;
  private readonly number: number;
  private readonly handedOut = new Map<number, { committed(): void; refused(error: Error): void }>();
  private next = 0;

  constructor(connection: Connection, number: number) {
    this.connection = connection;
    this.number = number;
  }

  /** Resolves when the other process has committed the batch. */
  hand(items: EventItem<EventSubject>[]): Promise<void> {
    if (this.connection.closed) return Promise.reject(new Error('the listener is gone'));
    const batch = ++this.next;
    this.connection.send(wireKind.batch, this.number, jsonOf({ batch, items } satisfies WireBatch));
    return new Promise((committed, refused) => this.handedOut.set(batch, { committed, refused }));
  }

  receive({ kind, payload }: WireFrame): void {
    const batch = readJson(payload) as number;
    const handed = this.handedOut.get(batch);
    this.handedOut.delete(batch);
    if (kind === wireKind.committed) handed?.committed();
    else handed?.refused(new Error('the listener refused the events'));
  }

  lost(): void {
    for (const { refused } of this.handedOut.values()) refused(new Error('the listener is gone'));
    this.handedOut.clear();
  }
}
