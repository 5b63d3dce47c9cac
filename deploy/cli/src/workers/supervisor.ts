/** The workers of a gateway: as many as were asked for, replaced when they end, and one after another when they are to be renewed. */
import type { Socket } from 'node:net';
import type { Health, Service } from '@model-gateway/service-runtime';
import type { Logger } from '@model-gateway/telemetry';
import { SharedPort } from './port.ts';
import type { Settings, SettingsFile } from './settings-file.ts';
import { Worker, type WorkerPlan } from './worker.ts';

/** How many workers, where they are reached, and how they are started. */
export interface SupervisorOptions {
  count: number;
  port: number;
  host: string;
  logger: Logger;
  worker: Pick<WorkerPlan, 'socketPath' | 'argv' | 'env'>;
  settings: SettingsFile;
  /** How long the start waits for all of them once one is there. Default 30,000 ms. */
  startMs?: number;
  /** How long a worker may take from its start until it is on the bus. Default 60,000 ms, many times what a busy machine needs. */
  joinMs?: number;
}

/** A worker that shows no sign of life for this long, after the bus has given it up, is killed and replaced. */
const frozenMs = 7500;
const firstPauseMs = 100;
const maxPauseMs = 5000;
/** A worker that ran for this long did not fail at its start. */
const goodStartMs = 10_000;

