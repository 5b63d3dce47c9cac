/** JSON that is typed as text in a form. */

/** Faults by field: `text` holds fields whose text must be empty or JSON. */
export function jsonFaults(texts: Record<string, string>, fault: string): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).flatMap(([field, text]) => (isJson(text) ? [] : [[field, fault]])));
}

/** null for an empty text. Throws what is no JSON: forms check first. */
export const parseOrNull = (text: string): unknown => (text.trim() ? JSON.parse(text) : null);

export const printOrEmpty = (value: unknown): string => (value === null || value === undefined ? '' : JSON.stringify(value, null, 2));

function isJson(text: string): boolean {
  try {
    parseOrNull(text);
    return true;
  } catch {
    return false;
  }
}
