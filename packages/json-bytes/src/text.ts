/** Finds where JSON values end in text that is known to be JSON: cheap steps without judging what they pass. -1 on text that is not. */
import { backslash, braceClose, braceOpen, bracketClose, bracketOpen, comma, isBlank, nearBytes, quote } from './bytes.ts';

/** Where the search found a quote closer than this, quotes are dense (code in a string): walking is quicker for a while. */
const denseBytes = 256;
const walkedBytes = 4096;

export function skipBlankText(text: string, start: number): number {
  let position = start;
  while (position < text.length && isBlank(text.charCodeAt(position))) position += 1;
  return position;
}

/** As `skipStringBytes`, over text. */
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
