/** The way to where shared state is kept. */
import type { ScriptName } from './redis/scripts.ts';

/** Runs one rule over one scope, there; `up` says whether it can be asked now. */
export interface StateLink {
  readonly up: boolean;
  /** Resolves after the first attempt, whatever came of it; goes on trying. */
  start(): Promise<void>;
  onChange(callback: (up: boolean) => void): void;
  /** Rejects soon where there is no answer. */
  run(name: ScriptName, key: string, ...rest: (string | number)[]): Promise<number[]>;
  close(): Promise<void>;
}
