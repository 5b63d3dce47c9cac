/** Callers who ask about a task at the same moment: one question to its upstream answers them all, since vendors allow an account few of them. */
import type { TaskFacts } from '@model-gateway/contracts';
import type { BeginTaskDeps, UpstreamAnswer } from './deps.ts';
import { endTask } from './end-task.ts';

export class TaskLooks {
  readonly #deps: Pick<BeginTaskDeps, 'bus' | 'logger' | 'ask'>;
  readonly #underWay = new Map<string, Promise<UpstreamAnswer>>();

  constructor(deps: Pick<BeginTaskDeps, 'bus' | 'logger' | 'ask'>) {
    this.#deps = deps;
  }

  /** How the task goes; one that has ended is billed and kept before this resolves. Rejects with GatewayError. */
  look(task: TaskFacts): Promise<UpstreamAnswer> {
    const underWay = this.#underWay.get(task.id);
    if (underWay) return underWay;
    const looking = this.#look(task).finally(() => this.#underWay.delete(task.id));
    this.#underWay.set(task.id, looking);
    return looking;
  }

  async #look(task: TaskFacts): Promise<UpstreamAnswer> {
    const answer = await this.#deps.ask(task);
    await endTask(task, answer, this.#deps);
    return answer;
  }
}
