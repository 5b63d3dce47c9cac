/**
 * Regular expressions in linear time: the engine's own backtracks, so literals and `RegExp` of scripts are these, built on RE2's rules.
 * What RE2 cannot do (look-around, back-references) is refused when the expression is made.
 */
import { type Matcher, RE2JS } from 're2js';
import { currentMeter } from './meter.ts';

const maxCached = 256;
const cacheMs = 5 * 60 * 1000;
const maxPatternLength = 10_000;

interface Cached {
  program: RE2JS;
  at: number;
}

/** Compiled programs outlive a run: they hold nothing of it but their pattern. A plain Map, since the sandbox has none of the globals of `lru-cache`. */
const cache = new Map<string, Cached>();

/** Throws SyntaxError. */
export function compilePattern(pattern: string, flags = ''): RE2JS {
  const key = `${flags}/${pattern}`;
  const now = Date.now();
  const known = cache.get(key);
  if (known && now - known.at < cacheMs) return known.program;
  const program = compile(pattern, flags);
  cache.delete(key);
  if (cache.size >= maxCached) for (const oldest of cache.keys()) if (cache.delete(oldest)) break;
  cache.set(key, { program, at: now });
  return program;
}

function compile(pattern: string, flags: string): RE2JS {
  if (pattern.length > maxPatternLength) throw new SyntaxError(`Invalid regular expression: longer than ${maxPatternLength} characters`);
  let re2Flags = 0;
  if (flags.includes('i')) re2Flags |= RE2JS.CASE_INSENSITIVE;
  if (flags.includes('m')) re2Flags |= RE2JS.MULTILINE;
  if (flags.includes('s')) re2Flags |= RE2JS.DOTALL;
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern), re2Flags);
  } catch (error) {
    throw new SyntaxError(`Invalid regular expression: /${pattern.slice(0, 100)}/: ${error instanceof Error ? error.message : 'not supported'}`);
  }
}

/** Of all flags of the language those that mean something here; `u`, `v` and `d` change nothing that RE2 would do otherwise. */
const knownFlags = 'dgimsuvy';

type Match = RegExpMatchArray & { index: number; input: string };

export class LinearRegExp {
  readonly source: string;
  readonly flags: string;
  lastIndex = 0;
  readonly #program: RE2JS;

  constructor(pattern: unknown = '', flags?: unknown) {
    const from = pattern instanceof LinearRegExp ? pattern : null;
    this.source = from ? from.source : String(pattern);
    this.flags = flags === undefined ? (from?.flags ?? '') : String(flags);
    for (let at = 0; at < this.flags.length; at++)
      if (!knownFlags.includes(this.flags[at]!) || this.flags.indexOf(this.flags[at]!) !== at)
        throw new SyntaxError(`Invalid flags supplied to RegExp constructor '${this.flags.slice(0, 20)}'`);
    this.#program = compilePattern(this.source, this.flags);
  }

  get global(): boolean {
    return this.flags.includes('g');
  }
  get ignoreCase(): boolean {
    return this.flags.includes('i');
  }
  get multiline(): boolean {
    return this.flags.includes('m');
  }
  get dotAll(): boolean {
    return this.flags.includes('s');
  }
  get sticky(): boolean {
    return this.flags.includes('y');
  }
  get unicode(): boolean {
    return this.flags.includes('u');
  }

  toString(): string {
    return `/${this.source}/${this.flags}`;
  }

  test(text: unknown): boolean {
    return this.exec(text) !== null;
  }

  exec(text: unknown): Match | null {
    const input = String(text);
    const remembers = this.global || this.sticky;
    const from = remembers ? this.lastIndex : 0;
    const matcher = from > input.length ? null : this.#program.matcher(input);
    if (!matcher?.find(from) || (this.sticky && matcher.start() !== from)) {
      if (remembers) this.lastIndex = 0;
      return null;
    }
    if (remembers) this.lastIndex = matcher.end();
    return toMatch(matcher, input);
  }

  *[Symbol.matchAll](text: unknown): Generator<Match> {
    const input = String(text);
    const matcher = this.#program.matcher(input);
    while (matcher.find()) yield toMatch(matcher, input);
  }

