/** Lists and objects. */
import { currentMeter } from '../meter.ts';
import { isContainer, readPath, valuesAt } from './path.ts';

function toList(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`the first argument must be a list, not ${value === null ? 'null' : typeof value}`);
  currentMeter()?.spread(value);
  return value;
}

/** The values at the path of an element; without a path, the element. */
const reader = (path: string | undefined): ((element: unknown) => unknown[]) => {
  if (path === undefined) return (element) => [element];
  const steps = readPath(path);
  return (element) => valuesAt(element, steps);
};

/** Equal by value, whatever views they come from and in whatever order their keys stand. */
const key = (value: unknown): string => (isContainer(value) ? JSON.stringify(value, inOrder) : JSON.stringify(value)) ?? 'undefined';
const inOrder = (_key: string, value: unknown): unknown =>
  isPlain(value) ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))) : value;

/** Whether one of the values at the path is this one; `undefined` is what is not there. */
function matcher(path: string, value: unknown): (element: unknown) => boolean {
  const read = reader(path);
  if (value === undefined) return (element) => read(element).every((found) => found === undefined);
  const wanted = key(value);
  return (element) => read(element).some((found) => isContainer(found) === isContainer(value) && key(found) === wanted);
}

const typeOrder = (value: unknown): number => (value === undefined ? 3 : value === null ? 2 : typeof value === 'number' ? 0 : 1);

function compare(left: unknown, right: unknown): number {
  const order = typeOrder(left) - typeOrder(right);
  if (order !== 0) return order;
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const [first, second] = [String(left), String(right)];
  return first < second ? -1 : first > second ? 1 : 0;
}

export const listBuiltins = {
  array_sort(list: unknown[], path?: string): unknown[] {
    const read = reader(path);
    return toList(list)
      .map((element) => ({ element, by: read(element)[0] }))
      .sort((left, right) => compare(left.by, right.by))
      .map(({ element }) => element);
  },
  array_unique(list: unknown[], path?: string): unknown[] {
    const read = reader(path);
    const seen = new Set<string>();
    return toList(list).filter((element) => {
      const by = key(read(element)[0]);
      return !seen.has(by) && seen.add(by);
    });
  },
  array_filter_by: (list: unknown[], path: string, value: unknown): unknown[] => toList(list).filter(matcher(path, value)),
  array_find: (list: unknown[], path: string, value: unknown): unknown => toList(list).find(matcher(path, value)) ?? null,
  array_pluck(list: unknown[], path: string): unknown[] {
    const read = reader(path);
    return toList(list)
      .flatMap(read)
      .filter((value) => value !== undefined);
  },
  array_sum(list: unknown[], path?: string): number {
    const read = reader(path);
    let sum = 0;
    for (const element of toList(list)) for (const value of read(element)) if (typeof value === 'number') sum += value;
    return sum;
  },
};

const maxDepth = 256;
const maxNodes = 200_000;

/** Copies within bounds: a value that holds itself, or holds one part a thousand times, ends in an error. */
class Copier {
  #nodes = 0;

  copy(value: unknown, depth = 0): unknown {
    if (!isContainer(value)) return value;
    this.#count(depth);
    if (Array.isArray(value)) return toList(value).map((element) => this.copy(element, depth + 1));
    const out: Record<string, unknown> = {};
    for (const name of Object.keys(value)) put(out, name, this.copy(value[name], depth + 1));
    return out;
  }

  merge(base: unknown, patch: unknown, depth = 0): unknown {
    if (patch === undefined) return this.copy(base, depth);
    if (!isPlain(base) || !isPlain(patch)) return this.copy(patch, depth);
    this.#count(depth);
    const out: Record<string, unknown> = {};
    for (const name of Object.keys(base))
      if (!Object.hasOwn(patch, name)) put(out, name, this.copy(base[name], depth + 1));
      else put(out, name, this.merge(base[name], patch[name], depth + 1));
    for (const name of Object.keys(patch)) if (!Object.hasOwn(base, name)) put(out, name, this.copy(patch[name], depth + 1));
    return out;
  }

  #count(depth: number): void {
    if (depth > maxDepth) throw new RangeError('the value is nested too deeply, or holds itself');
    if (++this.#nodes > maxNodes) currentMeter()?.failManyElements();
  }
}

const isPlain = (value: unknown): value is Record<string, unknown> => isContainer(value) && !Array.isArray(value);

/** Not by assignment: `__proto__` is a key like any other. */
function put(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

export const objectBuiltins = {
  deep_clone: (value: unknown): unknown => new Copier().copy(value),
  deep_merge: (base: unknown, patch: unknown): unknown => new Copier().merge(base, patch),
};
