/**
 * Recognises records of a stream by their bytes: once one record is parsed, later ones that differ from it in a few values only are matched without
 * parsing.
 */

import { applyEdits } from './apply-edits.ts';
import type { Edit } from './edit.ts';
import { matchesAt } from './matches-at.ts';
import { RecordEditor } from './record-editor.ts';
import { backslash, quote } from './syntax.ts';

export type Path = Edit['path'];

/** A parsed record. */
export interface KnownRecord {
  /** Its bytes as received, and the offset of its JSON in them. */
  raw: Uint8Array;
  start: number;
  end: number;
  /** The JSON text, and its parsed value. */
  data: string;
  json: unknown;
}

/** The values in which records may differ. */
type Gap = 'words' | 'string' | 'number';

interface Shape {
  /** The constant bytes before, between and after the gaps, one character per byte. */
  pieces: readonly string[];
  gaps: readonly Gap[];
  /** The order in which the gaps were asked for. */
  order: string;
}

/** Marks a gap while the pieces are computed; a record that contains it is not learned. */
const mark = '\ue000';
const marked = new RegExp(`"${mark}(\\d)${mark}"`);
const maxGaps = 10;

const toByteText = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
const spell = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Ends of escapes that are one character: `"\/bfnrt`. */
const shortEscapes = new Set([...'"\\/bfnrt'].map((character) => character.charCodeAt(0)));
const unicodeEscape = 0x75;

function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66);
}

/** Bytes of UTF-8 for a UTF-16 unit; a surrogate is half of a character of four. */
function bytesOfUnit(unit: number): number {
  if (unit < 0x80) return 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}

/** All positions and texts are of bytes, one character each. */
export class DeltaTemplate {
  readonly #incoming: Shape;
  /** Replaces the pieces in the output for the caller; null: the bytes stay as they are. */
  readonly #outgoing: readonly string[] | null;
  /** Start and end of each gap in the record that matched last. */
  readonly #places: Int32Array;
  readonly #wordsAt: number;
  /** End offset of the record that matched last. */
  end = 0;
  /** Length of its text in bytes of UTF-8, escapes decoded. */
  bytes = 0;
  /** Its text is printable ASCII without escapes. */
  plain = true;

