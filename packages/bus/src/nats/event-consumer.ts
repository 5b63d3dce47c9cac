/** Incoming durable events: pulled within bounds, merged into batches, kept while they are held, acknowledged after `handle` resolves, released when it rejects. */
import { type ConsumerMessages, type JsMsg, jetstream } from '@nats-io/jetstream';
import type { Subscription } from '@nats-io/transport-node';
import type { EventItem, EventSubject } from '../bus.ts';
import { backOffMs } from '../kit/back-off.ts';
import type { BusLogger } from '../kit/logger.ts';
import { Outage } from '../kit/outage.ts';
import { RefusedEvents } from '../kit/refused-events.ts';
import { settlesWithin } from '../kit/settle-within.ts';
import type { ServerConnection } from './connection.ts';
import { deletionMs, ensureEventConsumer, eventManager, maxUnacknowledged } from './event-stream.ts';
import { consumerOf, eventStream } from './subjects.ts';

/** Options of a durable listener. */
export interface ListenerOptions {
  subject: string;
  handle: (batch: EventItem<EventSubject>[]) => Promise<void>;
  maxBatch: number;
  maxWaitMs: number;
  /** After this long without an acknowledgement, final or "in progress", the server delivers a message again. */
  ackWaitMs: number;
}

/** One JetStream message: acknowledged when the last of its items is handled. */
interface Source {
  message: JsMsg;
  left: number;
}

interface Held {
  item: EventItem<EventSubject>;
  source: Source;
}

/** "In progress" acknowledgements within the time that the server waits for one. */
const progressPerWait = 3;
/** For what the server has sent before it knows that nobody listens. */
const lastMs = 2000;

/** What tells that the consumer is not as we left it. */
const fatalNotes = new Set(['consumer_not_found', 'stream_not_found', 'consumer_deleted', 'no_responders', 'heartbeats_missed']);

/** One durable listener: pulls messages and hands their events over in batches. */
export class EventConsumer {
  private readonly link: ServerConnection;
  private readonly logger: BusLogger;
  private readonly options: ListenerOptions;
  private readonly ensureStream: () => Promise<void>;
  private queue: Held[] = [];
  /** What we hold, by stream sequence, so that a redelivery meanwhile is not handled twice. */
  private readonly held = new Map<number, JsMsg>();
  /** Handled while the connection was away. */
  private owed: JsMsg[] = [];
  private timer: NodeJS.Timeout | null = null;
  private handling: Promise<void> | null = null;
  private refusals = 0;
  /** The server would not give us events when it was asked last, more than once. */
  refused = false;
  private stopped = false;
  private interrupt: () => void = () => {};
  private readonly outage: Outage;
  private readonly refusedEvents: RefusedEvents;
  private readonly running: Promise<void>;
  private readonly keeper: NodeJS.Timeout;

  constructor(link: ServerConnection, logger: BusLogger, ensureStream: () => Promise<void>, options: ListenerOptions) {
    this.link = link;
    this.logger = logger;
    this.ensureStream = ensureStream;
    this.options = options;
    const { subject } = options;
    this.outage = new Outage({
      begins: (_reason, error) => logger.warn({ error, subject }, 'durable events cannot be read yet'),
      ends: () => logger.info({ subject }, 'durable events are read'),
    });
    this.refusedEvents = new RefusedEvents(logger, subject);
    link.onChange(() => this.interrupt());
    this.running = this.run();
    this.keeper = setInterval(() => this.keepHeld(), options.ackWaitMs / progressPerWait).unref();
  }

