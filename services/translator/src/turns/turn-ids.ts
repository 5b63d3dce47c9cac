/** Ids of turns: as they are minted, and as callers give them. */

/** Nothing longer, and nothing else, was ever handed out; vendors' own ids have these characters too. */
const handedOut = /^[\w.:~+/=-]{1,200}$/;

/** false: it names nothing that could be there, and nobody is asked. */
export const mayBeStored = (id: string): boolean => handedOut.test(id);

/** The ids by which a turn may be stored that its caller names so, with or without the prefix. */
export function storedIds(id: string, prefix: string): readonly string[] {
  const ids = id.startsWith(prefix) ? [id] : [id, `${prefix}${id}`];
  return ids.filter(mayBeStored);
}

/** So many characters at the beginning of a turn's id are the second in which it was minted. */
const timeLength = 6;
const mintedHere = /^[0-9a-z]{6}[0-9A-Za-z]{24}$/;
/** A turn that is not in the store by then does not lie on its way there. */
const onItsWaySeconds = 30;

/** The id of a new turn. It begins with its time, so that an id that is not in the store need not be waited for when it is old, or was minted elsewhere. */
export const mintTurnId = (mintId: MintId, prefix: string, now = Date.now()): string => mintId(prefix + timeOf(now));

/** The id of a new item, as long as other ids are. Its time makes those of one moment neighbours in the store's index, where each would touch a page of its own. */
export const mintItemId = (mintId: MintId, prefix: string, now = Date.now()): string => mintId(prefix + timeOf(now)).slice(0, -timeLength);

const timeOf = (now: number): string =>
  Math.floor(now / 1000)
    .toString(36)
    .padStart(timeLength, '0');

type MintId = (prefix: string) => string;

/** What an id says of when its turn was made: moments ago, long ago, or nothing, as the ids of upstreams do. Clocks of services may differ by as much. */
export function ageOf(id: string, prefix: string, now = Date.now()): 'new' | 'old' | 'unknown' {
  const text = id.startsWith(prefix) ? id.slice(prefix.length) : id;
  if (!mintedHere.test(text)) return 'unknown';
  return Math.abs(now / 1000 - Number.parseInt(text.slice(0, timeLength), 36)) <= onItsWaySeconds ? 'new' : 'old';
}
