/** How what a page shows is written into its address: texts as they are, so that an address can be read, and typed by hand; lists as JSON. */

/** What would be read as JSON. */
const jsonStart = /^["[{]/;

function readValue(text: string): unknown {
  if (!jsonStart.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function writeValue(value: unknown): string {
  if (typeof value === 'object') return JSON.stringify(value);
  const text = String(value);
  return jsonStart.test(text) ? JSON.stringify(text) : text;
}

/** Every value is a text, or what JSON says; of a name that comes twice the last counts. Texts in quotes, as older addresses have them, are read too. */
export const parseSearch = (search: string): Record<string, unknown> =>
  Object.fromEntries([...new URLSearchParams(search)].map(([name, value]) => [name, readValue(value)]));

/** What `parseSearch` reads back; without what is undefined or null. */
export function stringifySearch(search: Record<string, unknown>): string {
  const written = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) if (value !== undefined && value !== null) written.set(name, writeValue(value));
  return written.size > 0 ? `?${written}` : '';
}
