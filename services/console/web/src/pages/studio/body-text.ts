/** Typed JSON that must be an object. */

/** null for what is none. */
export function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

export const print = (value: unknown): string => JSON.stringify(value, null, 2);
