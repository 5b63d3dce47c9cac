/** Sends captured bodies to statistics, a few at a time and behind the requests' backs; what finds no room or no listener is dropped and counted. */
import type { Bus, StreamCall } from '@model-gateway/bus';
import type { BodiesToKeep } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { Counter, Logger, Metrics } from '@model-gateway/telemetry';
import type { BodyCapture, BodyHolder, CapturedBodies } from './body-capture.ts';

export interface BodyUploaderDeps {
  bus: Bus;
  logger: Logger;
  metrics: Metrics;
  /** Bytes that may be held at once, of requests under way and of what waits. */
  budgetBytes: number;
}

type Waiting = { facts: BodiesToKeep; bytes: Buffer };

/** With more under way a slow database would only hold more of them. */
const maxInProgress = 2;
const deadlineMs = 10_000;

export class BodyUploader implements BodyHolder {
  readonly #bus: Bus;
  readonly #logger: Logger;
  readonly #dropped: Counter;
  readonly #budgetBytes: number;
  #held = 0;
  #underWay = 0;
  #scheduled = false;
  #failing = false;
  #waiting: Waiting[] = [];
  #idle: (() => void)[] = [];

  constructor({ bus, logger, metrics, budgetBytes }: BodyUploaderDeps) {
    this.#bus = bus;
    this.#logger = logger;
    this.#budgetBytes = budgetBytes;
    this.#dropped = metrics.counter('gateway_bodies_dropped', 'Bodies of requests that should have been stored and were not, by reason.');
    metrics.gauge('gateway_bodies_held_bytes', 'Bytes of bodies that are to be stored.', () => this.#held);
  }

  take(bytes: number): boolean {
    if (this.#held + bytes > this.#budgetBytes) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }

  /** The exchange is over; `describe` is asked only when there is something to send. */
  hand(capture: BodyCapture, describe: () => Omit<BodiesToKeep, keyof CapturedBodies>): void {
    const captured = capture.finish();
    if (!captured) return this.#dropped.add(1, { reason: 'no_room' });
    const { bytes, ...bodies } = captured;
    this.#waiting.push({ facts: { ...describe(), ...bodies }, bytes });
    this.#schedule();
  }

  /** Resolves when nothing waits any more, or after `ms`. */
  flushed(ms: number): Promise<void> {
    if (this.#waiting.length + this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#idle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** One at a time and in a turn of its own: in one process the other end works on this thread too. */
  #schedule(): void {
    if (this.#scheduled || this.#underWay >= maxInProgress || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const next = this.#waiting.shift();
      if (next) this.#send(next);
      this.#schedule();
    });
  }

  #send({ facts, bytes }: Waiting): void {
    this.#underWay++;
    const done = (error?: GatewayError): void => {
      this.#underWay--;
      this.give(bytes.length);
      if (error) this.#lost(facts.id, error);
      else this.#failing = false;
      this.#schedule();
      if (this.#waiting.length + this.#underWay === 0) for (const resolve of this.#idle.splice(0)) resolve();
    };
    const call: StreamCall = this.#bus.open(
      'stats.keep-bodies',
      facts,
      {
        head: () => undefined,
        data: (part) => call.consumed(part.length),
        tail: () => {
          call.acknowledge();
          done();
        },
        broken: done,
      },
      { body: bytes, deadlineMs },
    );
  }

  /** The first of many is worth a line. */
  #lost(id: string, error: GatewayError): void {
    this.#dropped.add(1, { reason: error.code });
    if (!this.#failing) this.#logger.warn({ request: id, error }, 'bodies of requests cannot be stored and are dropped');
    this.#failing = true;
  }
}
