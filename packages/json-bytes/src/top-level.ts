/** The common edits of a body, replacing or adding top-level values, made on the bytes directly: a large body is scanned instead of decoded to text. */
import { asBuffer } from './cursor.ts';
import type { Edit } from './edit.ts';
import { scanBody } from './scan.ts';
import { type Replacement, spliceBytes } from './splice.ts';
import { braceClose, braceOpen, colon, isBlank } from './syntax.ts';

const nonAscii = /[^\x00-\x7f]/;
const limits = { maxDepth: 256, maxNodes: Number.POSITIVE_INFINITY };

/** A member of the top-level object, with its surroundings. */
export interface PlacedMember {
  start: number;
  end: number;
  /** First byte of the key, and of the member behind this one; -1: it is the last. */
  keyStart: number;
  next: number;
  /** How many members come before it, and the comma before it; -1: it is the first. */
  at: number;
  comma: number;
}

/** The result of an earlier scan of the same bytes. */
export interface KnownPlaces {
  /** The top-level keys it looked for. */
  keys: readonly string[];
  /** Begin and end of the values that exist. */
  values: Readonly<Record<string, Pick<PlacedMember, 'start' | 'end'> | PlacedMember | undefined>>;
  /** Offset of the closing brace. */
  end: number;
  /** Number of members; a scan that reports it has filled all of `PlacedMember`. */
  count?: number;
}

/**
 * null when the edits or the body are of another kind: deeper paths, removals among positions that were not recorded, a repeated key, text that is
 * not a JSON object.
 */
export function spliceTopLevel(source: Uint8Array, edits: readonly Edit[], known?: KnownPlaces): Uint8Array | null {
  if (!edits.every(({ path, insert }) => path.length === 1 && typeof path[0] === 'string' && !insert)) return null;
  const keys = edits.map(({ path }) => path[0] as string);
  if (keys.length > 1 && new Set(keys).size !== keys.length) return null;
  const isKnown = known !== undefined && keys.every((key) => known.keys.includes(key));
  const removes = edits.some(({ value }) => value === undefined);
  if (removes && (!isKnown || known.count === undefined)) return null;
  const scan: Omit<KnownPlaces, 'keys'> | null = isKnown ? known : scanForKeys(source, keys);
  if (!scan) return null;
  const replacements: Replacement[] = [];
  const gone: PlacedMember[] = [];
  const added: string[] = [];
  for (const { path, value, add } of edits) {
    const key = path[0] as string;
    const found = Object.hasOwn(scan.values, key) ? scan.values[key] : undefined;
    if (value === undefined) {
      if (found) gone.push(found as PlacedMember);
    } else if (found) replacements.push({ start: found.start, end: found.end, text: JSON.stringify(value) });
    else if (add) added.push(`${JSON.stringify(key)}:${JSON.stringify(value)}`);
  }
  if (gone.length > 0) replacements.push(...cutsOf(gone));
  if (added.length > 0) {
    const lastEnd = endOfMembers(source, scan.end);
    const staying = scan.count === undefined ? source[lastEnd - 1] !== braceOpen : scan.count > gone.length;
    replacements.push({ start: lastEnd, end: lastEnd, text: (staying ? ',' : '') + added.join(',') });
  }
  return replacements.length === 0 ? source : spliceBytes(source, replacements);
}

const unicodeEscape = '\\u';

/**
 * Replaces or adds top-level members of an object whose parsed value is at hand, without reading its bytes one by one: a key that occurs once in the bytes,
 * and can be spelled in one way only, is the top-level one; of a key that is repeated the first member can be known. null when that is not certain, or the
 * edits are of another kind: what is replaced must be a text, true, false or null.
 */
