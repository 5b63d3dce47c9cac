/** Walks JSON bytes member by member, without parsing what is not asked for: frames of sound are long. */
import { readKey, skipBlanks, skipValue, walkObject } from '@model-gateway/json-bytes';

const braceOpen = 0x7b;

/** The value stands at `start`..`end`. true: no more is wanted. */
export type MemberVisit = (key: string, start: number, end: number) => boolean;

/** Nothing is visited where there is no object at `from`; of one that is cut off, the members before the cut. A key that no reader can read is passed over. */
export function visitMembers(json: Buffer, from: number, visit: MemberVisit): void {
  const opening = skipBlanks(json, from);
  if (json[opening] !== braceOpen) return;
  walkObject(json, opening, (keyStart, keyEnd, start) => {
    const end = skipValue(json, start);
    const key = readKey(json, keyStart, keyEnd);
    return end >= 0 && key !== null && visit(key, start, end) ? -1 : end;
  });
}
