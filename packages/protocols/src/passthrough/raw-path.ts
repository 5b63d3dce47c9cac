/** Paths that pass as their caller wrote them: taken apart without decoding, and refused where a server behind might read another path in them. */

/** Of what a path may consist: visible ASCII without what an address ends at (`?`, `#`) or what some take for a slash (`\`). */
const plain = /^[!"$-.0->@-[\]-~/]*$/;
/** Control characters and a backslash in percent-encoding. A stray `%` may be read in two ways. */
const hidden = /%(?:[01][0-9a-f]|7f|5c)|%(?![0-9a-f]{2})/i;
const slashes = /\/|%2f/i;

/** Some servers cut off what follows a semicolon before they resolve dots: `..;` leads up there. */
const isDotSegment = (segment: string): boolean => /^\.{1,2}(?:;|%3b|$)/i.test(segment.replace(/%2e/gi, '.'));

/**
 * Whether `rest`, which is put behind an upstream's address, stays below it: no dot segments, written out or encoded, nothing that begins another
 * host (`//`), no control characters. An encoded slash is a part of its segment, but must not hide a dot segment. What is encoded twice is a name like any other.
 */
export const isSafeRest = (rest: string): boolean =>
  plain.test(rest) && !hidden.test(rest) && !/^(?:\/|%2f)/i.test(rest) && !rest.split(slashes).some(isDotSegment);

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
