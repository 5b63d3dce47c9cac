/**
 * Durable events on this machine's disk when they are not acknowledged soon: a process that is killed loses what it published in the last 80 ms at
 * most, and what a full queue refused waits here. Replayed at the next start; the database's keys make a repetition harmless.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isGatewayError } from '@model-gateway/contracts/errors';
import type { BusLogger } from '../kit/logger.ts';
import { readLines, Segment } from './segment.ts';

/** Options of the outbox on the disk. */
export interface JournalOptions {
  folder: string;
  logger: BusLogger;
  /** Bytes of all files together; beyond them events are no longer kept here, which is logged and counted. */
  maxBytes?: number;
}

/** Publishes an event of the outbox; resolves when it was acknowledged. */
export type Publish = (subject: string, id: string, event: unknown) => Promise<void>;

/** Events are written when they are one to two of these old: most are acknowledged by then, and cost neither serialization nor a write. */
const tickMs = 40;
const retryMs = 5_000;
/** Until a disk that refuses writes is tried again. */
const diskRetryMs = 1_000;
const segmentBytes = 4 * 1024 * 1024;
/** Events replayed at once. */
const atOnce = 100;

/** One event, from publishing to acknowledgement. */
interface Kept {
  subject: string;
  key: string;
  event: unknown;
  /** Acknowledged. */
  done: boolean;
  /** Where it is written; null until then. */
  segment: Segment | null;
}

/** The outbox on the disk: writes events that are late, removes them when they are acknowledged, replays what is left. */
export class Journal {
  readonly #folder: string;
  readonly #logger: BusLogger;
  readonly #maxBytes: number;
  #segments: Segment[] = [];
  #current: Segment | null = null;
  #next = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Published in this tick, and in the one before it. */
  #young: Kept[] = [];
  #old: Kept[] = [];
  #retry: NodeJS.Timeout | undefined;
  #full = false;
  /** Refused in a replay: logged once. */
  readonly #unpublishable = new Set<string>();
  /** The disk refuses writes; logged once. */
  #failing = false;

