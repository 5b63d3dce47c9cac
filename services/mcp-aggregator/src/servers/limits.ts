/** How much one server is asked: calls of one access key at a time, calls in a second, tokens in a minute. All processes count together where the state is shared. */
import type { McpServerRecord, RateLimit } from '@model-gateway/contracts';
import { type Admission, AdmissionQueue, type Lease, type SharedState } from '@model-gateway/distributed-state';
import { RpcError } from '../protocol/json-rpc.ts';
import { errorCodes } from '../protocol/versions.ts';

/** How long a call waits for its turn. */
const turnSecs = 10;

const tooMany = (message: string, retryAfterMs: number): RpcError =>
  new RpcError(errorCodes.server, message, { data: { code: 'rate_limited', retry_after_ms: Math.ceil(retryAfterMs) } });

/** A call that was let in. */
export interface Entered {
  /** It is over, and took so many tokens. */
  leave(tokens: number): void;
}

/** The limits of a server that apply to a call. */
export interface AskedLimits extends Pick<McpServerRecord, 'max_concurrency' | 'rate_limit'> {
  /** The caller's access key. */
  owner: string;
  /** Of its arguments. */
  tokens: number;
  signal: AbortSignal;
}

const limited = (more: Partial<RateLimit>): RateLimit => ({
  rpm: null,
  tpm: null,
  max_concurrency: null,
  tps_min_interval_ms: 0,
  initial_tokens: 100,
  wait_timeout_secs: 0,
  ...more,
});

/** One object for each figure: a queue takes another one for an edited limit. */
class Limit {
  readonly #make: (figure: number) => RateLimit;
  #figure: number | undefined;
  #limit: RateLimit | undefined;

  constructor(make: (figure: number) => RateLimit) {
    this.#make = make;
  }

  of(figure: number): RateLimit {
    if (this.#limit && this.#figure === figure) return this.#limit;
    this.#figure = figure;
    this.#limit = this.#make(figure);
    return this.#limit;
  }
}

/** The limits of one server. */
export class ServerLimits {
  readonly #scope: string;
  readonly #state: SharedState;
  readonly #tokens: AdmissionQueue;
  /** Of callers with calls under way or in line. */
  readonly #callers = new Map<string, AdmissionQueue>();
  readonly #tokenLimit = new Limit((tpm) => limited({ tpm }));
  readonly #placeLimit = new Limit((max_concurrency) => limited({ max_concurrency, wait_timeout_secs: turnSecs }));

  constructor(server: string, state: SharedState) {
    this.#scope = `mcp:${server}`;
    this.#state = state;
    this.#tokens = new AdmissionQueue(this.#scope, state);
  }

  /** Rejects with RpcError: at once where a rate is exceeded, after ten seconds where the caller's other calls do not end, or when the signal is aborted. */
  async enter(asked: AskedLimits): Promise<Entered> {
    const rates = asked.rate_limit;
    const tokens = await this.#takeTokens(rates?.tokens_per_minute ?? null, asked.tokens);
    try {
      await this.#hit(rates?.requests_per_second ?? null);
      const place = await this.#takePlace(asked);
      return {
        leave(used) {
          place?.release(() => 0);
          tokens?.release(() => used);
        },
      };
    } catch (error) {
      tokens?.giveBack();
      throw error;
    }
  }

  close(): void {
    this.#tokens.close();
    for (const queue of this.#callers.values()) queue.close();
  }

  async #takeTokens(tpm: number | null, tokens: number): Promise<Lease | null> {
    if (tpm === null) return null;
    const lease = await this.#tokens.acquire(this.#tokenLimit.of(tpm), {
      accessKey: '',
      requestTokens: () => tokens,
      replyTokens: () => 0,
      mayWait: false,
      onLeave: () => undefined,
    });
    if (lease.limited) throw tooMany('The MCP server is called more often than it may be.', lease.retryAfterMs);
    return lease;
  }

  /** Less than one call a second is one in more of them. */
  async #hit(perSecond: number | null): Promise<void> {
    if (perSecond === null) return;
    const limit = Math.max(1, Math.round(perSecond));
    const hit = await this.#state.hit(`${this.#scope}:calls`, { limit, windowMs: Math.round((limit / perSecond) * 1000) });
    if (!hit.allowed) throw tooMany('The MCP server is called more often than it may be.', hit.retryMs);
  }

  async #takePlace({ max_concurrency: max, owner, signal }: AskedLimits): Promise<Lease | null> {
    if (max === null) return null;
    const queue = this.#callers.get(owner) ?? new AdmissionQueue(`${this.#scope}:${owner}`, this.#state);
    this.#callers.set(owner, queue);
    const admission = await this.#wait(queue, max, signal);
    if (admission.limited) {
      this.#forget(owner, queue);
      throw signal.aborted
        ? new RpcError(errorCodes.server, 'The caller has left.')
        : tooMany('Too many calls of this access key to the MCP server are under way.', Math.max(1000, admission.retryAfterMs));
    }
    const release: Lease['release'] = (used) => {
      admission.release(used);
      this.#forget(owner, queue);
    };
    return { ...admission, release };
  }

  async #wait(queue: AdmissionQueue, max: number, signal: AbortSignal): Promise<Admission> {
    let leave = (): void => undefined;
    const left = (): void => leave();
    signal.addEventListener('abort', left, { once: true });
    try {
      return await queue.acquire(this.#placeLimit.of(max), {
        accessKey: '',
        requestTokens: () => 0,
        replyTokens: () => 0,
        mayWait: !signal.aborted,
        onLeave: (callback) => {
          leave = callback;
        },
      });
    } finally {
      signal.removeEventListener('abort', left);
    }
  }

  #forget(owner: string, queue: AdmissionQueue): void {
    if (queue.held > 0 || queue.waiting > 0 || this.#callers.get(owner) !== queue) return;
    queue.close();
    this.#callers.delete(owner);
  }
}
