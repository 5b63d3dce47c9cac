/** Attempts and bans both in Redis and in this process: the stricter of the two counts, so that losing Redis lifts no ban. */
import type { ConnectionOptions } from 'node:tls';
import type { StateLogger } from '../logger.ts';
import { keyOf, RedisLink } from '../redis/link.ts';
import type { Attempts } from './attempts.ts';
import { MemoryAttempts } from './memory-attempts.ts';

/** The Redis server, and the time-out of one command in ms. */
export interface RedisAttemptsOptions {
  url: string;
  /** TLS is spoken with these. */
  tls?: ConnectionOptions | undefined;
  logger: StateLogger;
  commandMs?: number;
}

export class RedisAttempts implements Attempts {
  readonly #link: RedisLink;
  readonly #memory = new MemoryAttempts();

  constructor({ url, tls, logger, commandMs }: RedisAttemptsOptions) {
    this.#link = new RedisLink({ url, tls, logger, ...(commandMs !== undefined && { commandMs }) });
  }

  /** Resolves after the first attempt to reach the server, whatever came of it. */
  start(): Promise<void> {
    return this.#link.start();
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  async add(key: string, keepMs: number): Promise<number> {
    const own = await this.#memory.add(key, keepMs);
    return Math.max(own, await this.#ask('addAttempt', 'attempts', key, keepMs));
  }

  async count(key: string): Promise<number> {
    return Math.max(await this.#memory.count(key), await this.#ask('countAttempts', 'attempts', key));
  }

  async clear(key: string): Promise<void> {
    await this.#memory.clear(key);
    await this.#ask('clearAttempts', 'attempts', key);
  }

  async forgive(whole: string, part: string): Promise<void> {
    await this.#memory.forgive(whole, part);
    const forgiven = await this.#ask('countAttempts', 'attempts', part);
    if (forgiven === 0) return;
    await this.#ask('forgiveAttempts', 'attempts', whole, forgiven);
    await this.#ask('clearAttempts', 'attempts', part);
  }

  async ban(key: string, ms: number): Promise<void> {
    await this.#memory.ban(key, ms);
    await this.#ask('ban', 'bans', key, ms);
  }

  async bannedMs(key: string): Promise<number> {
    const own = await this.#memory.bannedMs(key);
    const shared = await this.#ask('banLeft', 'bans', key);
    // Remember another process's ban here, so that it holds when Redis is lost before it ends.
    if (shared > own + 1000) await this.#memory.ban(key, shared);
    return Math.max(own, shared);
  }

  /** 0 when Redis does not answer; the link logs that. */
  async #ask(
    script: 'addAttempt' | 'countAttempts' | 'clearAttempts' | 'forgiveAttempts' | 'ban' | 'banLeft',
    kind: string,
    key: string,
    ...rest: number[]
  ): Promise<number> {
    try {
      return (await this.#link.run(script, keyOf(kind, key), ...rest))[0] ?? 0;
    } catch {
      return 0;
    }
  }
}