  constructor({ folder, logger, maxBytes = 256 * 1024 * 1024 }: JournalOptions) {
    this.#folder = folder;
    this.#logger = logger;
    this.#maxBytes = maxBytes;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(folder)
      .filter((one) => /^\d+\.jsonl$/.test(one))
      .sort((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10))) {
      const text = readFileSync(join(folder, name), 'utf8');
      const segment = new Segment(
        join(folder, name),
        readLines(text).map(({ id }) => id),
      );
      segment.bytes = text.length;
      segment.closed = true;
      this.#segments.push(segment);
      this.#next = Number.parseInt(name, 10) + 1;
    }
  }

  /** Those that are written. */
  get items(): number {
    return this.#segments.reduce((sum, { open }) => sum + open.size, 0);
  }

  /** Keeps one event, which nobody changes from now on. `done`: it was acknowledged. `park`: the bus refused it; resolves when it is on the disk, with false when the disk quota is used up. */
  add(subject: string, id: string, event: unknown): { done(): void; park(): Promise<boolean> } {
    const kept: Kept = { subject, key: `${subject}/${id}`, event, done: false, segment: null };
    this.#young.push(kept);
    this.#timer ??= setTimeout(() => this.#tick(), tickMs);
    return {
      done: () => this.#settle(kept),
      park: async () => {
        const segment = kept.segment ?? this.#write(kept);
        if (!segment) return false;
        segment.parked.add(kept.key);
        try {
          await segment.flush();
        } catch (error) {
          segment.parked.delete(kept.key);
          throw error;
        }
        return true;
      },
    };
  }

  /** Starts publishing what earlier processes left, and what is parked from now on. */
  start(publish: Publish): void {
    let running = false;
    const run = async (): Promise<void> => {
      if (running) return;
      running = true;
      try {
        await this.#publishParked(publish);
      } catch (error) {
        this.#logger.warn({ error, items: this.items }, 'the outbox cannot be replayed yet');
      }
      running = false;
    };
    this.#retry = setInterval(() => void run(), retryMs);
    this.#retry.unref();
    void run();
  }

  /** What was acknowledged is removed, the rest is on the disk, or is said to be lost. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    clearInterval(this.#retry);
    const late = [...this.#old, ...this.#young].filter(({ done, segment }) => !done && !segment);
    this.#writeOpen(late);
    this.#old = this.#young = [];
    let fault: unknown;
    for (const segment of this.#segments)
      await segment.flush().catch((error: unknown) => {
        fault = error;
      });
    const unwritten = this.#segments.reduce((sum, segment) => sum + segment.unwritten, 0);
    const lost = unwritten + late.filter(({ done, segment }) => !done && !segment).length;
    if (lost > 0)
      this.#logger.error(
        { items: lost, folder: this.#folder, error: fault },
        'durable messages are lost: they were not delivered, and the outbox could not be written',
      );
    const items = this.items - unwritten;
    // Who runs without a disk of its own (an emptyDir of Kubernetes) reads here what is lost.
    if (items > 0)
      this.#logger.warn(
        { items, folder: this.#folder },
        'durable messages stay in the outbox: they are delivered by the next process that has this folder, and lost with it',
      );
    for (const segment of this.#segments) await segment.close(segment.open.size === 0);
    this.#segments = [];
    this.#current = null;
  }

  async #publishParked(publish: Publish): Promise<void> {
    for (const segment of [...this.#segments]) {
      if (segment.parked.size === 0) {
        this.#drop(segment);
        continue;
      }
      const items = await segment.readParked();
      const fresh = items.filter(({ id }) => !this.#unpublishable.has(id)).length;
      if (fresh > 0) this.#logger.warn({ items: fresh }, 'replaying the outbox');
      for (let start = 0; start < items.length; start += atOnce) {
        await Promise.all(
          items.slice(start, start + atOnce).map(async ({ subject, id, event }) => {
            try {
              await publish(subject, id.slice(subject.length + 1), event);
            } catch (error) {
              // The queue is full: all of them wait.
              if (isGatewayError(error) && error.code === 'overloaded') throw error;
              // It stays in its file, and the others are replayed all the same: one bad event must not hold them up.
              if (!this.#unpublishable.has(id))
                this.#logger.error({ error, id, file: segment.file }, 'an event of the outbox cannot be published and stays there');
              this.#unpublishable.add(id);
              return;
            }
            segment.parked.delete(id);
            this.#done(segment, id);
          }),
        );
      }
      // Lines that could not be read have no more to give.
      for (const id of segment.parked) if (!items.some((item) => item.id === id)) this.#done(segment, id);
    }
  }

  #writable(): Segment | null {
    if (this.#segments.reduce((sum, { bytes }) => sum + bytes, 0) > this.#maxBytes) {
      if (!this.#full) this.#logger.error({ folder: this.#folder, bytes: this.#maxBytes }, 'the outbox is full: further events are kept in memory alone');
      this.#full = true;
      return null;
    }
    this.#full = false;
    if (this.#current && this.#current.bytes < segmentBytes) return this.#current;
    if (this.#current) {
      this.#current.closed = true;
      this.#drop(this.#current);
    }
    this.#current = new Segment(join(this.#folder, `${this.#next++}.jsonl`));
    this.#segments.push(this.#current);
    return this.#current;
  }

  #settle(kept: Kept): void {
    kept.done = true;
    kept.event = null;
    if (kept.segment) this.#done(kept.segment, kept.key);
  }

  /** null: the disk quota is used up. */
  #write(kept: Kept): Segment | null {
    const segment = this.#writable();
    if (segment) segment.add(kept.key, `${JSON.stringify([kept.subject, kept.key, kept.event])}\n`);
    kept.segment = segment;
    return segment;
  }

  #writeOpen(items: readonly Kept[]): void {
    for (const kept of items) if (!kept.done && !kept.segment) this.#write(kept);
  }

  #done(segment: Segment, id: string): void {
    segment.done(id);
    this.#drop(segment);
  }

  #drop(segment: Segment): void {
    if (!segment.closed || segment.open.size > 0 || !this.#segments.includes(segment)) return;
    this.#segments = this.#segments.filter((one) => one !== segment);
    segment.close(true).catch((error: unknown) => this.#logger.warn({ error, file: segment.file }, 'a finished file of the outbox could not be removed'));
  }

  #tick(): void {
    const refused = this.#failing && this.#segments.some(({ dirty }) => dirty);
    if (refused) {
      // The bus holds them: they need not be in memory as lines too.
      this.#old = [...this.#old, ...this.#young].filter(({ done }) => !done);
    } else {
      this.#writeOpen(this.#old);
      this.#old = this.#young;
    }
    this.#young = [];
    const more = refused || this.#old.length > 0;
    this.#timer = more ? setTimeout(() => this.#tick(), refused ? diskRetryMs : tickMs) : undefined;
    this.#flush();
  }

  #flush(): void {
    for (const segment of this.#segments) {
      if (!segment.dirty) continue;
      segment.flush().then(
        () => {
          if (this.#failing) this.#logger.info({ file: segment.file }, 'the outbox can be written again');
          this.#failing = false;
        },
        (error: unknown) => {
          if (!this.#failing) this.#logger.error({ error, file: segment.file }, 'the outbox cannot be written: further events are kept in memory alone');
          this.#failing = true;
        },
      );
    }
  }
}
