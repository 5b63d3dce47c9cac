/** json_path and its fellows: reading and writing the body by path. */
import { child, holders, readPath, valuesAt } from './path.ts';

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
    for (const holder of holders(object, steps, true)) write(holder, lastOf(steps), () => value);
    return object;
  },

  remove_path<T>(object: T, path: string): T {
    const steps = readPath(path);
    const step = lastOf(steps);
    for (const holder of holders(object, steps, false)) {
      if (Array.isArray(holder)) {
        if (step === '*') holder.length = 0;
        else if (Object.hasOwn(holder, step)) holder.splice(Number(step), 1);
      } else for (const key of step === '*' ? Object.keys(holder) : [step]) delete holder[key];
    }
    return object;
  },

  add_if_absent_path<T>(object: T, path: string, value: unknown): T {
    const steps = readPath(path);
    for (const holder of holders(object, steps, true)) if (!Object.hasOwn(holder, lastOf(steps))) write(holder, lastOf(steps), () => value);
    return object;
  },

  append_path<T>(object: T, path: string, value: unknown): T {
    const steps = readPath(path);
    for (const holder of holders(object, steps, true))
      write(holder, lastOf(steps), (list) => (Array.isArray(list) ? [...list, value] : list === undefined ? [value] : list));
    return object;
  },
};

function write(holder: Record<string, unknown>, step: string, make: (old: unknown) => unknown): void {
  if (step !== '*') holder[step] = make(child(holder, step));
  else for (const key of Object.keys(holder)) holder[key] = make(holder[key]);
}
