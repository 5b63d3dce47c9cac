/** An editable JSON value. The original is never changed, and every change can be read back as edits of the original text. */
import type { Edit } from './edit.ts';

type Step = string | number;
type JsonObject = Record<string, unknown>;

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** A container that is the document's own copy. */
interface Owned {
  /** What it was copied from. */
  origin: object;
  /** Objects: keys that were replaced, added or removed, and keys below which something changed. */
  written: Set<string>;
  below: Set<string>;
  /** Arrays: for each present element its index in the original, -1 when it is new; and the indexes whose element was replaced. */
  places: number[];
  replaced: Set<number>;
}

/** Removals and insertions of one array, applied together after everything else: until then indexes refer to the array as it was before. */
interface Moves {
  removed: Set<number>;
  inserted: Map<number, unknown[]>;
}

export class JsonDocument {
  readonly #origin: unknown;
  #value: unknown;
  readonly #owned = new Map<object, Owned>();

  /** `value` is never changed, and neither is any value that an edit brings. */
  constructor(value: unknown) {
    this.#origin = value;
    this.#value = value;
  }

  /** The present value; unchanged parts are those of the original. */
  get value(): unknown {
    return this.#value;
  }

  get changed(): boolean {
    return this.#value !== this.#origin;
  }

  /** Makes all edits at once, as `applyEdits` would: every path means the value as it was before the first of them. Time is linear in edits and in the containers they touch. */
  apply(edits: readonly Edit[]): void {
    const moves = new Map<unknown[], Moves>();
    for (const edit of edits) this.#apply(edit, moves);
    for (const [array, move] of moves) this.#move(array, move);
  }

  #apply({ path, value, add, insert }: Edit, moves: Map<unknown[], Moves>): void {
    const last = path.at(-1);
    if (last === undefined || last === '__proto__' || !this.#reaches(path, value === undefined || (!add && !insert))) return;
    const holder = this.#own(path);
    if (!holder) return;
    if (Array.isArray(holder)) return this.#applyToArray(holder, { index: Number(last), value, insert: insert === true }, moves);
    const key = String(last);
    if (insert) return;
    if (value === undefined) delete (holder as JsonObject)[key];
    else (holder as JsonObject)[key] = value;
    this.#owned.get(holder)?.written.add(key);
  }

  #applyToArray(array: unknown[], { index, value, insert }: { index: number; value: unknown; insert: boolean }, moves: Map<unknown[], Moves>): void {
    if (!insert && value !== undefined) {
      if (!(index in array)) return;
      const owned = this.#owned.get(array) as Owned;
      array[index] = value;
      owned.replaced.add(owned.places[index] ?? -1);
      return;
    }
    let move = moves.get(array);
    if (!move) {
      move = { removed: new Set(), inserted: new Map() };
      moves.set(array, move);
    }
    if (!insert) move.removed.add(index);
    else if (value !== undefined) {
      const there = move.inserted.get(index);
      if (there) there.push(value);
      else move.inserted.set(index, [value]);
    }
  }

  /** Whether the path leads to a container, and (`whole`) to something in it. */
  #reaches(path: readonly Step[], whole: boolean): boolean {
    let value = this.#value;
    const end = whole ? path.length : path.length - 1;
    for (let at = 0; at < end; at++) {
      const step = path[at] as Step;
      if (!isContainer(value) || !Object.hasOwn(value, step)) return false;
      value = (value as Record<Step, unknown>)[step];
    }
    return whole || isContainer(value);
  }

  /** The container that holds the path's last step, as our own copy; so are all above it. */
  #own(path: readonly Step[]): object | null {
    if (!isContainer(this.#value)) return null;
    let holder = this.#copy(this.#value);
    this.#value = holder;
    for (const step of path.slice(0, -1)) {
      const child = (holder as Record<Step, unknown>)[step];
      if (!isContainer(child)) return null;
      const copy = this.#copy(child);
      if (copy !== child) {
        (holder as Record<Step, unknown>)[step] = copy;
        if (!Array.isArray(holder)) this.#owned.get(holder)?.below.add(String(step));
      }
      holder = copy;
    }
    return holder;
  }

  #copy(container: object): object {
    if (this.#owned.has(container)) return container;
    const copy = Array.isArray(container) ? [...container] : { ...container };
    const places = Array.isArray(container) ? container.map((_, index) => index) : [];
    this.#owned.set(copy, { origin: container, written: new Set(), below: new Set(), places, replaced: new Set() });
    return copy;
  }

  #move(array: unknown[], { removed, inserted }: Moves): void {
    const owned = this.#owned.get(array);
    if (!owned) return;
    const values: unknown[] = [];
    const places: number[] = [];
    const put = (fresh: readonly unknown[] | undefined) => {
      for (const value of fresh ?? []) {
        values.push(value);
        places.push(-1);
      }
    };
    for (const [index, value] of array.entries()) {
      put(inserted.get(index));
      if (removed.has(index)) continue;
      values.push(value);
      places.push(owned.places[index] ?? -1);
    }
    for (const [index, fresh] of [...inserted].sort(([a], [b]) => a - b)) if (index >= array.length) put(fresh);
    array.length = 0;
    for (const value of values) array.push(value);
    owned.places = places;
  }

  /** The edits that lead from the original to the present value, for one `applyEdits`. They touch no unchanged part. */
  edits(): Edit[] {
    const edits: Edit[] = [];
    if (isContainer(this.#value)) this.#publish(this.#value, [], edits);
    return edits;
  }

  #publish(container: object, path: readonly Step[], edits: Edit[]): void {
    const owned = this.#owned.get(container);
    if (!owned) return;
    if (Array.isArray(container)) this.#tellArray(container, owned, path, edits);
    else this.#tellObject(container as JsonObject, owned, path, edits);
  }

  #tellObject(object: JsonObject, { origin, written, below }: Owned, path: readonly Step[], edits: Edit[]): void {
    for (const key of written) {
      if (Object.hasOwn(object, key)) edits.push({ path: [...path, key], value: object[key], add: true });
      else if (Object.hasOwn(origin, key)) edits.push({ path: [...path, key], value: undefined });
    }
    for (const key of below) {
      const child = object[key];
      if (!written.has(key) && isContainer(child)) this.#publish(child, [...path, key], edits);
    }
  }

  #tellArray(array: readonly unknown[], { origin, places, replaced }: Owned, path: readonly Step[], edits: Edit[]): void {
    let fresh: unknown[] = [];
    let next = 0;
    const insertAt = (place: number) => {
      for (const value of fresh) edits.push({ path: [...path, place], value, insert: true });
      fresh = [];
    };
    const removeUpTo = (end: number) => {
      for (; next < end; next++) edits.push({ path: [...path, next], value: undefined });
    };
    for (const [index, value] of array.entries()) {
      const place = places[index] ?? -1;
      if (place < 0) {
        fresh.push(value);
        continue;
      }
      insertAt(place);
      removeUpTo(place);
      next = place + 1;
      if (replaced.has(place)) edits.push({ path: [...path, place], value });
      else if (isContainer(value)) this.#publish(value, [...path, place], edits);
    }
    const { length } = origin as unknown[];
    insertAt(length);
    removeUpTo(length);
  }
}
