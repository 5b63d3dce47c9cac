/** The connection to Redis: scripts with a short time-out, and one flag for whether it can be asked now. */
import type { ConnectionOptions } from 'node:tls';
import type { Redis } from 'ioredis';
import type { StateLogger } from '../logger.ts';
import type { StateLink } from '../state-link.ts';
import { type ScriptName, scripts } from './scripts.ts';

/** The Redis server, and time-outs in ms. */
export interface LinkOptions {
  url: string;
  /** TLS is spoken with these; getters are asked for each connection. */
  tls?: ConnectionOptions | undefined;
  logger: StateLogger;
  /** How long a command may take, in ms. */
  commandMs?: number;
  /** How often to check whether a lost server is back, in ms. */
  probeMs?: number;
}

type Argument = string | number;
type Scripted = Record<ScriptName, (key: string, ...rest: Argument[]) => Promise<unknown>>;

/** Key prefix of everything this gateway stores; the part in braces is the hash tag for clusters. */
const namespace = 'model-gateway';
export const keyOf = (kind: string, scope: string): string => `${namespace}:${kind}:{${scope}}`;

/** The hash tag of a key. */
const scopeOf = (key: string): string => key.slice(key.indexOf('{') + 1, -1);

export class LinkLost extends Error {}

/** Reasons that are logged of one time of being away. */
const maxReported = 10;

/** What errors of one reason have in common: the system's code, or the server's (`OOM`, `NOAUTH`), whatever it was asked. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const words = String(message ?? error);
  return code === undefined ? (/\b[A-Z]{3,}\b/.exec(words)?.[0] ?? words) : String(code);
}

/** The server's own words, over a connection that works; some say what is to be mended: a wrong password, a right that lacks. */
const isReply = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

/** A server of a cluster, which has some of the keys. */
const isOfCluster = (error: unknown): boolean => isReply(error) && /^(?:MOVED|ASK|CLUSTERDOWN|TRYAGAIN)\b/.test((error as Error).message);

/** What is to be done, for the log. */
const adviceFor = (error: unknown): string =>
  isOfCluster(error)
    ? 'REDIS_URL names a server of a Redis Cluster, which has a part of the keys: name a Redis without cluster mode'
    : 'see to it, or to REDIS_URL and REDIS_TLS_…';

/** The server was replaced, and is a replica of its successor now: the connection to it would last for ever. */
const isReplica = (error: unknown): boolean => error instanceof Error && error.message.startsWith('READONLY');

/** After so many checks in a row without an answer the connection is given up: nobody closes one whose other end is gone, or was forgotten on the way. */
const silentChecks = 6;

/** Of the pause before the next check: to half a minute. */
const maxDoublings = 6;

export class RedisLink implements StateLink {
  readonly #url: string;
  readonly #tls: ConnectionOptions | undefined;
  /** undefined before `start`. */
  #redis: (Redis & Scripted) | undefined;
  readonly #logger: StateLogger;
  readonly #commandMs: number;
  readonly #probeMs: number;
  readonly #watchers: ((up: boolean) => void)[] = [];
  #probe: NodeJS.Timeout | undefined;
  #closed = false;
  /** Why it has been away since it answered last: each reason is reported once, that of a server that was never reached, too. */
  readonly #reported = new Set<string>();
  /** What is checked: a cluster's server that refuses one key takes others. */
  #checked = 'writes';
  /** Times in a row that a call was refused after a check that was not. */
  #refusals = 0;
  /** Checks in a row without an answer. */
  #silent = 0;
  up = false;

  constructor({ url, tls, logger, commandMs = 100, probeMs = 500 }: LinkOptions) {
    this.#logger = logger;
    this.#commandMs = commandMs;
    this.#probeMs = probeMs;
    this.#url = url;
    this.#tls = tls;
  }

