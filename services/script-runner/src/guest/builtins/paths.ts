/** json_path and its fellows: reading and writing the body by path. */
import { child, type Holder, has, holders, readPath, takes, valuesAt } from './path.ts';

const lastOf = (steps: readonly string[]): string => steps[steps.length - 1]!;

export const pathBuiltins = {
  json_path(value: unknown, path: string, fallback?: unknown): unknown {
    const steps = readPath(path);
    const found = valuesAt(value, steps);
    if (steps.includes('*')) return found;
    return found.length === 0 ? fallback : found[0];
  },
  set_path<T>(object: T, path: string, value: unknown): T {
    const steps = readPath(path);
    for (const holder of holders(object, steps, true)) write(holder, lastOf(steps), value);
    return object;
  },
  remove_path<T>(object: T, path: string): T {
    const steps = readPath(path);
    const step = lastOf(steps);
    for (const holder of holders(object, steps, false)) {
      if (Array.isArray(holder)) {
        if (step === '*') holder.length = 0;
        else if (has(holder, step)) holder.splice(Number(step), 1);
      } else for (const key of step === '*' ? Object.keys(holder) : [step]) delete holder[key];
    }
    return object;
  },
  add_if_absent_path<T>(object: T, path: string, value: unknown): T {
    const steps = readPath(path);
    const step = lastOf(steps);
    for (const holder of holders(object, steps, true)) if (step !== '*' && !has(holder, step)) write(holder, step, value);
    return object;
  },
  append_path<T>(object: T, path: string, value: unknown): T {
    const steps = readPath(path);
    const step = lastOf(steps);
    for (const holder of holders(object, steps, true))
      for (const key of step === '*' ? Object.keys(holder) : [step]) {
        const list = child(holder, key);
        if (Array.isArray(list)) list.push(value);
        else if ((list ?? null) === null) write(holder, key, [value]);
      }
    return object;
  },
};

function write(holder: Holder, step: string, value: unknown): void {
  if (step === '*') for (const key of Object.keys(holder)) holder[key] = value;
  else if (takes(holder, step)) holder[step] = value;
}
