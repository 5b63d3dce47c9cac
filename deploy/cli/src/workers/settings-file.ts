/** The configuration file as workers read it. Its last state that could be used is kept, since it may be edited to nonsense while they run. */
import { readFileSync, writeFileSync } from 'node:fs';

/** null: it cannot be read. */
type State = string | null;

/** What one worker reads. */
export interface Settings {
  state: State;
  /** Whether these are earlier settings than those of the file. */
  isEarlier: boolean;
  /** Options for the worker. */
  argv: readonly string[];
}

/** Chooses between the file and its last state that could be used. */
export class SettingsFile {
  readonly #file: string;
  readonly #copy: string;
  #usable: State;
  #refused: { state: State } | null = null;

  /** The file can be used now. `copy`: where to put its earlier states, a file of this user alone. */
  constructor(file: string, copy: string) {
    this.#file = file;
    this.#copy = copy;
    this.#usable = this.#read();
  }

  /** For the next worker. `anew`: the file as it is, even where a worker could not start with it. */
  choose({ anew }: { anew: boolean }): Settings {
    const state = this.#read();
    const isEarlier = !anew && state !== this.#usable && this.#refused?.state === state;
    if (!isEarlier) return { state, isEarlier, argv: [] };
    writeFileSync(this.#copy, this.#usable ?? '', { mode: 0o600 });
    return { state: this.#usable, isEarlier, argv: ['--config-file', this.#copy] };
  }

  /** A worker got ready with them. */
  worked({ state }: Settings): void {
    this.#usable = state;
  }

  /** A worker ended before it was ready. */
  failed({ state }: Settings): void {
    this.#refused = { state };
  }

  #read(): State {
    try {
      return readFileSync(this.#file, 'utf8');
    } catch {
      return null;
    }
  }
}
