/** The public port: the first process accepts connections and gives each to the worker that has fewest. */
import { createServer, type Server, type Socket } from 'node:net';
import { listen } from '@model-gateway/service-runtime';
import type { Worker } from './worker.ts';

/** Connections that wait for a worker, where none is there for the moment. */
const maxWaiting = 1024;

export class SharedPort {
  readonly #server: Server;
  readonly #workers: () => Iterable<Worker>;
  readonly #waiting: Socket[] = [];

  constructor(workers: () => Iterable<Worker>) {
    this.#workers = workers;
    // Paused: what callers send is for the worker to read.
    this.#server = createServer({ pauseOnConnect: true, noDelay: true }, (connection) => this.place(connection));
  }

  listen(port: number, host: string): Promise<number> {
    return listen(this.#server, { port, host, setting: 'PORT' });
  }

  place(connection: Socket): void {
    connection.on('error', () => connection.destroy());
    let best: Worker | null = null;
    for (const worker of this.#workers()) if (worker.takesConnections && (best === null || worker.load < best.load)) best = worker;
    if (best) best.hand(connection);
    else if (this.#waiting.length < maxWaiting && this.#server.listening) this.#waiting.push(connection);
    else connection.destroy();
  }

  /** A worker is there: those who waited are served. */
  serveWaiting(): void {
    for (const connection of this.#waiting.splice(0)) this.place(connection);
  }

  close(): void {
    this.#server.close();
    for (const connection of this.#waiting.splice(0)) connection.destroy();
  }
}