  /** Takes nothing new, lets the running `handle` end, gives the rest back. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.interrupt();
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    await this.handling;
    await settlesWithin(this.running, 5000);
    this.giveBack(new Set(this.queue.map(({ source }) => source)), 0);
    clearInterval(this.keeper);
  }

  private async run(): Promise<void> {
    for (let tries = 0; !this.stopped; ) {
      const interrupted = new Promise<void>((resolve) => {
        this.interrupt = resolve;
      });
      if (!this.link.connected) {
        await interrupted;
        continue;
      }
      try {
        const messages = await this.consume();
        tries = 0;
        this.refused = false;
        this.outage.over();
        await interrupted;
        if (this.link.connected) await receiveLast(messages);
        messages.stop();
        // Interrupted by a note: the stream or the consumer may be in the middle of its deletion.
        if (this.link.connected && !this.stopped) await new Promise((resolve) => setTimeout(resolve, deletionMs));
      } catch (error) {
        tries++;
        // Once may be the moment in which its stream is made, or a cluster chooses its leader.
        this.refused = tries > 2;
        this.outage.met(error instanceof Error ? error.message : String(error), error);
        await Promise.race([interrupted, new Promise((resolve) => setTimeout(resolve, backOffMs(tries, 200, 5000)))]);
      }
    }
  }

  private async consume(): Promise<ConsumerMessages> {
    const connection = this.link.connection;
    if (!connection) throw new Error('not connected');
    const manager = await eventManager(connection);
    await this.ensureStream();
    await ensureEventConsumer(manager, this.options.subject, this.options.ackWaitMs);
    this.payOwed();
    const consumer = await jetstream(connection, { timeout: 5000 }).consumers.get(eventStream, consumerOf(this.options.subject));
    // How much is pulled ahead of the handler is bounded by the consumer's `max_ack_pending`.
    const messages = await consumer.consume({
      max_messages: maxUnacknowledged,
      idle_heartbeat: 2000,
      expires: 10_000,
      callback: (message) => this.receive(message),
    });
    void this.watch(messages);
    return messages;
  }

  private async watch(messages: ConsumerMessages): Promise<void> {
    const interrupt = this.interrupt;
    for await (const note of messages.status()) if (fatalNotes.has(note.type)) interrupt();
  }

  private receive(message: JsMsg): void {
    if (this.held.has(message.seq)) return;
    const items = readItems(message);
    this.held.set(message.seq, message);
    const source = { message, left: items.length };
    for (const item of items) this.queue.push({ item, source });
    this.schedule();
  }

  private schedule(): void {
    if (this.stopped || this.handling || this.queue.length === 0) return;
    if (this.refusals === 0 && this.queue.length >= this.options.maxBatch) this.start();
    else this.timer ??= setTimeout(() => this.start(), this.refusals > 0 ? backOffMs(this.refusals) : this.options.maxWaitMs);
  }

  private start(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.stopped || this.handling || this.queue.length === 0) return;
    this.handling = this.deliver().finally(() => {
      this.handling = null;
      this.schedule();
    });
  }

  private async deliver(): Promise<void> {
    const batch = this.queue.slice(0, this.options.maxBatch);
    this.queue = this.queue.slice(batch.length);
    try {
      await this.options.handle(batch.map(({ item }) => item));
      this.refusals = 0;
      this.refusedEvents.taken();
      for (const { source } of batch) if (--source.left === 0) this.acknowledge(source.message);
    } catch (error) {
      this.refusals++;
      this.refusedEvents.refused(error, batch.length);
      this.giveBack(new Set(batch.map(({ source }) => source)), backOffMs(this.refusals));
    }
  }

  /** Handling may take longer than the server waits: what a dead process held is delivered again soon, what a slow one holds is not. */
  private keepHeld(): void {
    if (!this.link.connected) return;
    for (const message of this.held.values()) this.answer(() => message.working());
  }

  private acknowledge(message: JsMsg): void {
    this.held.delete(message.seq);
    if (this.link.connected) this.answer(() => message.ack());
    else this.owed.push(message);
  }

  /** Whole messages go back: an item that was handled already comes again and is known by its id. */
  private giveBack(sources: Set<Source>, afterMs: number): void {
    this.queue = this.queue.filter(({ source }) => !sources.has(source));
    for (const { message } of sources) {
      this.held.delete(message.seq);
      if (this.link.connected) this.answer(() => message.nak(Math.ceil(afterMs)));
    }
  }

  private payOwed(): void {
    const owed = this.owed;
    this.owed = [];
    for (const message of owed) this.answer(() => message.ack());
  }

  /** Without an answer the server delivers again, which costs time but nothing else. */
  private answer(send: () => void): void {
    try {
      send();
    } catch (error) {
      this.logger.warn({ error }, 'durable events could not be acknowledged');
    }
  }
}

/**
 * Unsubscribes, and receives what the server had sent until then. The library's `stop` alone would drop it, and nobody else gets it before the server
 * misses its acknowledgement.
 */
async function receiveLast(messages: ConsumerMessages): Promise<void> {
  const { sub } = messages as { sub?: Subscription };
  if (sub && !sub.isClosed()) await settlesWithin(sub.drain(), lastMs);
}

/** No batch of ours is half as long. */
const maxItems = 1_000;
/** Of a message that is not a batch this much is handed on. */
const maxUnreadableLength = 16_384;

/**
 * The items of a message. What is not a batch, and what in a batch is not a pair, is an item too: its event is the text or the value as it came, and the
 * handler, which reads each item through a schema, keeps it aside with everything else that it cannot use.
 */
function readItems({ data, seq, info }: JsMsg): EventItem<EventSubject>[] {
  const deliveries = info.deliveryCount;
  const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString();
  const pairs = parse(text);
  if (!Array.isArray(pairs) || pairs.length === 0 || pairs.length > maxItems)
    return [{ id: `message-${seq}`, event: text.slice(0, maxUnreadableLength) as never, deliveries }];
  return pairs.map((pair: unknown, index) =>
    Array.isArray(pair) && typeof pair[0] === 'string'
      ? { id: pair[0], event: pair[1] as never, deliveries }
      : { id: `message-${seq}-${index}`, event: pair as never, deliveries },
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
