/** One worker process, as the first process sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Logger } from '@model-gateway/telemetry';
import { type FromWorker, isMessage, type ToWorker } from './messages.ts';

/** How a worker is started, and what is called when its state changes. */
export interface WorkerPlan {
  name: string;
  /** Of the bus. */
  socketPath: string;
  /** How many there are. */
  count: number;
  /** The options of `up` that are settings. */
  argv: readonly string[];
  env: NodeJS.ProcessEnv;
  logger: Logger;
  onReady(worker: Worker): void;
  /** It has ended; these connections it had not taken yet. */
  onEnd(worker: Worker, connections: Socket[]): void;
  /** It took a connection, or gave one back. */
  onRefused(connection: Socket): void;
}

const metricsMs = 2000;
/** For what a worker that has ended sent before. */
const lastWordsMs = 100;

export class Worker {
  readonly name: string;
  ready = false;
  /** It was asked to end: it gets no new connections. */
  leaving = false;
  /** It has been on the bus. */
  joined = false;
  /** It shows no sign of life on the bus. */
  silent = false;
  readonly startedAt = performance.now();
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #plan: WorkerPlan;
  readonly #handed = new Map<number, Socket>();
  readonly #asked = new Map<number, (text: string | null) => void>();
  #open = 0;
  #next = 0;
  #draining = false;

  constructor(plan: WorkerPlan) {
    this.name = plan.name;
    this.#plan = plan;
    // A session of its own: signals of the terminal are for the first process, which asks its workers to end.
    this.#child = fork(process.argv[1]!, ['worker', plan.socketPath, plan.name, `${plan.count}`, ...plan.argv], {
      env: plan.env,
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message) => this.#receive(message));
    // Without a listener a channel that breaks would end this process.
    this.#child.on('error', (error) => plan.logger.error({ error, worker: plan.name }, 'a worker could not be started or reached'));
    this.ended = new Promise((resolve) => {
      let over = false;
      const end = (): void => {
        if (over) return;
        over = true;
        this.#over();
        resolve();
      };
      // What it sent last is read before its channel ends, but the channel of a process that was killed may never say so.
      this.#child.once('disconnect', () => this.exit !== null && end());
      this.#child.once('exit', () => (this.#child.connected ? void setTimeout(end, lastWordsMs) : end()));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** How it ended; null while it runs. */
  get exit(): string | null {
    const { exitCode, signalCode } = this.#child;
    return signalCode ?? (exitCode === null ? null : `code ${exitCode}`);
  }

  get load(): number {
    return this.#open + this.#handed.size;
  }

  get takesConnections(): boolean {
    return this.ready && !this.leaving && !this.silent;
  }

  hand(connection: Socket): void {
    const id = ++this.#next;
    this.#handed.set(id, connection);
    this.#send({ type: 'connection', id }, connection);
  }

  /** Drains it, as a signal from outside would. */
  leave(): void {
    if (this.leaving) return;
    this.leaving = true;
    this.#child.kill('SIGTERM');
  }

  /** The same for all at once: with no other worker to give connections to, it takes them until it stops listening. */
  drainWhileTaking(): void {
    if (!this.leaving && !this.#draining) this.#child.kill('SIGTERM');
    this.#draining = true;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Its metrics in Prometheus' text; null where it does not answer. */
  metrics(): Promise<string | null> {
    const id = ++this.#next;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#asked.get(id)?.(null), metricsMs);
      this.#asked.set(id, (text) => {
        clearTimeout(timer);
        this.#asked.delete(id);
        resolve(text);
      });
      this.#send({ type: 'metrics', id });
    });
  }

  #send(message: ToWorker, connection?: Socket): void {
    if (!this.#child.connected) return;
    // Kept open here until it is taken; the end of the channel gives it to another worker.
    this.#child.send(message, connection, { keepOpen: true }, () => undefined);
  }

  #receive(message: unknown): void {
    if (!isMessage(message)) return;
    const said = message as FromWorker;
    switch (said.type) {
      case 'ready':
        this.ready = true;
        return this.#plan.onReady(this);
      case 'open':
        this.#open = said.open;
        return;
      case 'taken':
        this.#open = said.open;
        // Only this process's hold of it: the connection goes on in the worker.
        this.#handed.get(said.id)?.destroy();
        this.#handed.delete(said.id);
        return;
      case 'refused': {
        const connection = this.#handed.get(said.id);
        this.#handed.delete(said.id);
        if (connection) this.#plan.onRefused(connection);
        return;
      }
      case 'metrics':
        return this.#asked.get(said.id)?.(said.text);
    }
  }

  #over(): void {
    for (const answer of [...this.#asked.values()]) answer(null);
    const left = [...this.#handed.values()];
    this.#handed.clear();
    this.#plan.onEnd(this, left);
  }
}