  [Symbol.match](text: unknown): Match | string[] | null {
    if (!this.global) return this.exec(text);
    const found: string[] = [];
    for (const match of this[Symbol.matchAll](text)) push(found, match[0]!);
    return found.length === 0 ? null : found;
  }

  [Symbol.search](text: unknown): number {
    const matcher = this.#program.matcher(String(text));
    return matcher.find() ? matcher.start() : -1;
  }

  [Symbol.replace](text: unknown, replacement: unknown): string {
    const input = String(text);
    if (!this.global) {
      const match = this.exec(input);
      return match ? input.slice(0, match.index) + expand(match, replacement) + input.slice(match.index + match[0]!.length) : input;
    }
    const matcher = this.#program.matcher(input);
    let out = '';
    let from = 0;
    while (matcher.find()) {
      out += input.slice(from, matcher.start()) + expand(toMatch(matcher, input), replacement);
      currentMeter()?.text(out);
      from = matcher.end();
    }
    return out + input.slice(from);
  }

  [Symbol.split](text: unknown, limit?: unknown): (string | undefined)[] {
    const input = String(text);
    const max = limit === undefined ? 0xffffffff : Number(limit) >>> 0;
    const matcher = this.#program.matcher(input);
    const parts: (string | undefined)[] = [];
    if (max === 0 || (input === '' && matcher.find())) return parts;
    let from = 0;
    while (parts.length < max && matcher.find()) {
      // An empty match right behind the last one, or at the end, parts nothing.
      if (matcher.end() === from || matcher.start() >= input.length) continue;
      push(parts, input.slice(from, matcher.start()));
      for (let group = 1; group <= matcher.groupCount() && parts.length < max; group++) push(parts, matcher.group(group) ?? undefined);
      from = matcher.end();
    }
    if (parts.length < max) push(parts, input.slice(from));
    return parts;
  }
}

function push(list: (string | undefined)[], text: string | undefined): void {
  list.push(text);
  currentMeter()?.spread(list);
}

function toMatch(matcher: Matcher, input: string): Match {
  const match: (string | undefined)[] = [];
  for (let group = 0; group <= matcher.groupCount(); group++) match.push(matcher.group(group) ?? undefined);
  const names = Object.keys(matcher.pattern().namedGroups());
  const groups = names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, matcher.group(name) ?? undefined]));
  return Object.assign(match, { index: matcher.start(), input, groups }) as Match;
}

/** A replacement as the language means it: a function, or text with `$1`, `$&`, `$<name>`. */
function expand(match: Match, replacement: unknown): string {
  if (typeof replacement === 'function') {
    const groups = match.groups ? [match.groups] : [];
    return String(Reflect.apply(replacement, undefined, [...match, match.index, match.input, ...groups]));
  }
  return expandText(match, String(replacement));
}

export function expandText(match: Match, text: string): string {
  if (!text.includes('$')) return text;
  let out = '';
  for (let at = 0; at < text.length; at++) {
    const [value, used] = text[at] === '$' ? readReference(match, text, at + 1) : [text[at]!, 0];
    out += value;
    at += used;
  }
  return out;
}

/** What the reference after `$` at `at` stands for, and how many characters it takes. */
function readReference(match: Match, text: string, at: number): [string, number] {
  const next = text[at];
  if (next === '$') return ['$', 1];
  if (next === '&') return [match[0]!, 1];
  if (next === '`') return [match.input.slice(0, match.index), 1];
  if (next === "'") return [match.input.slice(match.index + match[0]!.length), 1];
  if (next === '<' || next === '{') {
    const end = text.indexOf(next === '<' ? '>' : '}', at);
    const name = end < 0 ? '' : text.slice(at + 1, end);
    if (match.groups && Object.hasOwn(match.groups, name)) return [match.groups[name] ?? '', end - at + 1];
    return ['$', 0];
  }
  for (const digits of [2, 1]) {
    const number = text.slice(at, at + digits);
    if (number.length === digits && isDigits(number) && Number(number) > 0 && Number(number) < match.length) return [match[Number(number)] ?? '', digits];
  }
  return ['$', 0];
}

function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text[at]! < '0' || text[at]! > '9') return false;
  return true;
}
