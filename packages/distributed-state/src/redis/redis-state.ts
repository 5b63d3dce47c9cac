/** State that another place keeps (Redis, or a process of this machine); while that is away, in this process, limited to its share of each limit. */

import type { ConnectionOptions } from 'node:tls';
import { type GateLimits, type Hit, pollMs, type Reserved, shareOf, type Taken, type WindowLimit } from '@model-gateway/limits';
import { boundedMap } from '../bounded-map.ts';
import type { StateLogger } from '../logger.ts';
import { MemoryState } from '../memory/memory-state.ts';
import { leaseMs, renewMs, type SharedState, type StateStatus, type TakeAsk } from '../state.ts';
import type { StateLink } from '../state-link.ts';
import { keyOf, RedisLink } from './link.ts';
import type { ScriptName } from './scripts.ts';

/** Where the state is kept, this process's name there, and times in ms (tests shorten them). */
export interface LeasedStateOptions {
  link: StateLink;
  backend: 'redis' | 'process';
  holder: string;
  logger: StateLogger;
  /** How many processes share the limits, as far as known; at least 1. */
  replicas(): number;
  /** Resolves once the others that live are known: a start without the shared state waits for it, or its share would be the whole limit. */
  peersKnown?(): Promise<void>;
  renewMs?: number;
  leaseMs?: number;
}

/** The Redis server, and what it takes. */
export interface RedisStateOptions extends Omit<LeasedStateOptions, 'link' | 'backend'> {
  url: string;
  /** TLS is spoken with these; getters are asked for each connection. */
  tls?: ConnectionOptions | undefined;
  commandMs?: number;
}

type Argument = string | number;

/** Callers known to be over their limit: further requests are refused without asking Redis. */
const maxRefused = 10_000;
const maxCharged = 100_000;
/** How late a waiting process may ask again before it loses its place in the queue. */
const graceMs = 150;

const moneyOf = (scope: string): string => `money ${scope}`;

const gateArguments = ({ rpm, tpm, maxConcurrency, intervalMs, initialPercent }: GateLimits): Argument[] => [
  rpm ?? -1,
  tpm ?? -1,
  maxConcurrency ?? -1,
  intervalMs ?? -1,
  initialPercent,
];

export class LeasedState implements SharedState {
  readonly holder: string;
  readonly #link: StateLink;
  readonly #share: MemoryState;
  readonly #options: LeasedStateOptions;
  readonly #leaseMs: number;
  /** Everything this process holds, renewed in one go. */
  readonly #permits = new Map<string, { limits: GateLimits; held: number }>();
  readonly #money = new Map<string, number>();
  /** Total charged by this process, by budget; and the budgets to which the latest total has not been sent yet. */
  readonly #charged = boundedMap<number>(maxCharged);
  readonly #owed = new Set<string>();
  /** Scopes with a request under way: what they hold is unknown until its answer, which itself renews the lease. */
  readonly #asking = new Set<string>();
  readonly #refused = boundedMap<{ until: number; used: number; limit: WindowLimit }>(maxRefused);
  readonly #renewal: NodeJS.Timeout;
  #starting: Promise<void> | undefined;
  #degradedSince: number | null = Date.now();

