/**
 * Fields of the specification whose part of the gateway is not built yet: the one table of them.
 * Their neutral value is accepted, so that clients may send whole objects, and not stored; anything else is refused by name. Nothing is accepted and ignored.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Detail } from '../problem.ts';
import type { ResourcePath } from '../resources/resource.ts';

/** Neutral values beside null, {} and []. */
type Neutral = readonly unknown[];

const unbuilt: Record<ResourcePath, Record<string, Neutral>> = {
  upstreams: {},
  models: {},
  'load-balancers': {},
  'key-groups': {},
  'access-keys': {},
  pricing: {},
  'search-providers': {},
  'search-config': {},
  'alert-channels': {},
  'mcp-servers': {},
};

export const unbuiltFieldNames = (path: ResourcePath): string[] => Object.keys(unbuilt[path]);

const isNeutral = (value: unknown, neutral: Neutral): boolean => value === null || [{}, [], ...neutral].some((accepted) => isDeepStrictEqual(value, accepted));

/** The body without such fields; throws nothing: what is refused is listed. */
export function dropUnbuilt(path: ResourcePath, body: Readonly<Record<string, unknown>>): { kept: Record<string, unknown>; refused: Detail[] } {
  const kept: Record<string, unknown> = {};
  const refused: Detail[] = [];
  for (const [field, value] of Object.entries(body)) {
    const neutral = Object.hasOwn(unbuilt[path], field) ? unbuilt[path][field] : undefined;
    if (!neutral) kept[field] = value;
    else if (!isNeutral(value, neutral)) refused.push({ field, message: `${field} is not built yet: leave it out` });
  }
  return { kept, refused };
}
