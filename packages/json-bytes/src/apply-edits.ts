/** Changes a few values inside JSON text in one pass; every byte that is not changed stays as it was. */

import { fromByteText, toByteText } from './byte-text.ts';
import { asBuffer } from './cursor.ts';
import type { Edit } from './edit.ts';
import { buildEditTree, type EditNode } from './edit-tree.ts';
import { braceClose, braceOpen, bracketClose, bracketOpen, colon, comma, quote } from './syntax.ts';
import { skipBlankText, skipStringText, skipValueText } from './text-cursor.ts';
import { type KnownPlaces, spliceTopLevel } from './top-level.ts';

const same = (text: string): string => text;

interface Spelling {
  encode(text: string): string;
  decode(text: string): string;
}
const textSpelling: Spelling = { encode: same, decode: same };
const byteSpelling: Spelling = { encode: toByteText, decode: fromByteText };

/** State of one walk: the output so far is in `out`, the source is copied up to `from`. */
interface Walk {
  text: string;
  spelling: Spelling;
  out: string;
  from: number;
}

/** Replaces `start`..`end`. Must be called in the order of the text. */
function cut(walk: Walk, start: number, end: number, replacement: string): void {
  walk.out += walk.text.slice(walk.from, start) + replacement;
  walk.from = end;
}

/** The tree's node for the key at `start`..`end` (quotes included). */
function findKey(walk: Walk, keys: Map<string, EditNode>, start: number, end: number): EditNode | undefined {
  const raw = walk.text.slice(start + 1, end - 1);
  const exact = keys.get(raw);
  if (exact || !raw.includes('\\')) return exact;
  try {
    return keys.get(walk.spelling.encode(JSON.parse(walk.spelling.decode(walk.text.slice(start, end))) as string));
  } catch {
    // No JSON parser reads a key with a malformed escape.
    return undefined;
  }
}

/** Bookkeeping of removals inside one container: each removed member takes exactly one comma with it. */
interface Members {
  /** How many of the members before this one are kept. */
  kept: number;
  /** Offset of the comma before the current member, -1 for the first. */
  commaAt: number;
  /** Start of a removed member with no kept member before it: the cut ends at the next member's start, which also drops the comma in between. */
  openCut: number;
  /** New elements were inserted at the front, and the comma after them is still to be written. */
  owesComma: boolean;
}

const newMembers = (): Members => ({ kept: 0, commaAt: -1, openCut: -1, owesComma: false });

function removeMember(walk: Walk, members: Members, start: number, end: number): void {
  if (members.owesComma) {
    // The comma still owed is the one that follows this member.
    cut(walk, start, end, '');
    members.owesComma = false;
  } else if (members.kept > 0) cut(walk, members.commaAt, end, '');
  else if (members.openCut < 0) members.openCut = start;
}

/** Called at the start of a kept member: ends the cut that runs up to here. */
function keepMember(walk: Walk, members: Members, start: number): void {
  if (members.openCut >= 0) {
    cut(walk, members.openCut, start, '');
    members.openCut = -1;
  }
  if (members.owesComma) {
    cut(walk, start, start, ',');
    members.owesComma = false;
  }
  members.kept += 1;
}

/** New elements before the member that begins at `start`. */
function insertBefore(walk: Walk, members: Members, start: number, printed: readonly string[]): void {
  const text = printed.join(',');
  if (members.kept > 0) cut(walk, members.commaAt, members.commaAt, `,${text}`);
  else {
    cut(walk, members.openCut >= 0 ? members.openCut : start, start, text);
    members.openCut = -1;
    members.owesComma = true;
  }
  members.kept += printed.length;
}

/** The text of new elements whose position is `count` or beyond, which come after the last element; '' without any. */
function printInsertsFrom(count: number, inserts: EditNode['inserts']): string {
  if (!inserts) return '';
  const late = [...inserts].filter(([place]) => place >= count).sort(([a], [b]) => a - b);
  return late.flatMap(([, printed]) => printed).join(',');
}

/** Inserts elements after the last member, which ends at `end`. */
function insertAtEnd(walk: Walk, members: Members, end: number, text: string): void {
  if (text !== '') cut(walk, end, end, members.kept > 0 ? `,${text}` : text);
}

function endMembers(walk: Walk, members: Members, lastEnd: number): void {
  if (members.openCut >= 0) cut(walk, members.openCut, lastEnd, '');
}

function walkValue(walk: Walk, start: number, node: EditNode): number {
  if (typeof node.replacement === 'string') {
    const end = skipValueText(walk.text, start);
    if (end >= 0) cut(walk, start, end, node.replacement);
    return end;
  }
  const unit = start < walk.text.length ? walk.text.charCodeAt(start) : 0;
  if (node.keys && unit === braceOpen) return walkObject(walk, start, node, node.keys);
  if ((node.elements || node.inserts) && unit === bracketOpen) return walkArray(walk, start, node);
  return skipValueText(walk.text, start);
}

