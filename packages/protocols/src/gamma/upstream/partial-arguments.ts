/** Assembles the arguments that Vertex AI streams as (path, value) pieces (`partialArgs`, `willContinue` of a function call). */
import { asArray, asBoolean, asNumber, asString, own } from '../../kit/read.ts';

type Container = Map<string, unknown> | unknown[];
type Key = string | number;

/** Deeper than any real argument, shallow enough for recursion. */
const deepest = 64;

/** `$.a.b[0]['c d']` as keys; null when it is none. */
function readPath(path: string): Key[] | null {
  const keys: Key[] = [];
  const step = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
  step.lastIndex = path.startsWith('$') ? 1 : 0;
  while (step.lastIndex < path.length) {
    const found = step.exec(path);
    if (!found) return null;
    const [, name, index, single, double] = found;
    keys.push(index !== undefined ? Number(index) : (name ?? (single ?? double ?? '').replace(/\\(.)/g, '$1')));
  }
  return keys.length === 0 || keys.length > deepest ? null : keys;
}

export class PartialArguments {
  /** Maps, so that a key named `__proto__` is a key like any other. */
  readonly #root: Container = new Map();

  /** One `partialArgs` list. Strings of one path are pieces and are appended; a path that cannot be read is left out. */
  take(list: unknown): void {
    for (const item of asArray(list) ?? []) {
      const keys = readPath(asString(own(item, 'jsonPath')) ?? '');
      if (keys) this.#set(keys, pieceValue(item));
    }
  }

  #set(keys: readonly Key[], value: unknown): void {
    let container = this.#root;
    keys.slice(0, -1).forEach((key, depth) => {
      const child = get(container, key);
      if (child instanceof Map || Array.isArray(child)) container = child;
      else {
        const made: Container = typeof keys[depth + 1] === 'number' ? [] : new Map();
        put(container, key, made);
        container = made;
      }
    });
    const last = keys.at(-1)!;
    const before = get(container, last);
    put(container, last, typeof before === 'string' && typeof value === 'string' ? before + value : value);
  }

  /** The arguments as JSON text. `cut`: the stream ended inside the call, and the text stays open so that nobody runs it. */
  print(cut: boolean): string {
    const text = JSON.stringify(plain(this.#root));
    return cut ? text.slice(0, -1) : text;
  }
}

function pieceValue(item: unknown): unknown {
  return asString(own(item, 'stringValue')) ?? asNumber(own(item, 'numberValue')) ?? asBoolean(own(item, 'boolValue')) ?? null;
}

const get = (container: Container, key: Key): unknown => (Array.isArray(container) ? container[Number(key)] : container.get(String(key)));

/** An index past the end appends: a made-up one must not grow an array of holes. */
function put(container: Container, key: Key, value: unknown): void {
  if (!Array.isArray(container)) container.set(String(key), value);
  else if (Number(key) < container.length) container[Number(key)] = value;
  else container.push(value);
}

const plain = (value: unknown): unknown =>
  value instanceof Map
    ? Object.fromEntries([...(value as Map<string, unknown>)].map(([key, child]) => [key, plain(child)]))
    : Array.isArray(value)
      ? value.map(plain)
      : value;
