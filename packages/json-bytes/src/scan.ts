/** One pass over the bytes of a request body: is it a JSON object within bounds, and where are the few top-level values we need. */
import { asBuffer, isStringContentValid, skipBlanks, skipLiteral, skipNumber, skipString } from './cursor.ts';
import { FoldedKeys } from './folded-keys.ts';
import { keyMatcher } from './scan-keys.ts';
import { braceClose, braceOpen, bracketClose, bracketOpen, colon, comma, quote } from './syntax.ts';

export type ValueKind = 'string' | 'number' | 'true' | 'false' | 'null' | 'object' | 'array';

/** A value's place in the bytes: `end` is the offset after its last byte; strings include their quotes. */
export interface ScannedValue {
  start: number;
  end: number;
  kind: ValueKind;
}

/** Bounds of a scan, and what it looks for. */
export interface ScanOptions<Key extends string> {
  /** Containers inside one another, the top object included. Default 64. */
  maxDepth?: number;
  /** Values of any kind, nested ones included. Default 200,000. */
  maxNodes?: number;
  /** ASCII names of the top-level keys to find. */
  keys: readonly Key[];
  /** ASCII words: which of them occur in the body as a whole string, be it a key or a value, at any depth. Default none. */
  words?: readonly string[];
  /** Bytes: notes where string values of this length and more are, at any depth. Default none. */
  longStrings?: number;
  /**
   * Refuses top-level keys that a parser could confuse: any key given twice, keys that differ in case only, and one that differs from a wanted key in
   * case only. For bodies of callers, which are forwarded to servers that fold case.
   */
  distinctKeys?: boolean;
}

/** Why a body was refused: the error code and message for the caller. */
export interface ScanFault {
  ok: false;
  code: 'invalid_json' | 'too_deep' | 'too_wide' | 'duplicate_key';
  /** Safe to show to the caller. */
  message: string;
  /** The repeated key. */
  param?: string;
}

/** What a scan found: byte offsets of the wanted values. */
export interface ScanSuccess<Key extends string> {
  ok: true;
  /** Of the wanted keys those that are there. Has no prototype. */
  values: Partial<Record<Key, ScannedValue>>;
  /** Of the wanted words those that are there, each once. */
  words: string[];
  /** Places of the long strings, quotes included. */
  longStrings: { start: number; end: number }[];
  /** Offset of the closing brace of the top-level object. */
  end: number;
}

export type ScanResult<Key extends string> = ScanSuccess<Key> | ScanFault;

const fault = (code: ScanFault['code'], message: string, param?: string): ScanFault => ({ ok: false, code, message, ...(param !== undefined && { param }) });
const malformed = (offset: number): ScanFault => fault('invalid_json', `The request body is not valid JSON (at byte ${offset}).`);

/** Reused by every scan: scanning is synchronous, so only one body is walked at a time. */
const shared = new Uint8Array(257);

const kindByFirstByte: (ValueKind | undefined)[] = [];
for (const digit of '-0123456789') kindByFirstByte[digit.charCodeAt(0)] = 'number';
kindByFirstByte[quote] = 'string';
kindByFirstByte[braceOpen] = 'object';
kindByFirstByte[bracketOpen] = 'array';
kindByFirstByte[0x74] = 'true';
kindByFirstByte[0x66] = 'false';
kindByFirstByte[0x6e] = 'null';

function skipScalar(bytes: Buffer, position: number, kind: ValueKind): number {
  if (kind === 'string') return skipString(bytes, position);
  return kind === 'number' ? skipNumber(bytes, position) : skipLiteral(bytes, position, kind);
}

function noteWord(word: string | null, words: string[]): void {
  if (word !== null && !words.includes(word)) words.push(word);
}

/** Why the first byte cannot begin a body, or null. */
function judgeStart(bytes: Buffer, position: number): ScanFault | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return fault('invalid_json', 'The request body must not begin with a byte order mark.');
  const first = bytes[position];
  if (first === braceOpen) return null;
  return first !== undefined && kindByFirstByte[first] !== undefined ? fault('invalid_json', 'The request body must be a JSON object.') : malformed(position);
}

/**
 * Checks the structure of a JSON object (braces, commas, colons, literals, numbers) and finds the wanted top-level values, without
 * parsing and without allocating per value. Inside strings only what is wanted is judged. A wanted key that is written twice, in
 * whatever spelling (`"mod\u0065l"`), is a fault: two readers of the body must never see two different values.
 */
