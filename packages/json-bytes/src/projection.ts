/** Reads only the requested paths of JSON bytes: a large body costs one walk over its bytes, and everything else is never parsed. */
import { LRUCache } from 'lru-cache';
import { asBuffer, countKeys, readKey, skipBlanks, skipValue, walkArray, walkObject } from './cursor.ts';
import { type Need, type Node, newNode, putNeed, type State, stateOf } from './projection-states.ts';
import { decodeJsonString } from './splice.ts';
import { backslash, braceOpen, bracketOpen, quote } from './syntax.ts';
import type { Span } from './text-cursor.ts';
import type { KnownPlaces, PlacedMember } from './top-level.ts';

export type { Depth, Need } from './projection-states.ts';

/** Placeholder for a value that exists and was not read: equal to nothing, and not a container. */
export const unread: unique symbol = Symbol('unread');

/** The result of one read. */
export interface Projected {
  /** The value, as far as it was requested. */
  value: unknown;
  /** Positions of the wanted top-level values; undefined when a key is repeated. */
  places: KnownPlaces | undefined;
}

/** A repeated key: this reader would take one of its values, and the receiver of the same bytes might take the other. */
export class RepeatedKey extends Error {
  /** The key; undefined inside a value that was read whole. */
  readonly key: string | undefined;

  constructor(key?: string) {
    super('A key is repeated where one of its values counts.');
    this.key = key;
  }
}

/** Requests ask similar questions: this many compiled sets of them are cached. */
const maxKept = 64;

export class Projection {
  readonly #root: Node;
  readonly #states = new LRUCache<string, State>({ max: maxKept });

