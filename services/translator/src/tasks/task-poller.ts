/** Looks at unfinished tasks until they end, so that each is billed whether or not its caller asks. One process has a task at a time. */
import type { KeptTask } from '@model-gateway/contracts';
import { isGatewayError } from '@model-gateway/contracts/errors';
import type { TurnDeps } from '../turns/deps.ts';
import { askTasks } from './ask-tasks.ts';
import { askUpstream } from './ask-upstream.ts';
import { endTask, forgottenMs } from './end-task.ts';

/** How often the store is asked. */
const everyMs = 5_000;
/** How long a task is nobody else's. */
const leaseMs = 60_000;
/** How soon a young task is looked at again, and an older one. */
const againMs = 10_000;
const againLaterMs = 60_000;
const atOnce = 10;
/** A task of this age is looked at less often. */
const youngMs = 600_000;

export class TaskPoller {
  readonly #deps: TurnDeps;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #round: Promise<void> = Promise.resolve();
  #failing = false;

  constructor(deps: TurnDeps) {
    this.#deps = deps;
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
  }

  async #look(): Promise<void> {
    const { bus, logger, keeper } = this.#deps;
    if (!bus.connected || !keeper.catalog.current()) return;
    try {
      const tasks = await askTasks(bus, { kind: 'lease', limit: atOnce, leaseMs });
      this.#failing = false;
      await Promise.all(tasks.map((task) => this.#lookAt(task)));
    } catch (error) {
      if (!this.#failing) logger.info({ error }, 'unfinished tasks cannot be looked at');
      this.#failing = true;
    }
  }

  /** Never rejects: a task that cannot be asked about is due again when its lease is over. */
  async #lookAt({ facts }: KeptTask): Promise<void> {
    const { bus, logger, keeper } = this.#deps;
    const { owner, id, at, createdAt, upstreamTask } = facts;
    const age = Date.now() - createdAt;
    try {
      const answer = await askUpstream(facts, undefined, keeper);
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

  async #giveUp(facts: KeptTask['facts']): Promise<void> {
    const text = JSON.stringify({ output: { task_id: facts.id, task_status: 'UNKNOWN' } });
    await endTask(facts, { status: 'lost', usage: null, text }, this.#deps).catch((error: unknown) =>
      this.#deps.logger.info({ task: facts.id, error }, 'a task could not be given up'),
    );
  }
}