/** The service that the first process composes last: it stops first. */
export class Supervisor implements Service {
  readonly name = 'workers';
  readonly #options: SupervisorOptions;
  readonly #logger: Logger;
  readonly #port: SharedPort;
  readonly #workers = new Set<Worker>();
  readonly #settings = new Map<Worker, Settings>();
  readonly #waiting = new Set<() => void>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #named = 0;
  #failures = 0;
  #stopping = false;
  #renewing: Promise<void> | null = null;
  #renewAgain = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#logger = options.logger;
    this.#port = new SharedPort(() => this.#workers);
  }

  get workers(): Iterable<Worker> {
    return this.#workers;
  }

  async start(): Promise<void> {
    const { port, host, count, startMs = 30_000 } = this.#options;
    await this.#port.listen(port, host);
    for (let at = 0; at < count; at++) this.#spawn();
    const deadline = performance.now() + startMs;
    await this.#until(() => this.#stopping || this.#readyCount() === count || (this.#readyCount() > 0 && performance.now() > deadline));
    this.#logger.info({ host, port, workers: this.#readyCount() }, 'listening');
  }

  /** Workers drain: they announce it to their callers, and exit by themselves. */
  drain(): void {
    this.#stopping = true;
    for (const worker of this.#workers) {
      // Until it stops listening by itself it takes connections, as one process does.
      worker.drainWhileTaking();
    }
    this.#changed();
  }

  async stop(): Promise<void> {
    if (!this.#stopping) this.drain();
    this.#port.close();
    // A frozen worker cannot handle the signal: its timer still kills it.
    await Promise.all([...this.#workers].map((worker) => worker.ended));
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Before this process exits: kills workers that did not end in time. After a crash it does nothing, and they drain by themselves. */
  killLate(): void {
    if (this.#stopping) for (const worker of this.#workers) worker.kill();
  }

  health(): Health {
    const ready = this.#readyCount();
    const reasons = ready === 0 ? ['no-worker'] : [];
    const notes = ready < this.#options.count ? [`${ready}-of-${this.#options.count}`] : [];
    if ([...this.#settings.values()].some(({ isEarlier }) => isEarlier)) notes.push('earlier-settings');
    return { ready: ready > 0, reasons, ...(notes.length > 0 && { notes }) };
  }

  /** A worker has connected to the bus, or was lost from it. */
  onPeer(name: string, present: boolean): void {
    const worker = [...this.#workers].find((one) => one.name === name);
    if (!worker) return;
    worker.silent = !present;
    worker.joined ||= present;
    if (present) return void this.#port.serveWaiting();
    this.#killAfter(frozenMs, worker, () => worker.silent);
  }

  #killAfter(ms: number, worker: Worker, isFrozen: () => boolean): void {
    this.#later(ms, () => {
      if (!isFrozen() || worker.exit !== null) return;
      this.#logger.error({ worker: worker.name, pid: worker.pid }, 'a worker shows no sign of life: it is killed and replaced');
      worker.kill();
    });
  }

  /** Replaces all workers, each by one that is ready before the old one drains. A call meanwhile makes one more round. */
  renew(): Promise<void> {
    this.#renewAgain = this.#renewing !== null;
    this.#renewing ??= this.#renewAll().finally(() => {
      this.#renewing = null;
      if (this.#renewAgain && !this.#stopping) void this.renew();
    });
    return this.#renewing;
  }

  async #renewAll(): Promise<void> {
    const old = [...this.#workers].filter((worker) => !worker.leaving);
    this.#logger.info({ workers: old.length }, 'workers are renewed, one after another');
    for (const worker of old) {
      const next = this.#spawn({ anew: true });
      await this.#until(() => this.#stopping || next.ready || next.exit !== null);
      if (this.#stopping) return;
      if (!next.ready) {
        this.#logger.error({ worker: next.name, exit: next.exit }, 'a new worker did not get ready: the old ones stay');
        return;
      }
      worker.leave();
      await worker.ended;
    }
    this.#logger.info({ workers: this.#readyCount() }, 'workers are renewed');
  }

  /** `anew`: with the configuration file as it is, whatever became of other workers. */
  #spawn({ anew = false } = {}): Worker {
    const { settings, worker: plan, count, joinMs = 60_000 } = this.#options;
    const chosen = settings.choose({ anew });
    const name = `worker-${++this.#named}`;
    if (chosen.isEarlier) this.#logger.error({ worker: name }, 'no worker could start with the configuration file: this one has the earlier settings');
    const worker = new Worker({
      ...plan,
      argv: [...plan.argv, ...chosen.argv],
      count,
      name,
      logger: this.#logger,
      onReady: () => {
        settings.worked(chosen);
        this.#port.serveWaiting();
        this.#changed();
      },
      onEnd: (ended, connections) => this.#ended(ended, connections),
      onRefused: (connection) => this.#port.place(connection),
    });
    this.#workers.add(worker);
    this.#settings.set(worker, chosen);
    // Before it has joined the bus, the bus cannot report that it is lost.
    this.#killAfter(joinMs, worker, () => !worker.joined);
    return worker;
  }

  #ended(worker: Worker, connections: Socket[]): void {
    this.#workers.delete(worker);
    const settings = this.#settings.get(worker);
    if (settings && !worker.ready && !worker.leaving && !this.#stopping) this.#options.settings.failed(settings);
    this.#settings.delete(worker);
    for (const connection of connections) this.#port.place(connection);
    if (!worker.leaving && !this.#stopping) {
      this.#failures = performance.now() - worker.startedAt > goodStartMs ? 0 : this.#failures + 1;
      // A replacement that fails in a renewal is logged there; the worker that it should have replaced stays.
      if (this.#staying() < this.#options.count) this.#logger.error({ worker: worker.name, exit: worker.exit }, 'a worker ended and is replaced');
      this.#later(Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(this.#failures, 10)), () => this.#fill());
    }
    this.#changed();
  }

  /** Starts workers up to the configured count. During a renewal there may be one more. */
  #fill(): void {
    for (let at = this.#staying(); at < this.#options.count && !this.#stopping; at++) this.#spawn();
  }

  #staying(): number {
    return [...this.#workers].filter((one) => !one.leaving).length;
  }

  #readyCount(): number {
    return [...this.#workers].filter((worker) => worker.ready && !worker.leaving && worker.exit === null).length;
  }

  #later(ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, ms);
    this.#timers.add(timer);
  }

  #changed(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** Resolves when `met` is true. It is checked on every change, and every 250 ms. */
  #until(met: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const timer = setInterval(() => look(), 250);
      const look = (): void => {
        if (!met()) return;
        clearInterval(timer);
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}
