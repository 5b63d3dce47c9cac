/** Ids as callers give them. */

/** Nothing longer, and nothing else, was ever handed out; vendors' own ids have these characters too. */
const handedOut = /^[\w.:~+/=-]{1,200}$/;

/** false: it names nothing that could be there, and nobody is asked. */
export const mayBeStored = (id: string): boolean => handedOut.test(id);

/** The ids by which a turn may be stored that its caller names so, with or without the prefix. */
export function storedIds(id: string, prefix: string): readonly string[] {
  const ids = id.startsWith(prefix) ? [id] : [id, `${prefix}${id}`];
  return ids.filter(mayBeStored);
}
