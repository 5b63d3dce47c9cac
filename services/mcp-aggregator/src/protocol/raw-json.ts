/** Parts of JSON texts as they were written: what passes through is not printed anew. */
import { scanBody } from '@model-gateway/json-bytes';
import { createJsonArrayParser } from '@model-gateway/stream-framing';

/** Of messages: structure deeper or wider than that is refused. */
const bounds = { maxDepth: 128, maxNodes: 2_000_000 };
const maxElementBytes = 16 * 1024 * 1024;

/** The texts of some top-level members of a JSON object; null: it is not a JSON object, or beyond the bounds. A repeated key counts with its last value. */
export function membersOf<Key extends string>(json: Buffer, keys: readonly Key[]): Partial<Record<Key, string>> | null {
  const scanned = scanBody(json, { keys, ...bounds });
  if (!scanned.ok) return null;
  const found: Partial<Record<Key, string>> = {};
  for (const key of keys) {
    const value = scanned.values[key];
    if (value) found[key] = json.toString('utf8', value.start, value.end);
  }
  return found;
}

/** The same of a text. */
export const membersOfText = <Key extends string>(text: string, keys: readonly Key[]): Partial<Record<Key, string>> | null =>
  membersOf(Buffer.from(text, 'utf8'), keys);

/** The texts of an array's elements; null: it is none. */
export function elementsOf(text: string): string[] | null {
  const parser = createJsonArrayParser({ maxElementBytes });
  try {
    const elements = parser.push(Buffer.from(text, 'utf8')).map(({ data }) => data);
    return parser.complete ? elements : null;
  } catch {
    return null;
  }
}

/** null: it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
