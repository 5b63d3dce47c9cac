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

/** So many characters at the beginning of a turn's id are the second in which it was minted, the next two its fraction. */
const [secondLength, fractionLength] = [6, 2];
const mintedHere = /^[0-9a-z]{6}[0-9A-Za-z]{24}$/;
/** A turn that is not in the store by then does not lie on its way there. */
const onItsWaySeconds = 30;

/** The id of a new turn. It begins with its time, so that an id that is not in the store need not be waited for when it is old, or was minted elsewhere. */
export const mintTurnId = (mintId: MintId, prefix: string, now = Date.now()): string => mintId(prefix + timeOf(now)).slice(0, -fractionLength);

/** The id of a new item, as long as other ids are. */
export const mintItemId = (mintId: MintId, prefix: string, now = Date.now()): string => mintId(prefix + timeOf(now)).slice(0, -secondLength - fractionLength);

/** Ids of one moment are neighbours in the store's indexes, of which each would touch a page of its own otherwise. */
function timeOf(now: number): string {
  const second = Math.floor(now / 1000);
  const fraction = Math.floor(((now - second * 1000) / 1000) * 36 ** fractionLength);
  return inBase36(second, secondLength) + inBase36(fraction, fractionLength);
}

const inBase36 = (value: number, length: number): string => value.toString(36).padStart(length, '0');

type MintId = (prefix: string) => string;

/** What an id says of when its turn was made: moments ago, long ago, or nothing, as the ids of upstreams do. Clocks of services may differ by as much. */
export function ageOf(id: string, prefix: string, now = Date.now()): 'new' | 'old' | 'unknown' {
  const text = id.startsWith(prefix) ? id.slice(prefix.length) : id;
  if (!mintedHere.test(text)) return 'unknown';
  return Math.abs(now / 1000 - Number.parseInt(text.slice(0, secondLength), 36)) <= onItsWaySeconds ? 'new' : 'old';
}
