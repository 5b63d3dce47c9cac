/** A real redis-server for suites: its own port, nothing on disk, with the means to kill, flush and restart it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { Socket } from 'node:net';
import { chooseWay, noWay, type ServerContainer, startContainer, type Way } from './containers.ts';
import { freePort } from './free-port.ts';

export interface RedisServer {
  readonly url: string;
  /** false: `REDIS_URL` named it, so it cannot be stopped from here. */
  readonly managed: boolean;
  readonly pid: number | null;
  /** Starts it again, empty, on the same port. */
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGSTOP and the like. */
  signal(name: NodeJS.Signals): Promise<void>;
  /** Sends one inline command, such as FLUSHALL; gives the first line of the answer. */
  command(line: string): Promise<string>;
  dispose(): Promise<void>;
}

const startMs = 60_000;
const places = ['redis-server', '/usr/bin/redis-server', '/usr/local/bin/redis-server', 'valkey-server'];

/** Path of a local redis-server, or null. */
export const findRedisServer = (): string | null => places.find((place) => spawnSync(place, ['--version']).status === 0) ?? null;

/** Whether suites that need Redis can run here. When they cannot it says so loudly, and fails under `CI=true`. */
export function redisAvailable(suite: string): boolean {
  if (redisWay()) return true;
  const message = `${suite} DID NOT RUN: ${nowhere}`;
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`${message}\n`);
  return false;
}

const nowhere = noWay('redis-server', 'REDIS_URL', 'redis-server');
export const redisWay = (given = process.env['REDIS_URL']): Way | null => chooseWay({ given, binary: findRedisServer() !== null });

/** Starts a server, or names the one of `REDIS_URL`. `own`: a suite that kills it needs its own. */
export async function startRedisServer({ own = false, extraArguments }: { own?: boolean; extraArguments?: readonly string[] } = {}): Promise<RedisServer> {
  const given = process.env['REDIS_URL'];
  const way = (own && redisWay('')) || redisWay();
  if (way === null) throw new Error(nowhere);
  if (way === 'given') return new Server(null, given!);
  if (way === 'container') return startContained();
  const server = new Server(findRedisServer(), `redis://127.0.0.1:${await freePort()}`, extraArguments);
  await server.start();
  return server;
}

class Server implements RedisServer {
  readonly url: string;
  readonly #binary: string | null;
  readonly #extraArguments: readonly string[];
  #child: ChildProcess | null = null;
  #log = '';

  constructor(binary: string | null, url: string, extraArguments: readonly string[] = []) {
    this.#binary = binary;
    this.#extraArguments = extraArguments;
    this.url = url;
  }

  get managed(): boolean {
    return this.#binary !== null;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  async start(): Promise<void> {
    if (this.#binary === null) throw new Error('the server of REDIS_URL is not ours to start');
    const child = spawn(this.#binary, ['--port', new URL(this.url).port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...this.#extraArguments], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#child = child;
    this.#log = '';
    child.stdout.on('data', (text) => {
      this.#log = (this.#log + text).slice(-4000);
    });
    process.once('exit', () => child.kill('SIGKILL'));
    await this.answering(() => child.exitCode !== null || child.signalCode !== null);
  }

  protected async answering(ended: () => boolean): Promise<void> {
    for (const deadline = Date.now() + startMs; Date.now() < deadline && !ended(); ) {
      if (
        await this.command('PING').then(
          (line) => line === '+PONG',
          () => false,
        )
      )
        return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`redis-server did not start: ${this.#log}`);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGKILL');
    await ended;
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    this.#child?.kill(name);
  }

  command(line: string): Promise<string> {
    const { hostname, port } = new URL(this.url);
    return new Promise((resolve, reject) => {
      const socket = new Socket();
      socket.once('error', reject);
      socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')));
      socket.once('data', (data) => {
        resolve(data.toString('utf8').split('\r\n', 1)[0] ?? '');
        socket.destroy();
      });
      socket.connect(Number(port) || 6379, hostname, () => socket.write(`${line}\r\n`));
    });
  }

  dispose(): Promise<void> {
    return this.kill();
  }
}

class ContainedServer extends Server {
  readonly #container: ServerContainer;
  #runs = true;

  constructor(container: ServerContainer) {
    super(null, `redis://${container.host}:${container.ports[0]}`);
    this.#container = container;
  }

  override get managed(): boolean {
    return true;
  }

  override async start(): Promise<void> {
    if (!this.#runs) await this.#container.start();
    this.#runs = true;
    await this.answering(() => false);
  }

  override signal(name: NodeJS.Signals): Promise<void> {
    return this.#container.signal(name);
  }

  override async kill(): Promise<void> {
    if (this.#runs) await this.#container.kill();
    this.#runs = false;
  }

  override dispose(): Promise<void> {
    return this.#container.remove();
  }
}

async function startContained(): Promise<RedisServer> {
  const server = new ContainedServer(await startContainer({ service: 'redis', ports: [6379], command: ['redis-server', '--save', '', '--appendonly', 'no'] }));
  await server.start();
  return server;
}
