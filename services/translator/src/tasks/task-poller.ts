/** Looks at unfinished tasks until they end, so that each is billed whether or not its caller asks. One process has a task at a time. */
import type { KeptTask, TaskFacts } from '@model-gateway/contracts';
import { isGatewayError } from '@model-gateway/contracts/errors';
import type { TurnDeps } from '../turns/deps.ts';
import { askTasks } from './ask-tasks.ts';
import { askUpstream } from './ask-upstream.ts';
import type { UpstreamAnswer } from './deps.ts';
import { endTask, forgottenMs } from './end-task.ts';

/** How often the store is asked. */
const everyMs = 5_000;
/** How long a task is nobody else's. */
const leaseMs = 60_000;
/** How soon a young task is looked at again, and an older one. */
const againMs = 10_000;
const againLaterMs = 60_000;
const atOnce = 10;
/** What has not answered by then is waited for beside the next round: an upstream that hangs keeps no other's tasks from being billed. */
const roundMs = 2_000;
/** Of one upstream, tasks that are being asked about. More are put off, so that rounds are not filled with those of an upstream that hangs. */
const atOncePerUpstream = 10;
/** A task of this age is looked at less often. */
const youngMs = 600_000;

export class TaskPoller {
  readonly #deps: TurnDeps;
  readonly #ask: (task: TaskFacts) => Promise<UpstreamAnswer>;
  /** Tasks that are being asked about, by their upstream. */
  readonly #asking = new Map<string, Set<Promise<void>>>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #round: Promise<void> = Promise.resolve();
  #failing = false;

  constructor(deps: TurnDeps, ask = (task: TaskFacts): Promise<UpstreamAnswer> => askUpstream(task, undefined, deps.keeper)) {
    this.#deps = deps;
    this.#ask = ask;
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#look().finally(() => {
        if (!this.#stopped) this.start();
      });
    }, everyMs).unref();
  }

  /** Resolves when nothing is being asked any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
    await Promise.all([...this.#asking.values()].flatMap((some) => [...some]));
  }

  async #look(): Promise<void> {
    const { bus, logger, keeper } = this.#deps;
    if (!bus.connected || !keeper.catalog.current()) return;
    try {
      const seen = new Set<string>();
      let fresh: KeptTask[];
      do {
        const tasks = await askTasks(bus, { kind: 'lease', limit: atOnce, leaseMs });
        this.#failing = false;
        // One that was put off by a process of statistics whose clock is behind is due again at once for another: it is left to a later round.
        fresh = tasks.filter(({ facts: { id } }) => !seen.has(id));
        for (const { facts } of fresh) seen.add(facts.id);
        await settledWithin(fresh.map((task) => this.#lookAt(task)));
        // Where as many were due as are asked for, more may be.
      } while (fresh.length === atOnce && !this.#stopped);
    } catch (error) {
      if (!this.#failing) logger.info({ error }, 'unfinished tasks cannot be read');
      this.#failing = true;
    }
  }

  /** Never rejects. */
  async #lookAt({ facts }: KeptTask): Promise<void> {
    const { upstream } = facts.at;
    const asking = this.#asking.get(upstream) ?? new Set();
    if (asking.size >= atOncePerUpstream) return this.#putOff(facts);
    this.#asking.set(upstream, asking);
    const asked = this.#askAbout(facts);
    asking.add(asked);
    await asked;
    asking.delete(asked);
    if (asking.size === 0) this.#asking.delete(upstream);
  }

  /** Never rejects: where the store is away the task is due when its lease is over. */
  async #putOff({ owner, id }: TaskFacts): Promise<void> {
    const { bus, logger } = this.#deps;
    await askTasks(bus, { kind: 'release', owner, id, afterMs: againMs }).catch((error: unknown) =>
      logger.debug({ task: id, error }, 'a task could not be put off'),
    );
  }

  /** Never rejects: a task that cannot be asked about is due again when its lease is over. */
  async #askAbout(facts: TaskFacts): Promise<void> {
    const { bus, logger } = this.#deps;
    const { owner, id, at, createdAt, upstreamTask } = facts;
    const age = Date.now() - createdAt;
    try {
      const answer = await this.#ask(facts);
      if (await endTask(facts, answer, this.#deps)) return;
      await askTasks(bus, { kind: 'release', owner, id, afterMs: age < youngMs ? againMs : againLaterMs });
    } catch (error) {
      const gone = isGatewayError(error) && error.code === 'task_gone';
      logger[gone ? 'warn' : 'info'](
        { task: id, upstream: at.upstream, upstreamTask, error },
        gone
          ? 'the account or the model of an unfinished task is not configured any more: it cannot be asked about, or billed'
          : 'a task could not be asked about',
      );
      if (age >= forgottenMs) await this.#giveUp(facts);
    }
  }

  async #giveUp(facts: TaskFacts): Promise<void> {
    const text = JSON.stringify({ output: { task_id: facts.id, task_status: 'UNKNOWN' } });
    await endTask(facts, { status: 'lost', usage: null, text }, this.#deps).catch((error: unknown) =>
      this.#deps.logger.info({ task: facts.id, error }, 'a task could not be given up'),
    );
  }
}

/** Resolves when all have settled, or when the round is over. */
async function settledWithin(looks: readonly Promise<void>[]): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, roundMs).unref();
  await Promise.race([Promise.all(looks), over.promise]);
  clearTimeout(timer);
}
