/** Counts what one run does, and ends it for good once a limit is passed: every later operation throws again. */
import { LimitFault, type LimitName, maxElements, maxStackDepth, maxTextLength } from './limits.ts';

export class Meter {
  operations = 0;
  /** The first limit that was passed; a script that caught it has failed all the same. */
  fault: LimitFault | null = null;
  readonly #max: number;
  #frames = 0;
  #over = false;

  constructor(max: number) {
    this.#max = max;
  }

  /** What scripts call; the run's own, so that code which outlives it finds it closed. */
  readonly charge = (operations: number): void => {
    if (this.fault) throw this.fault;
    if (this.#over) throw new LimitFault('TooManyOperations', 'the run is over');
    this.operations += operations;
    if (this.operations > this.#max) this.fail('TooManyOperations', `the script did more than ${this.#max} operations`);
  };

  readonly enter = (operations: number): void => {
    this.#frames++;
    this.charge(operations);
    if (this.#frames > maxStackDepth) this.fail('StackOverflow', `functions call one another more than ${maxStackDepth} deep`);
  };

  readonly leave = (): void => {
    this.#frames--;
  };

  readonly text = (value: unknown): unknown => {
    if (typeof value === 'string' && value.length > maxTextLength) this.failLongText();
    return value;
  };

  readonly spread = (value: unknown): unknown => {
    if (this.fault) throw this.fault;
    if (sizeOf(value) > maxElements) this.failManyElements();
    return value;
  };

  failLongText(): never {
    return this.fail('StringTooLong', `a text is longer than ${maxTextLength} characters`);
  }

  failManyElements(): never {
    return this.fail('TooManyElements', `a list or object has more than ${maxElements} elements`);
  }

  fail(limit: LimitName, message: string): never {
    this.fault ??= new LimitFault(limit, message);
    throw this.fault;
  }

  /** Code of this run that wakes up later (a promise's reaction) does nothing more. */
  close(): void {
    this.#over = true;
  }
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return value instanceof Map || value instanceof Set ? value.size : 0;
}

/** The meter of the run under way: natives that grow things look here. One run at a time uses this realm. */
let current: Meter | null = null;
export const setCurrentMeter = (meter: Meter | null): void => {
  current = meter;
};
export const currentMeter = (): Meter | null => current;
