/** How records of a stream look on the wire, in both forms; written here once for the writer, the closer and verbatim passages. */
import type { StreamForm } from '@model-gateway/contracts';

/** What stands between two elements of a streamed array. It begins an element, so that whatever was written ends with a whole one. */
export const arraySeparator = '\n,\r\n';
const arrayEnd = '\n]';

/** `json` is one chunk; `index` counts the chunks before it. SSE data may not hold line breaks, so those between tokens of pretty-printed JSON go. */
export function frameRecord(json: string, index: number, form: StreamForm): string {
  if (form === 'json-array') return (index === 0 ? '[' : arraySeparator) + json;
  // A raw line break cannot stand inside a JSON string: only white space between tokens changes.
  return `data: ${/[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json}\r\n\r\n`;
}

export const frameEnd = (form: StreamForm): string => (form === 'json-array' ? arrayEnd : '');
