/** Fields for which the specification has two names: the second means the first, in whatever is sent. */
import { isDeepStrictEqual } from 'node:util';
import type { Detail } from '../problem.ts';
import type { ResourcePath } from '../resources/resource.ts';

const spellings: Partial<Record<ResourcePath, Readonly<Record<string, string>>>> = {
  models: { upstream_inference_profile: 'inference_profile' },
};

/** The body with each field under its own name; throws nothing: what is given twice and differs is listed. */
export function spellFields(path: ResourcePath, body: Readonly<Record<string, unknown>>): { fields: Record<string, unknown>; refused: Detail[] } {
  let fields: Record<string, unknown> = { ...body };
  const refused: Detail[] = [];
  for (const [alias, field] of Object.entries(spellings[path] ?? {})) {
    if (!Object.hasOwn(fields, alias)) continue;
    const { [alias]: value, ...rest } = fields;
    fields = rest;
    if (!Object.hasOwn(fields, field)) fields[field] = value;
    else if (!isDeepStrictEqual(fields[field], value)) refused.push({ field: alias, message: `is another spelling of ${field}: send one of them` });
  }
  return { fields, refused };
}
