/** Walks JSON bytes member by member, without parsing what is not asked for: frames of sound are long. */

const [quote, backslash, open, close, openList, closeList, colon, comma] = [34, 92, 123, 125, 91, 93, 58, 44];
const isBlank = (byte: number | undefined): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;

/** `key`: as it is written, escapes included. The value stands at `start`..`end`. true: no more is wanted. */
export type MemberVisit = (key: string, start: number, end: number) => boolean;

/** Nothing is visited where there is no object at `from`; of one that is cut off, the members before the cut. */
export function visitMembers(json: Buffer, from: number, visit: MemberVisit): void {
  let at = skipBlanks(json, from);
  if (json[at] !== open) return;
  at = skipBlanks(json, at + 1);
  while (json[at] === quote) {
    const keyEnd = endOfString(json, at);
    if (keyEnd < 0) return;
    const key = json.toString('latin1', at + 1, keyEnd - 1);
    at = skipBlanks(json, keyEnd);
    if (json[at] !== colon) return;
    at = skipBlanks(json, at + 1);
    const end = endOfValue(json, at);
    if (end < 0 || visit(key, at, end)) return;
    at = skipBlanks(json, end);
    if (json[at] !== comma) return;
    at = skipBlanks(json, at + 1);
  }
}

function skipBlanks(json: Buffer, from: number): number {
  let at = from;
  while (isBlank(json[at])) at++;
  return at;
}

/** Behind the closing quote; -1: it has none. */
function endOfString(json: Buffer, from: number): number {
  for (let at = json.indexOf(quote, from + 1); at >= 0; at = json.indexOf(quote, at + 1)) {
    let escapes = 0;
    while (json[at - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return at + 1;
  }
  return -1;
}

function endOfValue(json: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      const end = endOfString(json, at);
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
