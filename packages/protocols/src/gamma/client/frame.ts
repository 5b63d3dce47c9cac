/** Framing of a stream's records, in both forms; used by the writer, the stream terminator and verbatim replies. */
import type { StreamForm } from '@model-gateway/contracts';

/** What stands between two elements of a streamed array. It begins an element, so that whatever was written ends with a whole one. */
export const arraySeparator = '\n,\r\n';
const arrayEnd = '\n]';

/** What no event may hold as it is. */
const lineBreaks = /[\r\n\u2028\u2029]/;

/**
 * `json` is one chunk; `index` counts the chunks before it. SSE data may not hold line breaks, so those between tokens of pretty-printed JSON go. The two
 * separators of Unicode stand inside strings alone; Google escapes them, and readers of its streams take a raw one for the end of a line.
 */
export function frameRecord(json: string, index: number, form: StreamForm): string {
  if (form === 'json-array') return (index === 0 ? '[' : arraySeparator) + json;
  // A raw line break cannot stand inside a JSON string: only white space between tokens changes.
  return `data: ${lineBreaks.test(json) ? escapeBreaks(json) : json}\r\n\r\n`;
}

const escapeBreaks = (json: string): string =>
  json
    .replace(/[\r\n]+/g, ' ')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');

export const frameEnd = (form: StreamForm): string => (form === 'json-array' ? arrayEnd : '');
