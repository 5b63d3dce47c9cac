/** Paths of built-ins, as body rules spell them: keys and indexes with dots between, `*` for every element. */

const forbidden: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);
const maxSteps = 64;

export function readPath(path: unknown): string[] {
  if (typeof path !== 'string' || path === '') throw new TypeError('a path must be a string such as messages.0.content');
  const steps = path.split('.');
  if (steps.length > maxSteps) throw new TypeError(`a path has more than ${maxSteps} steps`);
  for (const step of steps) {
    if (step === '') throw new TypeError(`the path ${path.slice(0, 100)} has an empty step`);
    if (step.includes('[') || step.includes(']')) throw new TypeError(`the path ${path.slice(0, 100)} has brackets: write messages.0 or messages.*`);
    if (forbidden.has(step)) throw new TypeError(`${step} is not allowed in a path`);
  }
  return steps;
}

export type Holder = Record<string, unknown>;
export const isContainer = (value: unknown): value is Holder => typeof value === 'object' && value !== null;
const isIndex = (step: string): boolean => Number.isInteger(Number(step)) && Number(step) >= 0 && String(Number(step)) === step;

/** Own members alone; of a list its elements alone. */
export const has = (holder: Holder, step: string): boolean => Object.hasOwn(holder, step) && (!Array.isArray(holder) || isIndex(step));

export const child = (value: unknown, step: string): unknown => (isContainer(value) && has(value, step) ? value[step] : undefined);

/** Whether something may be written there: a list takes its elements, and one more behind the last; never a gap, nor what is not an element. */
export const takes = (holder: Holder, step: string): boolean => !Array.isArray(holder) || (isIndex(step) && Number(step) <= holder.length);

/** Every container that the path without its last step leads to, made on the way when `make` says so: null stands for nothing there. */
export function holders(root: unknown, steps: readonly string[], make: boolean): Holder[] {
  let level: unknown[] = [root];
  for (let at = 0; at < steps.length - 1; at++) {
    const step = steps[at]!;
    const next: unknown[] = [];
    for (const value of level) {
      if (!isContainer(value)) continue;
      if (step === '*') next.push(...Object.values(value));
      else {
        if (make && (child(value, step) ?? null) === null && takes(value, step)) value[step] = isIndex(steps[at + 1]!) ? [] : {};
        next.push(child(value, step));
      }
    }
    level = next;
  }
  return level.filter(isContainer);
}

/** Every value at the path. */
export function valuesAt(root: unknown, steps: readonly string[]): unknown[] {
  let level: unknown[] = [root];
  for (const step of steps) {
    const next: unknown[] = [];
    for (const value of level) {
      if (!isContainer(value)) continue;
      if (step === '*') next.push(...Object.values(value));
      else if (has(value, step)) next.push(value[step]);
    }
    level = next;
  }
  return level;
}
