/** Reads untrusted bodies: a value of an unexpected shape counts as empty. */
export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
export const objectOf = (value: unknown): Json => (isObject(value) ? value : {});
/** The objects of a list. */
export const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
/** A field that is null says as much as one that is absent, to most vendors. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
export const isBlank = (value: unknown): boolean => typeof value !== 'string' || value.trim() === '';

/** The first thing that `find` gives for an entry. */
export function first<T, R>(entries: readonly T[], find: (entry: T, index: number) => R | null | undefined): R | null {
  for (const [index, entry] of entries.entries()) {
    const found = find(entry, index);
    if (found !== null && found !== undefined) return found;
  }
  return null;
}

/** The media type and data of a data URL; null for any other text. */
export function readDataUrl(url: unknown): { type: string; data: string } | null {
  const found = /^data:([^;,]*)(?:;[^,]*)?,(.*)$/s.exec(textOf(url));
  return found && { type: (found[1] ?? '').toLowerCase(), data: found[2] ?? '' };
}

const imageStarts: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^iVBORw0KGgo/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGOD/],
  ['image/webp', /^UklGR.{6}XRUJQ|^UklGR.{5}XRUJQ/],
];
/** The type that the first bytes of a picture (in base64) tell; null: none that is known. */
export const imageTypeOf = (data: string): string | null => imageStarts.find(([, start]) => start.test(data))?.[0] ?? null;

/** Calls `visit` with every schema inside a JSON schema, itself included, until it gives something. */
export function findInSchema<R>(schema: unknown, visit: (schema: Json, path: readonly string[]) => R | null, path: readonly string[] = []): R | null {
  if (!isObject(schema)) return null;
  const found = visit(schema, path);
  if (found !== null) return found;
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' || key === '$defs' || key === 'definitions' || key === 'patternProperties') {
      for (const [name, inner] of Object.entries(objectOf(value))) {
        const deeper = findInSchema(inner, visit, [...path, key, name]);
        if (deeper !== null) return deeper;
      }
    } else if (key === 'items' || key === 'additionalProperties' || key === 'not') {
      const deeper = findInSchema(value, visit, [...path, key]);
      if (deeper !== null) return deeper;
    } else if (key === 'anyOf' || key === 'oneOf' || key === 'allOf' || key === 'prefixItems') {
      for (const [index, inner] of list(value).entries()) {
        const deeper = findInSchema(inner, visit, [...path, key, String(index)]);
        if (deeper !== null) return deeper;
      }
    }
  }
  return null;
}