  constructor(options: LeasedStateOptions) {
    this.holder = options.holder;
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? leaseMs;
    this.#share = new MemoryState({ holder: options.holder });
    this.#link = options.link;
    this.#link.onChange((up) => {
      this.#degradedSince = up ? null : Date.now();
      this.#refused.clear();
      // Redis may have lost our entries, or kept what we have released since.
      if (up) this.#renew();
    });
    this.#renewal = setInterval(() => this.#renew(), options.renewMs ?? renewMs).unref();
  }

  get remote(): boolean {
    return this.#link.up;
  }

  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    await this.#link.start();
    if (this.#link.up || !this.#options.peersKnown) return;
    const found = new Promise<void>((resolve) => this.#link.onChange((up) => up && resolve()));
    await Promise.race([this.#options.peersKnown(), found]);
  }

  take(scope: string, limits: GateLimits, ask: TakeAsk): Taken | Promise<Taken> {
    const alone = (): Taken => this.#share.take(scope, shareOf(limits, this.#options.replicas()), ask);
    if (!this.#link.up) return this.#noted(scope, limits, ask.held, alone());
    const { held, costs, waits } = ask;
    this.#asking.add(scope);
    return this.#link
      .run('take', keyOf('gate', scope), ...gateArguments(limits), this.holder, held, waits ? 1 : 0, this.#leaseMs, pollMs, graceMs, ...costs)
      .then(
        ([granted = 0, retry = 0, used = 0]) => ({ granted, retryMs: retry < 0 ? null : retry, used }),
        () => alone(),
      )
      .then((taken) => {
        this.#asking.delete(scope);
        return this.#noted(scope, limits, held, taken);
      });
  }

  give(scope: string, limits: GateLimits, give: { held: number; tokens: number; unmade?: number }): void {
    const { held, tokens, unmade = 0 } = give;
    this.#note(scope, limits, held);
    if (!this.#link.up) return this.#share.give(scope, shareOf(limits, this.#options.replicas()), give);
    // A lost release is repaired by the next renewal, or by the lease's expiry.
    this.#send('give', keyOf('gate', scope), ...gateArguments(limits), this.holder, held, tokens, this.#leaseMs, unmade);
  }

  hit(scope: string, limit: WindowLimit): Hit | Promise<Hit> {
    const alone = (): Hit => this.#share.hit(scope, { ...limit, limit: Math.max(1, Math.floor(limit.limit / this.#options.replicas())) });
    if (!this.#link.up) return alone();
    const known = this.#knownRefusal(scope, limit);
    if (known) return known;
    return this.#link.run('hit', keyOf('window', scope), limit.limit, limit.windowMs, 1).then(
      ([allowed = 1, used = 0, retryMs = 0]) => {
        if (!allowed) this.#refuse(scope, limit, used, retryMs);
        return { allowed: allowed === 1, used, retryMs };
      },
      () => alone(),
    );
  }

  reserve(scope: string, ask: { limit: number; held: number; amounts: readonly number[] }): Reserved | Promise<Reserved> {
    const { limit, held, amounts } = ask;
    const noted = (reserved: Reserved): Reserved => {
      this.#noteMoney(
        scope,
        amounts.slice(0, reserved.granted).reduce((sum, one) => sum + one, held),
      );
      return reserved;
    };
    const alone = (): Reserved => this.#share.reserve(scope, { ...ask, limit: this.#shareOfMoney(scope, limit) });
    if (!this.#link.up) return noted(alone());
    const asking = moneyOf(scope);
    this.#asking.add(asking);
    return this.#link
      .run('reserve', keyOf('budget', scope), this.holder, held, limit, this.#leaseMs, ...amounts)
      .then(
        ([granted = 0, spent = -1, reserved = 0, tasks = 0]) => {
          // Remembered for when Redis is away.
          if (spent >= 0) this.#share.learn(scope, spent);
          return { granted, spent: spent < 0 ? null : spent, reserved, tasks };
        },
        () => alone(),
      )
      .then((reserved) => {
        this.#asking.delete(asking);
        return noted(reserved);
      });
  }

  /** The spent amount, and what tasks hold, is known to every process; each may reserve an equal part of what is left. */
  #shareOfMoney(scope: string, limit: number): number {
    const { spent, tasks } = this.#share.lookAtBudget(scope) ?? { spent: 0, tasks: 0 };
    const gone = (spent ?? 0) + tasks;
    return gone >= limit ? limit : gone + Math.ceil((limit - gone) / this.#options.replicas());
  }

  charge(scope: string, { held, cost }: { held: number; cost: number }): void {
    this.#noteMoney(scope, held);
    this.#share.charge(scope, { held, cost });
    this.#noteCost(scope, cost);
    if (this.#link.up) this.#sendCharge(scope, held, cost);
    else this.#owed.add(scope);
  }

  #sendCharge(scope: string, held: number, cost: number): void {
    this.#owed.delete(scope);
    this.#link.run('charge', keyOf('budget', scope), this.holder, held, cost, this.#leaseMs, this.#charged.get(scope) ?? 0).catch(() => this.#owed.add(scope));
  }

  learn(scope: string, spent: number, tasks?: number): void {
    this.#share.learn(scope, spent, tasks);
    if (this.#link.up) this.#send('learn', keyOf('budget', scope), spent, tasks ?? -1);
  }

  lookAtGate(scope: string, limits: GateLimits) {
    const alone = () => this.#share.lookAtGate(scope, shareOf(limits, this.#options.replicas()));
    if (!this.#link.up) return alone();
    return this.#link.run('lookAtGate', keyOf('gate', scope), ...gateArguments(limits)).then(
      ([used, waitMs = 0, rpmLeft = 0, tpmLeft = 0]) =>
        used === undefined ? null : { used, waitMs, rpmLeft: limits.rpm === null ? null : rpmLeft, tpmLeft: limits.tpm === null ? null : tpmLeft },
      () => alone(),
    );
  }

  lookAtWindow(scope: string, limit: WindowLimit) {
    if (!this.#link.up) return this.#share.lookAtWindow(scope, limit);
    return this.#link.run('hit', keyOf('window', scope), limit.limit, limit.windowMs, 0).then(
      ([allowed = 1, used = 0, retryMs = 0]) => ({ allowed: allowed === 1, used, retryMs }),
      () => this.#share.lookAtWindow(scope, limit),
    );
  }

  lookAtBudget(scope: string) {
    if (!this.#link.up) return this.#share.lookAtBudget(scope);
    return this.#link.run('lookAtBudget', keyOf('budget', scope)).then(
      ([spent, reserved, tasks = 0]) => (spent === undefined || reserved === undefined ? null : { spent: spent < 0 ? null : spent, reserved, tasks }),
      () => this.#share.lookAtBudget(scope),
    );
  }

  status(): StateStatus {
    return { backend: this.#options.backend, degraded: !this.#link.up, degradedSince: this.#degradedSince };
  }

  /** Releases what this process holds, so that others need not wait for its leases to expire. */
  async close(): Promise<void> {
    clearInterval(this.#renewal);
    const last = [...this.#permits].map(([scope, { limits }]) =>
      this.#link.run('give', keyOf('gate', scope), ...gateArguments(limits), this.holder, 0, 0, this.#leaseMs, 0),
    );
    await Promise.allSettled(last);
    await this.#link.close();
  }

  #renew(): void {
    if (!this.#link.up) return;
    for (const [scope, { limits, held }] of this.#permits)
      if (!this.#asking.has(scope)) this.#send('give', keyOf('gate', scope), ...gateArguments(limits), this.holder, held, 0, this.#leaseMs, 0);
    for (const scope of new Set([...this.#money.keys(), ...this.#owed]))
      if (!this.#asking.has(moneyOf(scope))) this.#sendCharge(scope, this.#money.get(scope) ?? 0, 0);
  }

  /** A failure has already marked the link as lost, and logged it. */
  #send(name: ScriptName, key: string, ...rest: Argument[]): void {
    this.#link.run(name, key, ...rest).catch(() => undefined);
  }

  #noted(scope: string, limits: GateLimits, held: number, taken: Taken): Taken {
    this.#note(scope, limits, limits.maxConcurrency === null ? 0 : held + taken.granted);
    return taken;
  }

  #note(scope: string, limits: GateLimits, held: number): void {
    if (held > 0) this.#permits.set(scope, { limits, held });
    else this.#permits.delete(scope);
  }

  #noteMoney(scope: string, held: number): void {
    if (held > 0) this.#money.set(scope, held);
    else this.#money.delete(scope);
  }

  #noteCost(scope: string, cost: number): void {
    this.#charged.set(scope, (this.#charged.get(scope) ?? 0) + cost);
  }

  /** Until its retry time no other process can free a slot in the window: hits only age. */
  #knownRefusal(scope: string, limit: WindowLimit): Hit | null {
    const known = this.#refused.get(scope);
    if (!known) return null;
    const left = known.until - performance.now();
    if (left > 0 && known.limit.limit === limit.limit && known.limit.windowMs === limit.windowMs)
      return { allowed: false, used: known.used, retryMs: Math.ceil(left) };
    this.#refused.delete(scope);
    return null;
  }

  #refuse(scope: string, limit: WindowLimit, used: number, retryMs: number): void {
    this.#refused.set(scope, { until: performance.now() + retryMs, used, limit });
  }
}

/** Leased from a Redis server. */
export class RedisState extends LeasedState {
  constructor({ url, tls, commandMs, ...options }: RedisStateOptions) {
    super({ ...options, backend: 'redis', link: new RedisLink({ url, tls, logger: options.logger, ...(commandMs !== undefined && { commandMs }) }) });
  }
}
