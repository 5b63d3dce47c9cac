/** Durable events inside one process: a bounded queue that forgets an item only when a listener has committed it. */
import { GatewayError } from '@model-gateway/contracts/errors';
import { backOffMs } from '../kit/back-off.ts';
import type { BusLogger } from '../kit/logger.ts';
import { RefusedEvents } from '../kit/refused-events.ts';

/** Limits of a queue of durable events. */
export interface EventLimits {
  items: number;
  bytes: number;
}

interface Waiting {
  id: string;
  event: never;
  bytes: number;
  committed: () => void;
  deliveries: number;
}

interface Listener {
  handle: (batch: { id: string; event: never; deliveries: number }[]) => Promise<void>;
  maxBatch: number;
  maxWaitMs: number;
  busy: boolean;
  /** Consecutive refusals, for the back-off. */
  refusals: number;
  timer: NodeJS.Timeout | null;
  idle: (() => void) | null;
}

/** The durable events of one subject. */
export class MemoryEvent {
  private queue: Waiting[] = [];
  private items = 0;
  private bytes = 0;
  private readonly listeners = new Set<Listener>();
  private readonly limits: EventLimits;
  private readonly refusedEvents: RefusedEvents;
  private emptied: (() => void)[] = [];

  constructor(subject: string, limits: EventLimits, logger: BusLogger) {
    this.limits = limits;
    this.refusedEvents = new RefusedEvents(logger, subject);
  }

  /** Items accepted and not yet committed. */
  get size(): number {
    return this.items;
  }

  /** Resolves when a listener has committed the item; rejects `overloaded` when the queue is full. */
  publish(id: string, event: unknown): Promise<void> {
    const bytes = roughBytes(event);
    if (this.items >= this.limits.items || this.bytes + bytes > this.limits.bytes) {
      return Promise.reject(new GatewayError('overloaded', { message: 'The queue of durable events is full.' }));
    }
    this.items++;
    this.bytes += bytes;
    return new Promise((committed) => {
      this.queue.push({ id, event: event as never, bytes, committed, deliveries: 0 });
      this.wakeListeners();
    });
  }

  listen(handle: Listener['handle'], maxBatch: number, maxWaitMs: number): () => Promise<void> {
    const listener: Listener = { handle, maxBatch, maxWaitMs, busy: false, refusals: 0, timer: null, idle: null };
    this.listeners.add(listener);
    this.wakeListeners();
    return async () => {
      if (listener.busy) await new Promise<void>((resolve) => (listener.idle = resolve));
      // Nobody keeps this queue once the process is gone: the last listener handles what was published before it stops.
      while (this.listeners.size === 1 && this.queue.length > 0 && listener.refusals === 0 && !listener.busy) await this.deliver(listener);
      this.listeners.delete(listener);
      if (listener.timer) clearTimeout(listener.timer);
      listener.timer = null;
      if (listener.busy) await new Promise<void>((resolve) => (listener.idle = resolve));
    };
  }

  /** Resolves when everything published was committed, or at once when nobody listens: then waiting would never end. */
  flushed(): Promise<void> {
    if (this.items === 0 || this.listeners.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.emptied.push(resolve);
      for (const listener of this.listeners) this.start(listener, 0);
    });
  }

  private wakeListeners(): void {
    for (const listener of this.listeners) {
      if (listener.busy) continue;
      if (this.queue.length >= listener.maxBatch && listener.refusals === 0) this.start(listener, 0);
      else if (!listener.timer) this.start(listener, listener.maxWaitMs);
    }
  }

  private start(listener: Listener, afterMs: number): void {
    if (listener.timer) {
      if (afterMs > 0) return;
      clearTimeout(listener.timer);
    }
    listener.timer = setTimeout(() => {
      listener.timer = null;
      void this.deliver(listener);
    }, afterMs);
  }

  private async deliver(listener: Listener): Promise<void> {
    if (listener.busy || this.queue.length === 0) return;
    const batch = this.queue.slice(0, listener.maxBatch);
    this.queue = this.queue.slice(batch.length);
    listener.busy = true;
    for (const item of batch) item.deliveries++;
    try {
      await listener.handle(batch);
      listener.refusals = 0;
      this.refusedEvents.taken();
      this.commit(batch);
    } catch (error) {
      listener.refusals++;
      this.queue = batch.concat(this.queue);
      this.refusedEvents.refused(error, batch.length);
    }
    listener.busy = false;
    listener.idle?.();
    if (this.queue.length === 0) return;
    // A disposed listener leaves its refused batch to the others.
    if (!this.listeners.has(listener)) this.wakeListeners();
    else if (listener.refusals > 0) this.start(listener, backOffMs(listener.refusals));
    else this.wakeListeners();
  }

  private commit(batch: Waiting[]): void {
    this.items -= batch.length;
    for (const item of batch) {
      this.bytes -= item.bytes;
      item.committed();
    }
    if (this.items > 0) return;
    const waiters = this.emptied;
    this.emptied = [];
    for (const wake of waiters) wake();
  }
}

/** About what an item holds in memory, without serialising it: long strings decide, everything else is a constant. */
function roughBytes(event: unknown): number {
  let bytes = 256;
  if (typeof event !== 'object' || event === null) return bytes;
  const fields = event as Record<string, unknown>;
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === 'string') bytes += value.length * 2;
    else if (Array.isArray(value)) bytes += value.length * 256;
    else bytes += 8;
  }
  return bytes;
}
