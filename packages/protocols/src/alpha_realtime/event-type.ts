/** Which event a frame holds, read without parsing the sound in it. */

const [quote, backslash, open, close, openList, closeList, colon, comma] = [34, 92, 123, 125, 91, 93, 58, 44];
const isBlank = (byte: number | undefined): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;

/** The text of the top-level `type`, wherever it stands; null for what is no such object. */
export function readEventType(frame: Buffer): string | null {
  let at = skipBlanks(frame, 0);
  if (frame[at] !== open) return null;
  at = skipBlanks(frame, at + 1);
  while (frame[at] === quote) {
    const keyEnd = endOfString(frame, at);
    if (keyEnd < 0) return null;
    const isType = keyEnd - at === 6 && frame.toString('latin1', at + 1, keyEnd - 1) === 'type';
    at = skipBlanks(frame, keyEnd);
    if (frame[at] !== colon) return null;
    at = skipBlanks(frame, at + 1);
    const end = endOfValue(frame, at);
    if (end < 0) return null;
    if (isType) return frame[at] === quote ? unescaped(frame.toString('utf8', at, end)) : null;
    at = skipBlanks(frame, end);
    if (frame[at] !== comma) return null;
    at = skipBlanks(frame, at + 1);
  }
  return null;
}

function unescaped(text: string): string | null {
  if (!text.includes('\\')) return text.slice(1, -1);
  try {
    return JSON.parse(text) as string;
  } catch {
    return null;
  }
}

function skipBlanks(frame: Buffer, from: number): number {
  let at = from;
  while (isBlank(frame[at])) at++;
  return at;
}

/** Behind the closing quote; -1: it has none. */
function endOfString(frame: Buffer, from: number): number {
  for (let at = frame.indexOf(quote, from + 1); at >= 0; at = frame.indexOf(quote, at + 1)) {
    let escapes = 0;
    while (frame[at - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  return -1;
}

function endOfValue(frame: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < frame.length; at++) {
    const byte = frame[at];
    if (byte === quote) {
      const end = endOfString(frame, at);
      if (end < 0) return -1;
      if (depth === 0) return end;
      at = end - 1;
    } else if (byte === open || byte === openList) depth++;
    else if (byte === close || byte === closeList) {
      // The end of the object that holds it.
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (byte === comma || isBlank(byte))) return at;
  }
  return -1;
}
