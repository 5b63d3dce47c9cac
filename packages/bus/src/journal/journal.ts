/**
 * Durable news on this machine's disk when they are not in safe hands soon: a process that is killed loses what it told in the last 80 ms at most, and
 * what nobody could take (a queue is full) waits here. Replayed at the next start; the database's keys make a repetition harmless.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isGatewayError } from '@model-gateway/contracts/errors';
import type { BusLogger } from '../kit/logger.ts';
import { readLines, Segment } from './segment.ts';

export interface JournalOptions {
  folder: string;
  logger: BusLogger;
  /** Bytes of all files together; beyond them news are no longer kept here, which is logged and counted. */
  maxBytes?: number;
}

export type Publish = (subject: string, id: string, event: unknown) => Promise<void>;

/** News are written when they are one to two of these old: mostly they are in safe hands by then, and cost neither a text nor a write. */
const tickMs = 40;
const retryMs = 5_000;
const segmentBytes = 4 * 1024 * 1024;
/** Told at once when they are told again. */
const atOnce = 100;

/** One item, from when it is told until it is in safe hands. */
interface Kept {
  subject: string;
  key: string;
  event: unknown;
  /** In safe hands. */
  done: boolean;
  /** Where it is written; null until then. */
  segment: Segment | null;
}

export class Journal {
  readonly #folder: string;
  readonly #logger: BusLogger;
  readonly #maxBytes: number;
  #segments: Segment[] = [];
  #current: Segment | null = null;
  #next = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Told in this tick, and in the one before it. */
  #young: Kept[] = [];
  #old: Kept[] = [];
  #retry: NodeJS.Timeout | undefined;
  #full = false;
  /** Refused when they were told again: said once. */
  readonly #untold = new Set<string>();
  /** The disk refuses what is written; told once. */
  #failing = false;
  /** News that were told while the journal was full or its disk refused them. */
  unkept = 0;

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

  /** Keeps one item, which nobody changes from now on. `done`: it is in safe hands. `park`: nobody took it; resolves when it is on the disk, with false when there is no room. */
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
        await segment.flush();
        return true;
      },
    };
  }

  /** Begins to tell what earlier processes left, and what is parked from now on. */
  start(publish: Publish): void {
    let running = false;
    const run = async (): Promise<void> => {
      if (running) return;
      running = true;
      try {
        await this.#publishParked(publish);
      } catch (error) {
        this.#logger.warn({ error, items: this.items }, 'news of the journal cannot be told yet');
      }
      running = false;
    };
    this.#retry = setInterval(() => void run(), retryMs);
    this.#retry.unref();
    void run();
  }

  /** What is in safe hands is gone, the rest is on the disk. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    clearInterval(this.#retry);
    this.#writeOpen([...this.#old, ...this.#young]);
    this.#old = this.#young = [];
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
      const fresh = items.filter(({ id }) => !this.#untold.has(id)).length;
      if (fresh > 0) this.#logger.warn({ items: fresh }, 'news of the journal are told again');
      for (let start = 0; start < items.length; start += atOnce) {
        await Promise.all(
          items.slice(start, start + atOnce).map(async ({ subject, id, event }) => {
            try {
              await publish(subject, id.slice(subject.length + 1), event);
            } catch (error) {
              // The queue is full: all of them wait.
              if (isGatewayError(error) && error.code === 'overloaded') throw error;
              // It stays in its file, and the others are told all the same: an item that nobody can tell must not hold them up.
              if (!this.#untold.has(id)) this.#logger.error({ error, id, file: segment.file }, 'an item of the journal cannot be told and stays there');
              this.#untold.add(id);
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
      if (!this.#full)
        this.#logger.error({ folder: this.#folder, bytes: this.#maxBytes }, 'the journal of durable news is full: what is told now is in memory alone');
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

  /** null: there is no room. */
  #write(kept: Kept): Segment | null {
    const segment = this.#writable();
    if (segment) segment.add(kept.key, `${JSON.stringify([kept.subject, kept.key, kept.event])}\n`);
    else this.unkept++;
    kept.segment = segment;
    return segment;
  }

  #writeOpen(items: readonly Kept[]): void {
    for (const kept of items) if (!kept.done && !kept.segment) this.#write(kept);
  }

  #done(segment: Segment, id: string): void {
    segment.open.delete(id);
    this.#drop(segment);
  }

  #drop(segment: Segment): void {
    if (!segment.closed || segment.open.size > 0 || !this.#segments.includes(segment)) return;
    this.#segments = this.#segments.filter((one) => one !== segment);
    segment.close(true).catch((error: unknown) => this.#logger.warn({ error, file: segment.file }, 'a finished file of the journal could not be removed'));
  }

  #tick(): void {
    this.#writeOpen(this.#old);
    this.#old = this.#young;
    this.#young = [];
    this.#timer = this.#old.length > 0 ? setTimeout(() => this.#tick(), tickMs) : undefined;
    this.#flush();
  }

  #flush(): void {
    for (const segment of this.#segments) {
      if (!segment.dirty) continue;
      segment.flush().then(
        () => {
          this.#failing = false;
        },
        (error: unknown) => {
          this.unkept++;
          if (!this.#failing)
            this.#logger.error({ error, file: segment.file }, 'the journal of durable news cannot be written: what is told now is in memory alone');
          this.#failing = true;
        },
      );
    }
  }
}