export function scanBody<const Key extends string>(source: Uint8Array, options: ScanOptions<Key>): ScanResult<Key> {
  const bytes = asBuffer(source);
  const maxDepth = options.maxDepth ?? 64;
  const maxNodes = options.maxNodes ?? 200_000;
  const matchKey = keyMatcher(options.keys);
  const matchWord = options.words && keyMatcher(options.words);
  const folded = options.distinctKeys ? new FoldedKeys(options.keys) : null;
  const words: string[] = [];
  const longStrings: { start: number; end: number }[] = [];
  const minLong = options.longStrings ?? Number.POSITIVE_INFINITY;
  const values = Object.create(null) as Partial<Record<Key, ScannedValue>>;
  /** 1 where the container at that depth is an object. */
  const objectAt = maxDepth < shared.length ? shared : new Uint8Array(maxDepth + 1);
  let position = skipBlanks(bytes, 0);
  const startFault = judgeStart(bytes, position);
  if (startFault) return startFault;

  let depth = 0;
  let nodes = 0;
  /** The top-level value being read, when its key is wanted. */
  let wanted: ScannedValue | null = null;
  for (;;) {
    // A value begins at `position`.
    const kind = kindByFirstByte[bytes[position]!];
    if (kind === undefined) return malformed(position);
    nodes += 1;
    if (nodes > maxNodes) return fault('too_wide', `The request body holds more than ${maxNodes} JSON values.`);
    let opened = false;
    if (kind === 'object' || kind === 'array') {
      depth += 1;
      if (depth > maxDepth) return fault('too_deep', `The request body is nested deeper than ${maxDepth} levels.`);
      objectAt[depth] = kind === 'object' ? 1 : 0;
      if (depth === 2 && wanted) {
        wanted.start = position;
        wanted.kind = kind;
      }
      position = skipBlanks(bytes, position + 1);
      opened = true;
    } else {
      const end = skipScalar(bytes, position, kind);
      if (end < 0) return malformed(position);
      if (matchWord && kind === 'string') noteWord(matchWord(bytes, position, end), words);
      if (kind === 'string' && end - position >= minLong) longStrings.push({ start: position, end });
      if (depth === 1 && wanted) {
        if (kind === 'string' && !isStringContentValid(bytes, position, end)) return malformed(position);
        wanted.start = position;
        wanted.end = end;
        wanted.kind = kind;
        wanted = null;
      }
      position = skipBlanks(bytes, end);
    }

    // After a value, or just inside a container: close what closes, then find where the next value begins.
    for (;;) {
      const byte = bytes[position];
      const isObject = objectAt[depth] === 1;
      if (byte === (isObject ? braceClose : bracketClose)) {
        depth -= 1;
        if (depth === 0) {
          const rest = skipBlanks(bytes, position + 1);
          return rest === bytes.length ? { ok: true, values, words, longStrings, end: position } : malformed(rest);
        }
        if (depth === 1 && wanted) {
          wanted.end = position + 1;
          wanted = null;
        }
        opened = false;
        position = skipBlanks(bytes, position + 1);
        continue;
      }
      if (!opened) {
        if (byte !== comma) return malformed(position);
        position = skipBlanks(bytes, position + 1);
      }
      break;
    }
    if (objectAt[depth] === 0) continue;

    // A key.
    if (bytes[position] !== quote) return malformed(position);
    const keyEnd = skipString(bytes, position);
    if (keyEnd < 0) return malformed(position);
    if (matchWord) noteWord(matchWord(bytes, position, keyEnd), words);
    if (depth === 1) {
      const ambiguous = folded?.add(bytes, position, keyEnd);
      if (ambiguous) return fault('duplicate_key', ambiguous.message, ambiguous.param);
      const key = matchKey(bytes, position, keyEnd);
      if (key !== null) {
        if (values[key]) return fault('duplicate_key', `The key "${key}" is given twice.`, key);
        wanted = { start: 0, end: 0, kind: 'null' };
        values[key] = wanted;
      }
    }
    position = skipBlanks(bytes, keyEnd);
    if (bytes[position] !== colon) return malformed(position);
    position = skipBlanks(bytes, position + 1);
  }
}
