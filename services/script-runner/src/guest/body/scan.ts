/** Finds the members of one JSON object or array in text that is known to be JSON, without reading their values. */

/** Where one member stands. `keyStart` is that of its key with quotes; of an element, that of its value. */
export interface Span {
  keyStart: number;
  start: number;
  end: number;
}

const quote = 34;
const backslash = 92;
const comma = 44;
const colon = 58;
const braceOpen = 123;
const bracketOpen = 91;

export function skipBlank(text: string, at: number): number {
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit !== 32 && unit !== 10 && unit !== 13 && unit !== 9) return at;
    at++;
  }
}

/** After the string that opens at `at`. */
export function skipString(text: string, at: number): number {
  let from = at + 1;
  for (;;) {
    const end = text.indexOf('"', from);
    if (end < 0) return text.length;
    let slashes = 0;
    while (end - slashes > at + 1 && text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end + 1;
    from = end + 1;
  }
}

/** After the value that begins at `at`. */
export function skipValue(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === quote) return skipString(text, at);
  if (first === braceOpen || first === bracketOpen) return skipContainer(text, at);
  let end = at;
  for (; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (unit === comma || unit === 125 || unit === 93 || unit <= 32) break;
  }
  return end;
}

function skipContainer(text: string, at: number): number {
  let depth = 0;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      at = skipString(text, at);
      continue;
    }
    at++;
    // Both kinds of braces differ in these bits from everything else that stands between values.
    if (unit === braceOpen || unit === bracketOpen) depth++;
    else if ((unit === 125 || unit === 93) && --depth === 0) return at;
  }
  return at;
}

/** Tells each element's span, in order. */
export function scanArray(text: string, start: number, found: (span: Span) => void): void {
  let at = skipBlank(text, start + 1);
  if (text.charCodeAt(at) === 93) return;
  for (;;) {
    const end = skipValue(text, at);
    found({ keyStart: at, start: at, end });
    at = skipBlank(text, end);
    if (text.charCodeAt(at) !== comma) return;
    at = skipBlank(text, at + 1);
  }
}

/** Tells each member's key and span, in order; repeated keys too. */
export function scanObject(text: string, start: number, found: (key: string, span: Span) => void): void {
  let at = skipBlank(text, start + 1);
  while (text.charCodeAt(at) === quote) {
    const keyStart = at;
    const keyEnd = skipString(text, at);
    at = skipBlank(text, keyEnd);
    if (text.charCodeAt(at) !== colon) return;
    const valueStart = skipBlank(text, at + 1);
    const end = skipValue(text, valueStart);
    found(JSON.parse(text.slice(keyStart, keyEnd)) as string, { keyStart, start: valueStart, end });
    at = skipBlank(text, end);
    if (text.charCodeAt(at) !== comma) return;
    at = skipBlank(text, at + 1);
  }
}