  constructor(needs: readonly Need[]) {
    this.#root = newNode();
    for (const need of needs) putNeed(this.#root, need);
  }

  /**
   * Throws SyntaxError on bytes that are not JSON where they are read, and RepeatedKey where more is asked of a repeated key than whether it is there.
   * `more`: needs of this one body, each of a top-level key.
   */
  read(source: Uint8Array, more: readonly Need[] = []): Projected {
    return new Reading(asBuffer(source)).root(this.#stateWith(more));
  }

  #stateWith(more: readonly Need[]): State {
    const id = more.map(({ path, depth }) => `${String(depth)} ${path[0]}`).join('\n');
    const known = this.#states.get(id);
    if (known) return known;
    const extra = newNode();
    for (const need of more) putNeed(extra, need);
    const state = stateOf([this.#root, extra]);
    this.#states.set(id, state);
    return state;
  }
}

/** Strings up to this length are scanned in JavaScript instead of by a native search. */
const shortText = 64;

/** One walk. */
class Reading {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  root(state: State): Projected {
    this.#at = skipBlanks(this.#bytes, 0);
    if (this.#bytes[this.#at] !== braceOpen) return { value: this.#value(state), places: undefined };
    const found = new FoundMembers();
    const value = this.#object(state, found);
    return { value, places: found.places(state, this.#at - 1) };
  }

  #fail(): never {
    throw new SyntaxError(`The text is not valid JSON at byte ${this.#at}`);
  }

  /** Skips the value at the current position, and returns its end. */
  #skip(): number {
    const end = skipValue(this.#bytes, this.#at);
    if (end < 0) this.#fail();
    this.#at = end;
    return end;
  }

  /** Reads or skips the value at the current position. */
  #value(state: State): unknown {
    const bytes = this.#bytes;
    const start = this.#at;
    const first = bytes[start];
    if (first === braceOpen || first === bracketOpen) {
      if (!state.containers && state.enters) return first === braceOpen ? this.#object(state, null) : this.#array(state);
      const end = this.#skip();
      return state.containers ? this.#whole(start, end) : unread;
    }
    const end = this.#skip();
    if (first === quote) return end - start <= state.maxTextLength ? readText(bytes, start, end) : unread;
    if (first === 0x6e) return null;
    return state.scalars ? (JSON.parse(bytes.toString('latin1', start, end)) as unknown) : unread;
  }

  #whole(start: number, end: number): unknown {
    const value: unknown = JSON.parse(this.#bytes.toString('utf8', start, end));
    if (countKeys(this.#bytes, start, end) !== keysIn(value)) throw new RepeatedKey();
    return value;
  }

  #object(state: State, found: FoundMembers | null): Record<string, unknown> {
    const bytes = this.#bytes;
    const object: Record<string, unknown> = {};
    const end = walkObject(bytes, this.#at, (keyStart, keyEnd, start) => {
      const member = memberOf(state, bytes, keyStart, keyEnd);
      this.#at = start;
      if (member && looksInto(member.state) && Object.hasOwn(object, member.key)) throw new RepeatedKey(member.key);
      if (member) object[member.key] = this.#value(member.state);
      else this.#skip();
      found?.add(member?.key, { keyStart, start, end: this.#at }, bytes);
      return this.#at;
    });
    if (end < 0) this.#fail();
    this.#at = end;
    return object;
  }

  #array(state: State): unknown[] {
    const bytes = this.#bytes;
    const array: unknown[] = [];
    const end = walkArray(bytes, this.#at, (index, start) => {
      this.#at = start;
      const below = state.byPlace.get(index) ?? state.any;
      if (below) array.push(this.#value(below));
      else {
        this.#skip();
        array.push(bytes[start] === 0x6e ? null : unread);
      }
      return this.#at;
    });
    if (end < 0) this.#fail();
    this.#at = end;
    return array;
  }
}

/** Whether the value itself is wanted, and not only its existence. */
const looksInto = ({ enters, scalars, maxTextLength, containers }: State): boolean => enters || scalars || containers || maxTextLength >= 0;

/** The members of all objects in a parsed value. */
function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const element of value) count += keysIn(element);
  else for (const key of Object.keys(value)) count += 1 + keysIn((value as Record<string, unknown>)[key]);
  return count;
}

/** Keys that lead to prototypes: `*` skips them. */
const hidden: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

/** The wanted member whose key is at this position, however it is spelled; undefined: not wanted. */
function memberOf({ named, any, maxKeyLength }: State, bytes: Buffer, start: number, end: number): { key: string; state: State } | undefined {
  const length = end - start - 2;
  if (any === null && length > maxKeyLength) return undefined;
  for (const one of named) if (one.bytes.length === length && isSame(bytes, start + 1, one.bytes)) return one;
  if (any === null && !hasEscape(bytes, start + 1, end - 1)) return undefined;
  const key = readKey(bytes, start, end);
  if (key === null) return undefined;
  const exact = named.find((one) => one.key === key);
  return exact ?? (any !== null && !hidden.has(key) ? { key, state: any } : undefined);
}

function isSame(bytes: Buffer, start: number, wanted: Buffer): boolean {
  for (let at = 0; at < wanted.length; at++) if (bytes[start + at] !== wanted[at]) return false;
  return true;
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === backslash) return true;
  return false;
}

function readText(bytes: Buffer, start: number, end: number): string {
  if (end - start > shortText) return decodeJsonString(bytes, start, end);
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at]!;
    if (byte === backslash || byte > 0x7e || byte < 0x20) return decodeJsonString(bytes, start, end);
  }
  return bytes.toString('latin1', start + 1, end - 1);
}

/** Positions of the members of the top-level object. */
class FoundMembers {
  readonly #values: Record<string, PlacedMember> = Object.create(null) as Record<string, PlacedMember>;
  #count = 0;
  /** The member before, which learns from the next one where that begins. */
  #last: PlacedMember | null = null;
  #lastEnd = -1;
  #repeats = false;

  add(key: string | undefined, { keyStart, start, end }: Span, bytes: Buffer): void {
    if (this.#last) this.#last.next = keyStart;
    this.#last = null;
    if (key !== undefined) {
      this.#repeats ||= key in this.#values;
      this.#last = { start, end, keyStart, next: -1, at: this.#count, comma: this.#lastEnd < 0 ? -1 : skipBlanks(bytes, this.#lastEnd) };
      this.#values[key] = this.#last;
    }
    this.#count++;
    this.#lastEnd = end;
  }

  places({ named }: State, end: number): KnownPlaces | undefined {
    return this.#repeats ? undefined : { keys: named.map(({ key }) => key), values: this.#values, end, count: this.#count };
  }
}
