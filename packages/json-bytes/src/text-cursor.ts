/** The same tokenizer over text, known to be JSON: compiled code reads text and bytes by different instructions, and one function for both would be slow on both. -1 on text that is not JSON. */
import { backslash, braceClose, braceOpen, bracketClose, bracketOpen, colon, comma, isBlank, nearBytes, quote } from './syntax.ts';

/** Where the search found a quote closer than this, quotes are dense (code in a string): walking is quicker for a while. */
const denseBytes = 256;
const walkedBytes = 4096;

export function skipBlankText(text: string, start: number): number {
  let position = start;
  while (position < text.length && isBlank(text.charCodeAt(position))) position += 1;
  return position;
}

/** Offset after the closing quote of the string that opens at `start`, or -1 when it never closes. */
export function skipStringText(text: string, start: number): number {
  let position = start + 1;
  const length = text.length;
  let walked = nearBytes;
  for (;;) {
    const near = Math.min(position + walked, length);
    while (position < near) {
      const unit = text.charCodeAt(position);
      if (unit === quote) return position + 1;
      position += unit === backslash ? 2 : 1;
    }
    if (position >= length) return -1;
    const found = text.indexOf('"', position);
    if (found < 0) return -1;
    let run = found;
    while (run > position && text.charCodeAt(run - 1) === backslash) run -= 1;
    walked = found - position < denseBytes ? walkedBytes : nearBytes;
    position = found + 1;
    if (((found - run) & 1) === 0) return position;
  }
}

function skipContainerText(text: string, start: number): number {
  let depth = 0;
  let position = start;
  while (position < text.length) {
    const unit = text.charCodeAt(position);
    if (unit === quote) {
      position = skipStringText(text, position);
      if (position < 0) return -1;
      continue;
    }
    position += 1;
    if (unit === braceOpen || unit === bracketOpen) depth += 1;
    else if (unit === braceClose || unit === bracketClose) {
      depth -= 1;
      if (depth === 0) return position;
    }
  }
  return -1;
}

const endsScalar = (unit: number): boolean => unit === comma || unit === braceClose || unit === bracketClose || isBlank(unit);

/** Offset after the value that begins at `start`. */
export function skipValueText(text: string, start: number): number {
  if (start >= text.length) return -1;
  const unit = text.charCodeAt(start);
  if (unit === quote) return skipStringText(text, start);
  if (unit === braceOpen || unit === bracketOpen) return skipContainerText(text, start);
  let position = start;
  while (position < text.length && !endsScalar(text.charCodeAt(position))) position += 1;
  return position === start ? -1 : position;
}

/** Position of one member. `keyStart` is that of its key with quotes; of an element, that of its value. */
export interface Span {
  keyStart: number;
  start: number;
  end: number;
}

/** Reports the span of each element of the array that opens at `start`, in order. Ends early where the text is not JSON. */
export function eachElementText(text: string, start: number, onElement: (span: Span) => void): void {
  let at = skipBlankText(text, start + 1);
  if (text.charCodeAt(at) === bracketClose) return;
  for (;;) {
    const end = skipValueText(text, at);
    if (end < 0) return;
    onElement({ keyStart: at, start: at, end });
    at = skipBlankText(text, end);
    if (text.charCodeAt(at) !== comma) return;
    at = skipBlankText(text, at + 1);
  }
}

/** Reports key and span of each member of the object that opens at `start`, in order, repeated keys too. */
export function eachMemberText(text: string, start: number, onMember: (key: string, span: Span) => void): void {
  let at = skipBlankText(text, start + 1);
  while (text.charCodeAt(at) === quote) {
    const keyEnd = skipStringText(text, at);
    const colonAt = skipBlankText(text, keyEnd);
    if (keyEnd < 0 || text.charCodeAt(colonAt) !== colon) return;
    const valueStart = skipBlankText(text, colonAt + 1);
    const end = skipValueText(text, valueStart);
    if (end < 0) return;
    onMember(JSON.parse(text.slice(at, keyEnd)) as string, { keyStart: at, start: valueStart, end });
    at = skipBlankText(text, end);
    if (text.charCodeAt(at) !== comma) return;
    at = skipBlankText(text, at + 1);
  }
}
