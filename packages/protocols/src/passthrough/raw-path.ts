/** Paths that pass as their caller wrote them: taken apart without decoding, and refused where a server behind might read another path in them. */

/** Of what a path may consist: visible ASCII without what an address ends at (`?`, `#`) or what some take for a slash (`\`). */
const plain = /^[!"$-.0->@-[\]-~/]*$/;
/** Control characters and a backslash in percent-encoding. */
const hidden = /%(?:[01][0-9a-f]|7f|5c)/i;
/** It may be read in two ways. */
const strayPercent = /%(?![0-9a-f]{2})/i;
const slashes = /\/|%2f/i;

/** Some servers cut off what follows a semicolon before they resolve dots: `..;` leads up there. */
const isDotSegment = (segment: string): boolean => /^\.{1,2}(?:;|%3b|$)/i.test(segment.replace(/%2e/gi, '.'));

/** A percent sign and hexadecimal digits in percent-encoding: what encodes an encoding. */
const encodesAgain = /%(?:25|3[0-9]|[46][1-6])/gi;
/** Nobody means a path that is encoded more often. */
const maxDecodings = 4;

/** As servers read it that decode more than once. null: it is encoded too often. */
function decodedAgain(text: string): string | null {
  let read = text;
  for (let times = 0; times < maxDecodings; times++) {
    const next = read.replace(encodesAgain, (encoded) => String.fromCharCode(Number.parseInt(encoded.slice(1), 16)));
    if (next === read) return read;
    read = next;
  }
  return null;
}

/**
 * Whether `rest`, which is put behind an upstream's address, stays below it: no dot segments, written out or encoded, once or several times, nothing that
 * begins another host (`//`), no control characters. An encoded slash is a part of its segment, but must not hide a dot segment.
 */
export function isSafeRest(rest: string): boolean {
  if (!plain.test(rest) || strayPercent.test(rest)) return false;
  const read = decodedAgain(rest);
  return read !== null && !hidden.test(read) && !/^(?:\/|%2f)/i.test(read) && !read.split(slashes).some(isDotSegment);
}

/** The same for paths whose every segment has a meaning here: no empty segments, and no encoded slash or dot. */
export const isPlainRest = (rest: string): boolean => isSafeRest(rest) && !/%2[ef]/i.test(rest) && !/\/\//.test(rest) && rest !== '';

/** What a path below `/v3/` names: the model, decoded once, and the rest of the path, as it is. */
export interface ModelAndRest {
  model: string;
  rest: string;
}

/** `text`: what follows `/v3/`. null: it names no model, or no path that can be passed on. */
export function splitModel(text: string): ModelAndRest | null {
  const slash = text.indexOf('/');
  const segment = slash < 0 ? text : text.slice(0, slash);
  const rest = slash < 0 ? '' : text.slice(slash + 1);
  const model = decodeOnce(segment);
  return model === null || isDotSegment(segment) || !isSafeRest(rest) ? null : { model, rest };
}

/** null when empty, or not decodable: a stray `%` names no model. */
function decodeOnce(text: string): string | null {
  try {
    return decodeURIComponent(text) || null;
  } catch {
    return null;
  }
}
