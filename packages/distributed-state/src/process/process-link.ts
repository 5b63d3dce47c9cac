/** The way to a process of this machine that keeps the state of all. */
import type { StateLogger } from '../logger.ts';
import type { ScriptName } from '../redis/scripts.ts';
import type { StateLink } from '../state-link.ts';

type Value = string | number;

/** How the process is asked, and times in ms. */
export interface ProcessLinkOptions {
  /** Rejects when there is no answer within `deadlineMs`. */
  ask(call: { rule: string; scope: string; values: Value[] }, deadlineMs: number): Promise<{ numbers: number[] }>;
  logger: StateLogger;
  /** How long an answer may take. Default 1,000: a busy process is not away, and its figures are exact. */
  commandMs?: number;
  /** How often a process that did not answer is asked whether it is back. Default 500. */
  probeMs?: number;
}

export class ProcessLink implements StateLink {
  up = false;
  readonly #options: ProcessLinkOptions;
  readonly #commandMs: number;
  readonly #watchers: ((up: boolean) => void)[] = [];
  #probe: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: ProcessLinkOptions) {
    this.#options = options;
    this.#commandMs = options.commandMs ?? 1000;
  }

  start(): Promise<void> {
    return this.#check();
  }

  onChange(callback: (up: boolean) => void): void {
    this.#watchers.push(callback);
  }

  async run(name: ScriptName, key: string, ...rest: Value[]): Promise<number[]> {
    try {
      return (await this.#options.ask({ rule: name, scope: key, values: rest }, this.#commandMs)).numbers;
    } catch (error) {
      this.#lost(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.up = false;
    clearTimeout(this.#probe);
  }

  async #check(): Promise<void> {
    clearTimeout(this.#probe);
    if (this.#closed) return;
    try {
      await this.#options.ask({ rule: 'lookAtBudget', scope: 'none', values: [] }, this.#commandMs);
      this.#change(true);
    } catch (error) {
      this.#lost(error);
    }
  }

  #lost(error: unknown): void {
    if (this.#closed) return;
    if (this.up) this.#options.logger.warn({ error }, 'the process that keeps the limits does not answer: this one keeps its share of each limit on its own');
    this.#change(false);
    clearTimeout(this.#probe);
    this.#probe = setTimeout(() => void this.#check(), this.#options.probeMs ?? 500).unref();
  }

  #change(up: boolean): void {
    if (this.up === up || this.#closed) return;
    this.up = up;
    if (up) this.#options.logger.info({}, 'the process that keeps the limits answers: limits are shared');
    for (const watch of this.#watchers) watch(up);
  }
}