  private constructor(incoming: Shape, outgoing: readonly string[] | null) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#places = new Int32Array(incoming.gaps.length * 2);
    this.#wordsAt = incoming.gaps.indexOf('words') * 2;
  }

  /**
   * Builds a template of the records that equal `record` except for the string at `words` and the strings and numbers at `idle`, where it has them.
   * `edits` are applied to each of them. null: matching bytes would not identify such records reliably.
   */
  static learn(record: KnownRecord, words: Path, idle: readonly Path[], edits: readonly Edit[]): DeltaTemplate | null {
    if (typeof valueAt(record.json, words) !== 'string' || record.data.includes(mark)) return null;
    const gaps: Gap[] = ['words'];
    const marking: Edit[] = [{ path: words, value: `${mark}0${mark}` }];
    for (const path of idle) {
      const kind = typeof valueAt(record.json, path);
      if (kind !== 'string' && kind !== 'number') continue;
      marking.push({ path, value: `${mark}${gaps.length}${mark}` });
      gaps.push(kind);
    }
    if (gaps.length > maxGaps) return null;
    const text = applyEdits(record.data, marking);
    const incoming = cutShape(record, text, gaps);
    const raw = toByteText(record.raw);
    if (incoming === null || raw.charCodeAt(raw.length - 1) !== 0x0a) return null;
    const outgoing = edits.length === 0 ? null : cutShape(record, new RecordEditor().apply(text, record.json, edits), gaps);
    if (edits.length > 0 && outgoing?.order !== incoming.order) return null;
    const records = new DeltaTemplate(incoming, outgoing?.pieces ?? null);
    return records.fits(raw, 0) && records.end === raw.length ? records : null;
  }

  /** The output differs from the received bytes. */
  get edited(): boolean {
    return this.#outgoing !== null;
  }

  /** Whether a whole record of this template begins at `from`; if so, `end`, `bytes`, `words` and `print` describe it. */
  fits(text: string, from: number): boolean {
    const { pieces, gaps } = this.#incoming;
    const first = pieces[0]!;
    if (!matchesAt(first, text, from)) return false;
    let at = from + first.length;
    for (let gap = 0; gap < gaps.length; gap += 1) {
      const kind = gaps[gap]!;
      const end = kind === 'words' ? this.#skipWords(text, at) : kind === 'string' ? skipPlain(text, at) : skipDigits(text, at);
      const piece = pieces[gap + 1]!;
      if (end < 0 || !matchesAt(piece, text, end)) return false;
      this.#places[gap * 2] = at;
      this.#places[gap * 2 + 1] = end;
      at = end + piece.length;
    }
    this.end = at;
    return true;
  }

  /** Its text. */
  words(text: string): string {
    const spelled = text.slice(this.#places[this.#wordsAt], this.#places[this.#wordsAt + 1]);
    return this.plain ? spelled : (JSON.parse(`"${Buffer.from(spelled, 'latin1').toString('utf8')}"`) as string);
  }

  /** The output for the caller. */
  print(text: string, from: number): string {
    const outgoing = this.#outgoing;
    if (outgoing === null) return text.slice(from, this.end);
    let out = outgoing[0]!;
    for (let gap = 1; gap < outgoing.length; gap += 1) out += text.slice(this.#places[gap * 2 - 2], this.#places[gap * 2 - 1]) + outgoing[gap]!;
    return out;
  }

  /** Offset of the quote that ends the text at `start`; -1 for none, for an empty text, and for what no JSON parser accepts. */
  #skipWords(text: string, start: number): number {
    let at = start;
    let bytes = 0;
    let plain = true;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === quote) {
        this.bytes = bytes;
        this.plain = plain;
        return at === start ? -1 : at;
      }
      if (code < 0x20) return -1;
      if (code === backslash) {
        plain = false;
        at += 1;
        const letter = text.charCodeAt(at);
        if (letter === unicodeEscape) {
          for (let digit = 1; digit <= 4; digit += 1) if (!isHex(text.charCodeAt(at + digit))) return -1;
          bytes += bytesOfUnit(Number.parseInt(text.slice(at + 1, at + 5), 16));
          at += 4;
        } else if (shortEscapes.has(letter)) bytes += 1;
        else return -1;
      } else {
        bytes += 1;
        if (code >= 0x80) plain = false;
      }
    }
    return -1;
  }
}

/** The constant pieces around the gaps of a marked text, including the record's own bytes around its JSON. null when a gap is missing or occurs twice. */
function cutShape({ raw, start, end }: KnownRecord, text: string, known: readonly Gap[]): Shape | null {
  const parts = text.split(marked);
  if (parts.length !== known.length * 2 + 1) return null;
  const numbers = known.map((_, at) => Number(parts[at * 2 + 1]));
  if (new Set(numbers).size !== known.length) return null;
  const gaps = numbers.map((number) => known[number]!);
  const pieces = parts.filter((_, at) => at % 2 === 0).map(spell);
  gaps.forEach((kind, at) => {
    if (kind === 'number') return;
    pieces[at] += '"';
    pieces[at + 1] = `"${pieces[at + 1]}`;
  });
  pieces[0] = toByteText(raw.subarray(0, start)) + pieces[0];
  pieces[pieces.length - 1] += toByteText(raw.subarray(end));
  return { pieces, gaps, order: numbers.join() };
}

function valueAt(json: unknown, path: Path): unknown {
  let value = json;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** Offset of the quote that ends printable ASCII without escapes; -1 for anything else. */
function skipPlain(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code < 0x20 || code === backslash || code >= 0x7f) return -1;
  }
  return -1;
}

/** Offset after a whole number, in the form in which counters are printed. */
function skipDigits(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39) at += 1;
  const length = at - start;
  return length === 0 || length > 15 || (length > 1 && text.charCodeAt(start) === 0x30) ? -1 : at;
}