/** Walks or removes one member whose value begins at `valueStart`; offset after it, or -1. */
function walkMember(walk: Walk, members: Members, memberStart: number, valueStart: number, child: EditNode | undefined): number {
  if (child?.replacement === null) {
    const end = skipValueText(walk.text, valueStart);
    if (end >= 0) removeMember(walk, members, memberStart, end);
    return end;
  }
  keepMember(walk, members, memberStart);
  return child ? walkValue(walk, valueStart, child) : skipValueText(walk.text, valueStart);
}

function addMissing(walk: Walk, keys: Map<string, EditNode>, found: Set<EditNode> | null, { at, kept }: { at: number; kept: number }): void {
  let inserted = '';
  for (const [spelledKey, child] of keys) {
    if (!child.add || found?.has(child)) continue;
    const key = walk.spelling.encode(JSON.stringify(walk.spelling.decode(spelledKey)));
    inserted += `${kept > 0 || inserted !== '' ? ',' : ''}${key}:${child.replacement}`;
  }
  if (inserted !== '') cut(walk, at, at, inserted);
}

function walkObject(walk: Walk, start: number, node: EditNode, keys: Map<string, EditNode>): number {
  const { text } = walk;
  const members = newMembers();
  const found = node.adds ? new Set<EditNode>() : null;
  let position = skipBlankText(text, start + 1);
  let lastEnd = start + 1;
  if (text.charCodeAt(position) === braceClose) {
    if (found) addMissing(walk, keys, found, { at: lastEnd, kept: 0 });
    return position + 1;
  }
  for (;;) {
    if (text.charCodeAt(position) !== quote) return -1;
    const keyEnd = skipStringText(text, position);
    if (keyEnd < 0) return -1;
    const child = findKey(walk, keys, position, keyEnd);
    if (child) found?.add(child);
    const colonAt = skipBlankText(text, keyEnd);
    if (text.charCodeAt(colonAt) !== colon) return -1;
    lastEnd = walkMember(walk, members, position, skipBlankText(text, colonAt + 1), child);
    if (lastEnd < 0) return -1;
    position = skipBlankText(text, lastEnd);
    const unit = text.charCodeAt(position);
    if (unit === braceClose) break;
    if (unit !== comma) return -1;
    members.commaAt = position;
    position = skipBlankText(text, position + 1);
  }
  endMembers(walk, members, lastEnd);
  if (found) addMissing(walk, keys, found, { at: lastEnd, kept: members.kept });
  return position + 1;
}

function walkArray(walk: Walk, start: number, { elements, inserts }: EditNode): number {
  const { text } = walk;
  const members = newMembers();
  let position = skipBlankText(text, start + 1);
  if (text.charCodeAt(position) === bracketClose) {
    insertAtEnd(walk, members, start + 1, printInsertsFrom(0, inserts));
    return position + 1;
  }
  for (let index = 0; ; index += 1) {
    const fresh = inserts?.get(index);
    if (fresh) insertBefore(walk, members, position, fresh);
    const end = walkMember(walk, members, position, position, elements?.get(index));
    if (end < 0) return -1;
    position = skipBlankText(text, end);
    const unit = text.charCodeAt(position);
    if (unit === bracketClose) {
      endMembers(walk, members, end);
      insertAtEnd(walk, members, end, printInsertsFrom(index + 1, inserts));
      return position + 1;
    }
    if (unit !== comma) return -1;
    members.commaAt = position;
    position = skipBlankText(text, position + 1);
  }
}

/** The changed text, or null when nothing changes or the text is not JSON along the edited paths. */
function walkText(text: string, edits: readonly Edit[], spelling: Spelling): string | null {
  const walk: Walk = { text, spelling, out: '', from: 0 };
  const end = walkValue(walk, skipBlankText(text, 0), buildEditTree(edits, spelling.encode));
  if (end < 0 || (walk.from === 0 && walk.out === '')) return null;
  return walk.out + text.slice(walk.from);
}

/**
 * Makes all edits in one pass over JSON text (a string, or its UTF-8 bytes; the result has the same form). A string in a path names an object's key,
 * a number an array's element as counted before any removal. Every occurrence of a repeated key is edited. A path that does not exist is ignored
 * unless `add` says to insert its last key at the end of its object. Text that is not JSON along the edited paths comes back unchanged: parse it
 * first when that matters. Bytes without a change come back as the same object.
 */
export function applyEdits(source: string, edits: readonly Edit[]): string;
export function applyEdits(source: Uint8Array, edits: readonly Edit[], known?: KnownPlaces): Uint8Array;
export function applyEdits(source: string | Uint8Array, edits: readonly Edit[], known?: KnownPlaces): string | Uint8Array {
  if (edits.length === 0) return source;
  if (typeof source === 'string') return walkText(source, edits, textSpelling) ?? source;
  const spliced = spliceTopLevel(source, edits, known);
  if (spliced) return spliced;
  const changed = walkText(asBuffer(source).toString('latin1'), edits, byteSpelling);
  return changed === null ? source : Buffer.from(changed, 'latin1');
}
