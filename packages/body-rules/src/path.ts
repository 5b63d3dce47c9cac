/** Paths of rules: `a.b`, `messages.0.content`, `messages.*.content`. Parsed once, then followed through untrusted bodies. */
import { RuleError } from './rule-error.ts';

/** Keys and places of elements, `*` for every member. */
export type Path = readonly string[];

/** A path without wildcards, as `packages/json-bytes` takes it: a number names an array's element. */
export type Place = readonly (string | number)[];

const forbidden: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);
const maxSegments = 64;
const wholeNumber = /^(?:0|[1-9]\d{0,9})$/;

/** Throws RuleError for `field`. */
export function readPath(text: string, field: string): Path {
  if (text === '') throw new RuleError(field, 'must not be empty');
  if (/[[\]]/.test(text)) throw new RuleError(field, 'brackets are not part of a path: write messages.*.content for every element, messages.0.content for one');
  const path = text.split('.');
  if (path.length > maxSegments) throw new RuleError(field, `has more than ${maxSegments} segments`);
  for (const segment of path) {
    if (segment === '') throw new RuleError(field, 'has an empty segment: dots stand between names, not at an end and not twice');
    if (segment === '$') throw new RuleError(field, 'a path begins in the body itself: leave $. out');
    if (forbidden.has(segment)) throw new RuleError(field, `${segment} is not allowed in a path`);
    if (segment !== '*' && segment.includes('*')) throw new RuleError(field, '* stands alone between dots: it means every member');
  }
  return path;
}

/** As `readPath`; '' or nothing is the value itself. */
export const readInnerPath = (text: string | null | undefined, field: string): Path => (text ? readPath(text, field) : []);

/** Of a path that was read before. */
export const pathOf = (text: string | null | undefined): Path => (text ? text.split('.') : []);

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The member's own step and value, or undefined: an array has no member of a name, and nothing has one that it inherits. */
function member(holder: unknown, segment: string): { step: string | number; value: unknown } | undefined {
  if (!isContainer(holder)) return undefined;
  if (!Array.isArray(holder)) return Object.hasOwn(holder, segment) ? { step: segment, value: (holder as Record<string, unknown>)[segment] } : undefined;
  if (!wholeNumber.test(segment) || Number(segment) >= holder.length) return undefined;
  return { step: Number(segment), value: holder[Number(segment)] as unknown };
}

/** One match of a path: its concrete position in the body, and the value there. */
export interface Found {
  place: Place;
  value: unknown;
}

/** All values at the path, in the order of the body. Each value of the body is visited at most once. */
export function findAll(body: unknown, path: Path): Found[] {
  let found: Found[] = [{ place: [], value: body }];
  for (const segment of path) {
    const next: Found[] = [];
    for (const { place, value } of found) {
      if (segment === '*') addMembers(value, place, next);
      else {
        const child = member(value, segment);
        if (child) next.push({ place: [...place, child.step], value: child.value });
      }
    }
    found = next;
  }
  return found;
}

function addMembers(holder: unknown, place: Place, into: Found[]): void {
  if (Array.isArray(holder)) for (const [index, value] of holder.entries()) into.push({ place: [...place, index], value });
  else if (isContainer(holder)) for (const [key, value] of Object.entries(holder)) if (!forbidden.has(key)) into.push({ place: [...place, key], value });
}

/**
 * Where to write a value that may not exist yet: the existing objects along the path's stem, with the keys missing below them, the last of which is
 * the path's own. Array elements are never created, and nothing is created below a `*` or inside a value of another type.
 */
export function findWritable(body: unknown, path: Path): { place: Place; missing: readonly string[]; value: unknown }[] {
  const writable: { place: Place; missing: readonly string[]; value: unknown }[] = [];
  let open: Found[] = [{ place: [], value: body }];
  for (const [at, segment] of path.entries()) {
    const next: Found[] = [];
    for (const { place, value } of open) {
      if (segment === '*') {
        addMembers(value, place, next);
        continue;
      }
      const child = member(value, segment);
      // null counts as missing, except when it is the value itself.
      if (child && (child.value !== null || at === path.length - 1)) next.push({ place: [...place, child.step], value: child.value });
      else if (isContainer(value) && !Array.isArray(value) && canMake(path, at)) writable.push({ place, missing: path.slice(at), value: undefined });
    }
    open = next;
  }
  return [...open.map(({ place, value }) => ({ place, missing: [], value })), ...writable];
}

/** Whether what is missing from here on are keys: a number in an object that is there is one, below a missing one it may mean an element. */
const canMake = (path: Path, from: number): boolean => path.slice(from).every((segment, at) => segment !== '*' && (at === 0 || !wholeNumber.test(segment)));
