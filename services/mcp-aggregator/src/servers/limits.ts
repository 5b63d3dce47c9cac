/** How much one server is asked: calls of one access key at a time, calls in a second, tokens in a minute. Counted by this process. */
import type { McpServerRecord } from '@model-gateway/contracts';
import { RpcError } from '../protocol/json-rpc.ts';
import { errorCodes } from '../protocol/versions.ts';

/** How long a call waits for its turn. */
export const turnMs = 10_000;

const tooMany = (message: string, retryAfterMs: number): RpcError =>
  new RpcError(errorCodes.server, message, { data: { code: 'rate_limited', retry_after_ms: Math.ceil(retryAfterMs) } });

interface Line {
  running: number;
  waiting: (() => void)[];
}

/** Places for calls, by access key; first come, first served. */
export class Concurrency {
  readonly #lines = new Map<string, Line>();

  /** Resolves with how the place is given back. Rejects with RpcError after ten seconds, or when the signal is aborted. */
  enter(owner: string, max: number | null, signal: AbortSignal): Promise<() => void> {
    if (max === null) return Promise.resolve(() => undefined);
    const line = this.#lines.get(owner) ?? { running: 0, waiting: [] };
    this.#lines.set(owner, line);
    if (line.running < max) {
      line.running++;
      return Promise.resolve(this.#leaver(owner, line, max));
    }
    return new Promise((resolve, reject) => {
      const stop = (error: RpcError): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', left);
        line.waiting = line.waiting.filter((one) => one !== enter);
        reject(error);
      };
      const left = (): void => stop(new RpcError(errorCodes.server, 'The caller has left.'));
      const enter = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', left);
        line.running++;
        resolve(this.#leaver(owner, line, max));
      };
      const timer = setTimeout(() => stop(tooMany('Too many calls of this access key to the MCP server are under way.', 1000)), turnMs).unref();
      signal.addEventListener('abort', left, { once: true });
      line.waiting.push(enter);
    });
  }

  #leaver(owner: string, line: Line, max: number): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      line.running--;
      if (line.running < max) line.waiting.shift()?.();
      if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(owner);
    };
  }
}

/** A bucket that fills evenly. */
class Bucket {
  readonly size: number;
  readonly perMs: number;
  #level: number;
  #at: number;

  constructor(size: number, perMs: number, now: number) {
    this.size = size;
    this.perMs = perMs;
    this.#level = size;
    this.#at = now;
  }

  /** 0: it can be taken now; else ms until it can. */
  wait(amount: number, now: number): number {
    this.#level = Math.min(this.size, this.#level + (now - this.#at) * this.perMs);
    this.#at = now;
    return this.#level >= Math.min(amount, this.size) ? 0 : (Math.min(amount, this.size) - this.#level) / this.perMs;
  }

  take(amount: number): void {
    this.#level -= amount;
  }
}

/** The rates of one server. */
export class Rates {
  readonly #now: () => number;
  #limit: McpServerRecord['rate_limit'] = null;
  #requests: Bucket | null = null;
  #tokens: Bucket | null = null;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Throws RpcError. The cost of the result is added by `used`. */
  admit(limit: McpServerRecord['rate_limit'], tokens: number): void {
    this.#adopt(limit);
    const now = this.#now();
    const wait = Math.max(this.#requests?.wait(1, now) ?? 0, this.#tokens?.wait(tokens, now) ?? 0);
    if (wait > 0) throw tooMany('The MCP server is called more often than it may be.', wait);
    this.#requests?.take(1);
    this.#tokens?.take(tokens);
  }

  used(tokens: number): void {
    this.#tokens?.take(tokens);
  }

  #adopt(limit: McpServerRecord['rate_limit']): void {
    if (limit?.requests_per_second === this.#limit?.requests_per_second && limit?.tokens_per_minute === this.#limit?.tokens_per_minute) return;
    this.#limit = limit;
    const now = this.#now();
    const { requests_per_second: perSecond = null, tokens_per_minute: perMinute = null } = limit ?? {};
    this.#requests = perSecond === null ? null : new Bucket(Math.max(1, perSecond), perSecond / 1000, now);
    this.#tokens = perMinute === null ? null : new Bucket(perMinute, perMinute / 60_000, now);
  }
}