  /** Resolves after the first attempt, whatever came of it; goes on trying. */
  async start(): Promise<void> {
    const redis = await this.#open();
    if (!redis) return;
    await redis.connect().catch((error: unknown) => this.#lost(error));
    await this.#check();
  }

  async #open(): Promise<Redis | undefined> {
    // Only processes that count in Redis load its client.
    const { Redis: Client } = await import('ioredis');
    if (this.#closed) return undefined;
    const redis = new Client(this.#url, {
      lazyConnect: true,
      ...(this.#tls && { tls: this.#tls }),
      // A command that cannot be sent now is answered from this process's share instead of being queued.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      connectTimeout: 2000,
      retryStrategy: (tries) => Math.min(1000, 50 * 2 ** Math.min(tries, 6)) * (0.75 + Math.random() / 2),
      scripts: Object.fromEntries(Object.entries(scripts).map(([name, lua]) => [name, { lua, numberOfKeys: 1 }])),
    }) as Redis & Scripted;
    // Its errors also arrive as rejections of commands; an error event without a listener would end the process.
    redis.on('error', (error) => this.#lost(error, true));
    redis.on('close', () => this.#lost(new LinkLost('the connection closed')));
    redis.on('ready', () => void this.#check());
    this.#redis = redis;
    return redis;
  }

  onChange(callback: (up: boolean) => void): void {
    this.#watchers.push(callback);
  }

  /** Rejects within the time-out; a server error marks the link as lost, so that no other command waits for it. */
  async run(name: ScriptName, key: string, ...rest: Argument[]): Promise<number[]> {
    const redis = this.#redis;
    if (!redis || !this.up) throw new LinkLost('Redis is away');
    try {
      const reply = await this.#within(redis[name](key, ...rest));
      this.#refusals = 0;
      return Array.isArray(reply) ? reply.map(Number) : [];
    } catch (error) {
      if (isReply(error)) {
        this.#checked = scopeOf(key);
        // Only the first of several that were under way.
        if (this.up) this.#refusals++;
      } else this.#refusals = 0;
      this.#lost(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#probe);
    this.up = false;
    this.#redis?.disconnect();
  }

  async #check(): Promise<void> {
    clearTimeout(this.#probe);
    const redis = this.#redis;
    if (this.#closed || !redis) return;
    try {
      await this.#within(redis.probe(keyOf('probe', this.#checked), this.#probeMs));
      this.#silent = 0;
      this.#change(true);
    } catch (error) {
      this.#silent = isReply(error) ? 0 : this.#silent + 1;
      this.#lost(error);
    }
  }

  /** `isReason`: it says why there is no connection. That one closed, or is not there, says nothing new of a server that is away. */
  #lost(error: unknown, isReason = isReply(error)): void {
    if (this.#closed) return;
    if (this.#reported.size === 0 || (isReason && this.#reported.size < maxReported && !this.#reported.has(reasonOf(error))))
      this.#logger.warn({ error }, `Redis cannot be used: ${adviceFor(error)}; this process keeps its share of each limit on its own`);
    this.#reported.add(reasonOf(error));
    this.#change(false);
    clearTimeout(this.#probe);
    // A user who lacks a right that the check does not need would have it go back and forth for ever.
    const pauseMs = this.#probeMs * 2 ** Math.min(Math.max(this.#refusals - 1, 0), maxDoublings);
    this.#probe = setTimeout(() => this.#tryAgain(isReplica(error) || this.#silent >= silentChecks), pauseMs).unref();
  }

  /** `anew`: by a new connection, which goes to the server that has the address now. */
  #tryAgain(anew: boolean): void {
    if (!anew) return void this.#check();
    this.#silent = 0;
    this.#redis?.disconnect(true);
    // Its end is an event only where it was open.
    this.#probe = setTimeout(() => void this.#check(), this.#probeMs).unref();
  }

  #change(up: boolean): void {
    if (this.up === up) return;
    this.up = up;
    if (up) {
      this.#reported.clear();
      this.#logger.info({}, 'Redis answers: limits are shared');
    }
    for (const watch of this.#watchers) watch(up);
  }

  /** A busy event loop fires the timer before it reads a reply that has already arrived: check once more before giving up. */
  #within<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => setImmediate(() => reject(new LinkLost(`no answer in ${this.#commandMs} ms`))), this.#commandMs);
      work.then(
        (value) => {
          clearTimeout(timer);
          resolve(value);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(error);
        },
      );
    });
  }
}