export function spliceParsed(source: Uint8Array, parsed: unknown, edits: readonly Edit[]): Uint8Array | null {
  if (typeof parsed !== 'object' || parsed === null) return null;
  const bytes = asBuffer(source);
  if (bytes.indexOf(unicodeEscape, 0, 'latin1') >= 0) return null;
  const replacements: Replacement[] = [];
  let added = '';
  for (const { path, value, insert, add } of edits) {
    const [key] = path;
    if (path.length !== 1 || typeof key !== 'string' || insert || value === undefined || !plainKey.test(key)) return null;
    const text = JSON.stringify(value);
    if (Object.hasOwn(parsed, key)) {
      const place = findSole(bytes, JSON.stringify(key), (parsed as Record<string, unknown>)[key]);
      if (place === null || replacements.some(({ start }) => start === place.start)) return null;
      replacements.push({ ...place, text });
    } else if (add && !added.includes(`,"${key}":`)) added += `,"${key}":${text}`;
    else return null;
  }
  if (added !== '') {
    const end = endOfMembers(bytes, bytes.lastIndexOf(braceClose));
    // Without any member there is nothing that the comma could follow.
    if (bytes[end - 1] === braceOpen) return null;
    replacements.push({ start: end, end, text: added });
  }
  return spliceBytes(bytes, replacements);
}

const plainKey = /^\w{1,64}$/;
/** A text that is spelled in one way only. */
const plainText = /^[\w-]{1,128}$/;

/** Where the value of the key lies; null when that is not certain, or it is spelled differently. */
function findSole(bytes: Buffer, key: string, parsed: unknown): Pick<PlacedMember, 'start' | 'end'> | null {
  if (typeof parsed !== 'string' && typeof parsed !== 'boolean' && parsed !== null) return null;
  const at = bytes.indexOf(key, 0, 'latin1');
  if (at < 0) return null;
  const value = JSON.stringify(parsed);
  if (bytes.indexOf(key, at + key.length, 'latin1') >= 0) return typeof parsed === 'string' && plainText.test(parsed) ? findFirst(bytes, key, value) : null;
  const colonAt = skipBlanks(bytes, at + key.length);
  if (bytes[colonAt] !== colon) return null;
  const start = skipBlanks(bytes, colonAt + 1);
  const end = start + Buffer.byteLength(value);
  return bytes.toString('utf8', start, end) === value ? { start, end } : null;
}

/** The value of the first member, where `value` occurs nowhere else: had the key a second value, that one would be the parsed one. */
function findFirst(bytes: Buffer, key: string, value: string): Pick<PlacedMember, 'start' | 'end'> | null {
  const opening = skipBlanks(bytes, 0);
  const keyStart = skipBlanks(bytes, opening + 1);
  const colonAt = skipBlanks(bytes, keyStart + key.length);
  const start = skipBlanks(bytes, colonAt + 1);
  const end = start + value.length;
  if (bytes[opening] !== braceOpen || bytes[colonAt] !== colon || bytes.toString('latin1', keyStart, keyStart + key.length) !== key) return null;
  return bytes.toString('latin1', start, end) === value && bytes.indexOf(value, end, 'latin1') < 0 ? { start, end } : null;
}

function skipBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (isBlank(bytes[at]!)) at++;
  return at;
}

/** What goes takes one comma with it: the one before, or, where nothing before stays, the one behind. */
function cutsOf(gone: PlacedMember[]): Replacement[] {
  gone.sort((a, b) => a.at - b.at);
  let leading = 0;
  while (gone[leading]?.at === leading) leading++;
  const cuts = gone.slice(leading).map(({ comma, end }) => ({ start: comma, end, text: '' }));
  const [first, last] = [gone[0], gone[leading - 1]];
  if (first && last) cuts.unshift({ start: first.keyStart, end: last.next < 0 ? last.end : last.next, text: '' });
  return cuts;
}

function scanForKeys(source: Uint8Array, keys: readonly string[]): Omit<KnownPlaces, 'keys'> | null {
  // The scan only knows ASCII keys: another would seem to be missing.
  if (keys.some((key) => nonAscii.test(key))) return null;
  const scan = scanBody(source, { keys, ...limits });
  return scan.ok ? scan : null;
}

/** After the last member, before the blanks that precede the closing brace. */
function endOfMembers(source: Uint8Array, closing: number): number {
  let at = closing;
  while (isBlank(source[at - 1]!)) at--;
  return at;
}
