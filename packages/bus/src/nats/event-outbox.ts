/** Outgoing durable events: bounded, batched, pipelined, and kept until JetStream has acknowledged them. */
import { dispensableSubjects, earlierSubjects } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { headers as createHeaders, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import { backOffMs } from '../kit/back-off.ts';
import type { BusLogger } from '../kit/logger.ts';
import { Outage } from '../kit/outage.ts';
import { mintStreamId, streamKey } from './stream-id.ts';
import { answerSubject, subjectOf } from './subjects.ts';

/** What the outbox needs of its bus. */
export interface OutboxHost {
  readonly logger: BusLogger;
  readonly now: number;
  readonly inbox: string;
  readonly connected: boolean;
  /** Payload bytes of one message. */
  readonly cap: number;
  publish(subject: string, payload: Uint8Array, reply: string, headers: MsgHdrs): boolean;
  /** The server lets nobody publish this here: its configuration is that of a version before the subject. */
  refuses(subject: string): boolean;
  /** The stream may not exist: makes it. Never rejects. */
  ensureStream(): Promise<void>;
}

interface Item {
  text: string;
  bytes: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** What one subject has in the outbox. */
interface Share {
  items: number;
  bytes: number;
  /** Batches that are sent, or wait for another try. */
  batches: number;
}

interface Batch {
  subject: string;
  /** The same on every try, so that the server forgets repetitions. */
  messageId: string;
  payload: Buffer;
  items: Item[];
  tries: number;
  key: number;
  /** When the acknowledgement is overdue, or the next try is due. */
  dueAt: number;
}

/** Waits this long for company: a message per request would double what the bus costs. */
const lingerMs = 25;
const batchItems = 200;
const batchBytes = 128 * 1024;
/** Batches of one subject under way at once; none waits for the one before it. A subject that the store does not know holds up no other. */
const maxInProgress = 16;
const ackMs = 5000;
const lesser: ReadonlySet<string> = new Set(dispensableSubjects.map(subjectOf));
const earlier: ReadonlyMap<string, string> = new Map(Object.entries(earlierSubjects).map(([now, before]) => [subjectOf(now), subjectOf(before)]));

/** The durable events that JetStream has not acknowledged yet, in memory. */
export class EventOutbox {
  private readonly host: OutboxHost;
  private readonly limits: { items: number; bytes: number };
  private readonly waiting = new Map<string, Item[]>();
  private readonly underWay = new Map<number, Batch>();
  private retries: Batch[] = [];
  private items = 0;
  private bytes = 0;
  private readonly shares = new Map<string, Share>();
  private timer: NodeJS.Timeout | null = null;
  private readonly outage: Outage;
  private emptied: (() => void)[] = [];

  constructor(host: OutboxHost, limits: { items: number; bytes: number }) {
    this.host = host;
    this.limits = limits;
    this.outage = new Outage({
      begins: (refusal) => host.logger.warn({ refusal, items: this.items }, 'durable events wait for the JetStream stream'),
      ends: () => host.logger.info({ items: this.items }, 'the JetStream stream takes durable events again'),
    });
  }

  /** Items published and not yet acknowledged. */
  get size(): number {
    return this.items;
  }

  /**
   * Resolves with the acknowledgement; rejects `overloaded` when the outbox is full, `payload_too_large` when no message holds the item, and
   * `service_unavailable` when the server does not let it be published.
   */
  publish(subject: string, id: string, event: unknown): Promise<void> {
    const text = JSON.stringify([id, event]);
    const bytes = Buffer.byteLength(text);
    if (bytes + 2 > this.host.cap) return Promise.reject(new GatewayError('payload_too_large'));
    if (this.host.refuses(subject)) {
      const before = earlier.get(subject);
      return before === undefined ? Promise.reject(refused()) : this.publish(before, id, event);
    }
    const share = this.shareOf(subject);
    // What its service does without may fill half of it, so that the others still fit.
    const tooMuch = lesser.has(subject) && (share.items >= this.limits.items / 2 || share.bytes + bytes > this.limits.bytes / 2);
    if (tooMuch || this.items >= this.limits.items || this.bytes + bytes > this.limits.bytes) {
      return Promise.reject(new GatewayError('overloaded', { message: 'The outbox of durable events is full.' }));
    }
    this.count(share, 1, bytes);
    return new Promise((resolve, reject) => this.enqueue(subject, [{ text, bytes, resolve, reject }]));
  }

  private enqueue(subject: string, added: readonly Item[]): void {
    const items = this.waiting.get(subject) ?? [];
    this.waiting.set(subject, items);
    items.push(...added);
    if (items.length >= batchItems) this.pump();
    else this.timer ??= setTimeout(() => this.pump(), lingerMs);
  }

  /** Sends what may be sent. */
  pump(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (!this.host.connected) return;
    const { now } = this.host;
    const held: Batch[] = [];
    for (const batch of this.retries) {
      if (batch.dueAt > now || this.underWay.size >= maxInProgress) held.push(batch);
      else this.publishBatch(batch);
    }
    this.retries = held;
    for (const [subject, items] of this.waiting) {
      const share = this.shareOf(subject);
      while (items.length > 0 && share.batches < maxInProgress) {
        share.batches++;
        this.publishBatch(this.takeBatch(subject, items));
      }
    }
  }

  /** What the server answered to a publish; whether the id was one of ours. */
  receive(key: number, message: Msg): boolean {
    const batch = this.underWay.get(key);
    if (!batch) return false;
    this.underWay.delete(key);
    const refusal = refusalOf(message);
    if (refusal === null) this.commit(batch);
    else this.retry(batch, refusal);
    return true;
  }

  /** Every tick: overdue acknowledgements (a full store answers nothing) and retries whose time has come. */
  tick(): void {
    const { now } = this.host;
    for (const batch of this.underWay.values()) {
      if (batch.dueAt > now) continue;
      this.underWay.delete(batch.key);
      this.retry(batch, 'no acknowledgement');
    }
    if (this.items > 0 && !this.timer) this.pump();
  }

  /** The connection is gone: what was under way is sent again, under the same message id. */
  disconnected(): void {
    for (const batch of this.underWay.values()) {
      batch.dueAt = 0;
      this.retries.push(batch);
    }
    this.underWay.clear();
  }

  flushed(): Promise<void> {
    if (this.items === 0) return Promise.resolve();
    this.pump();
    return new Promise((resolve) => this.emptied.push(resolve));
  }

  private takeBatch(subject: string, items: Item[]): Batch {
    let bytes = 2;
    let count = 0;
    const max = Math.min(batchBytes, this.host.cap);
    while (count < items.length && count < batchItems) {
      const next = bytes + items[count]!.bytes + 1;
      if (count > 0 && next > max) break;
      bytes = next;
      count++;
    }
    const taken = items.splice(0, count);
    const payload = Buffer.from(`[${taken.map(({ text }) => text).join(',')}]`);
    const { number, salt } = mintStreamId();
    const messageId = `${this.host.inbox.slice(-22)}-${number.toString(36)}-${salt.toString(36)}`;
    return { subject, messageId, payload, items: taken, tries: 0, key: 0, dueAt: 0 };
  }

  private publishBatch(batch: Batch): void {
    const { number, salt } = mintStreamId();
    batch.key = streamKey(number, salt);
    batch.dueAt = this.host.now + ackMs;
    batch.tries++;
    const headers = createHeaders();
    headers.set('Nats-Msg-Id', batch.messageId);
    if (this.host.publish(batch.subject, batch.payload, answerSubject(this.host.inbox, batch.key), headers)) this.underWay.set(batch.key, batch);
    else this.retries.push(Object.assign(batch, { dueAt: this.host.now + backOffMs(batch.tries) }));
  }

  private shareOf(subject: string): Share {
    const share = this.shares.get(subject) ?? { items: 0, bytes: 0, batches: 0 };
    this.shares.set(subject, share);
    return share;
  }

  private count(share: Share, items: number, bytes: number): void {
    share.items += items;
    share.bytes += bytes;
    this.items += items;
    this.bytes += bytes;
  }

  private retry(batch: Batch, refusal: string): void {
    if (this.host.refuses(batch.subject)) {
      this.republishEarlier(batch);
      return this.settle(batch);
    }
    batch.dueAt = this.host.now + backOffMs(batch.tries, 200, 5000);
    this.retries.push(batch);
    this.outage.met(refusal);
    if (refusal === noStream) void this.host.ensureStream().then(() => this.retryNow());
  }

  /** The server's configuration is of a version that did not know the subject. */
  private republishEarlier({ subject, items }: Batch): void {
    const before = earlier.get(subject);
    if (before === undefined || this.host.refuses(before)) return void items.forEach((item) => item.reject(refused()));
    const share = this.shareOf(before);
    for (const { bytes } of items) this.count(share, 1, bytes);
    this.enqueue(before, items);
  }

  private waitsForRetry(): boolean {
    return this.retries.length > 0 || [...this.underWay.values()].some(({ tries }) => tries > 1);
  }

  private retryNow(): void {
    for (const batch of this.retries) batch.dueAt = Math.min(batch.dueAt, this.host.now + 200);
  }

  private commit(batch: Batch): void {
    for (const item of batch.items) item.resolve();
    this.settle(batch);
    // Where one subject alone is refused, what others get through does not end it.
    if (this.outage.lasts && !this.waitsForRetry()) this.outage.over();
  }

  /** The batch is done with. */
  private settle(batch: Batch): void {
    const share = this.shareOf(batch.subject);
    share.batches--;
    for (const item of batch.items) this.count(share, -1, -item.bytes);
    if (this.items === 0) {
      const waiters = this.emptied;
      this.emptied = [];
      for (const wake of waiters) wake();
    } else if (!this.timer) this.pump();
  }
}

const noStream = 'no event stream';
const refused = (): GatewayError => new GatewayError('service_unavailable', { message: 'The bus server does not take this event.' });

/** null for an acknowledgement, else why not. */
function refusalOf(message: Msg): string | null {
  if (message.data.length === 0) return noStream;
  try {
    const answer = message.json<{ stream?: string; error?: { description?: string; err_code?: number } }>();
    if (answer.error) return `${answer.error.err_code ?? ''} ${answer.error.description ?? 'refused'}`;
    return answer.stream ? null : 'not an acknowledgement';
  } catch {
    return 'an acknowledgement that cannot be read';
  }
}
