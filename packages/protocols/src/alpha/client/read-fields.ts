import { invalid } from '../../kit/fail.ts';
import { asBoolean, asNumber, asString, type JsonObject, own } from '../../kit/read.ts';

/** Known top-level fields: null is absent, a wrong type is the caller's fault and named. */
const optional =
  <T>(read: (value: unknown) => T | undefined, kind: string) =>
  (source: JsonObject, key: string): T | undefined => {
    const value = own(source, key);
    if (value === undefined) return undefined;
    const typed = read(value);
    if (typed === undefined) throw invalid(key, `\`${key}\` must be ${kind}.`);
    return typed;
  };

export const optionalString = optional(asString, 'a string');
export const optionalNumber = optional(asNumber, 'a number');
/** How many tokens a reply may have. */
export const optionalLimit = optional((value) => {
  const limit = asNumber(value);
  return limit !== undefined && limit >= 0 ? limit : undefined;
}, 'a number, 0 or more');
export const optionalBoolean = optional(asBoolean, 'a boolean');
