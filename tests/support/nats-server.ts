/** A real nats-server for suites: its own port and store directory, with the means to stop, kill and restart it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseWay, noWay, type ServerContainer, startContainer, type Way } from './containers.ts';
import { freePort } from './free-port.ts';
import { untilStopped } from './until-stopped.ts';

export interface NatsServer {
  readonly url: string;
  /** Of the server's monitor (`/varz`); null for a server that is not ours. */
  readonly monitorUrl: string | null;
  /** false: `NATS_URL` named it, so it cannot be stopped, killed or restarted from here. */
  readonly managed: boolean;
  /** Where it keeps durable messages; null: it is not ours, or in a container. */
  readonly store: string | null;
  /** null: it runs in a container, or is not ours. */
  readonly pid: number | null;
  /** SIGSTOP and the like. */
  signal(name: NodeJS.Signals): Promise<void>;
  /** Starts it again after `stop` or `kill`, on the same port and store. */
  start(): Promise<void>;
  /** SIGTERM, and SIGKILL after five seconds, since a server with a full store ignores the first. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** `kill` and `start`; `loseStore` empties the store between. */
  restart(options?: { loseStore?: boolean }): Promise<void>;
  /** This process does not wait for it any more. */
  unref?(): void;
  /** Stops it and removes its store. */
  dispose(): Promise<void>;
}

interface ServerOptions {
  extraArguments?: string[];
  storeDirectory?: string;
  /** Of the server's process, beside this one's: what its configuration reads from the environment. */
  env?: Record<string, string>;
}

const startMs = 60_000;
const places = ['nats-server', '/usr/sbin/nats-server', '/usr/local/bin/nats-server', '/usr/bin/nats-server'];

/** Path of a local nats-server, or null. */
export function findNatsServer(): string | null {
  return places.find((place) => spawnSync(place, ['--version']).status === 0) ?? null;
}

/**
 * Whether suites that need NATS can run here. When they cannot it says so loudly, and fails under `CI=true`:
 * a suite that silently does not run proves nothing.
 */
export function natsAvailable(suite: string): boolean {
  if (natsWay()) return true;
  const message = `${suite} DID NOT RUN: ${nowhere}`;
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`${message}\n`);
  return false;
}

const nowhere = noWay('nats-server', 'NATS_URL', 'nats-server');
export const natsWay = (): Way | null => chooseWay({ given: process.env['NATS_URL'], binary: findNatsServer() !== null });

/** Starts a server, or names the one of `NATS_URL`. Throws when there is no way to one. */
export async function startNatsServer(options: ServerOptions = {}): Promise<NatsServer> {
  const way = natsWay();
  if (way === null) throw new Error(nowhere);
  if (way === 'given') return externalServer(process.env['NATS_URL']!);
  if (way === 'container') return containedServer(options);
  const server = new LocalServer(findNatsServer()!, await freePort(), await freePort(), options);
  await server.start();
  return server;
}

class LocalServer implements NatsServer {
  readonly managed = true;
  readonly url: string;
  readonly monitorUrl: string;
  private readonly binary: string;
  private readonly port: number;
  readonly store: string;
  private readonly ownStore: boolean;
  private readonly args: string[];
  private readonly env: Record<string, string>;
  private child: ChildProcess | null = null;

  constructor(binary: string, port: number, monitorPort: number, options: ServerOptions) {
    this.binary = binary;
    this.port = port;
    this.ownStore = options.storeDirectory === undefined;
    this.store = options.storeDirectory ?? mkdtempSync(join(tmpdir(), 'nats-'));
    this.url = `nats://127.0.0.1:${port}`;
    this.monitorUrl = `http://127.0.0.1:${monitorPort}`;
    this.env = options.env ?? {};
    this.args = ['-a', '127.0.0.1', '-p', `${port}`, '-m', `${monitorPort}`, '-js', '-sd', this.store, ...(options.extraArguments ?? [])];
  }

  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  async start(): Promise<void> {
    const child = spawn(this.binary, this.args, { env: { ...process.env, ...this.env }, stdio: ['ignore', 'ignore', 'pipe'] });
    this.child = child;
    let log = '';
    child.stderr?.on('data', (text) => {
      log = (log + text).slice(-4000);
    });
    // A suite that fails half-way must not leave a server behind.
    process.once('exit', () => child.kill('SIGKILL'));
    for (const deadline = Date.now() + startMs; Date.now() < deadline; ) {
      if (child.exitCode !== null || child.signalCode !== null) break;
      if (await answers('127.0.0.1', this.port)) return;
      await sleep(25);
    }
    throw new Error(`nats-server did not start: ${log}`);
  }

  unref(): void {
    this.child?.unref();
    (this.child?.stderr as Socket | null | undefined)?.unref();
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    this.child?.kill(name);
    if (name === 'SIGSTOP' && this.child?.pid !== undefined) await untilStopped(this.child.pid);
  }

  async stop(): Promise<void> {
    await this.end('SIGTERM');
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  async restart(options: { loseStore?: boolean } = {}): Promise<void> {
    await this.kill();
    if (options.loseStore) rmSync(join(this.store, 'jetstream'), { recursive: true, force: true });
    await this.start();
  }

  async dispose(): Promise<void> {
    await this.stop();
    if (this.ownStore) rmSync(this.store, { recursive: true, force: true, maxRetries: 10 });
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    this.child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    const last = setTimeout(() => child.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(last);
  }
}

/** A store directory of the suite's own stays outside: in a container the store lives as long as the container. */
async function containedServer({ extraArguments = [], env = {} }: ServerOptions): Promise<NatsServer> {
  const begin = (ports: readonly number[] = []): Promise<ServerContainer> =>
    startContainer({
      service: 'nats',
      ports: [4222, 8222],
      outside: ports,
      command: ['-p', '4222', '-m', '8222', '-js', '-sd', '/data', ...extraArguments],
      env,
      files: extraArguments.filter((argument) => argument.startsWith('/') && existsSync(argument)),
    });
  let container = await begin();
  const { host, ports } = container;
  const ready = async (): Promise<void> => {
    for (const deadline = Date.now() + startMs; Date.now() < deadline; await sleep(25)) if (await answers(host, ports[0]!)) return;
    throw new Error('nats-server did not start in its container');
  };
  await ready();
  const start = async (): Promise<void> => {
    await container.start();
    await ready();
  };
  return {
    url: `nats://${host}:${ports[0]}`,
    monitorUrl: `http://${host}:${ports[1]}`,
    store: null,
    managed: true,
    pid: null,
    signal: (name) => container.signal(name),
    start,
    stop: () => container.stop(),
    kill: () => container.kill(),
    async restart({ loseStore = false } = {}) {
      if (!loseStore) {
        await container.kill();
        return start();
      }
      await container.remove();
      container = await begin(ports);
      await ready();
    },
    dispose: () => container.remove(),
  };
}

function externalServer(url: string): NatsServer {
  const refuse = () => Promise.reject(new Error('the server of NATS_URL is not ours to stop; unset NATS_URL for this suite'));
  const nothing = () => Promise.resolve();
  return {
    url,
    monitorUrl: null,
    store: null,
    managed: false,
    pid: null,
    signal: refuse,
    start: nothing,
    stop: refuse,
    kill: refuse,
    restart: refuse,
    dispose: nothing,
  };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether the server greets on its port. */
function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new Socket();
    const done = (up: boolean) => {
      socket.destroy();
      resolve(up);
    };
    socket.once('data', () => done(true));
    socket.once('error', () => done(false));
    socket.setTimeout(500, () => done(false));
    socket.connect(port, host);
  });
}
