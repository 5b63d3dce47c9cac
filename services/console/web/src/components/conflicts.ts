/** Three states of a form told apart: as it was filled, as it is now stored, as it stands here. */
import type { Conflict } from './conflict-notice.tsx';

type Values = Readonly<Record<string, unknown>>;

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The fields that somebody else changed, those that both changed first. */
export function conflictsOf(filled: Values, now: Values, here: Values): Conflict[] {
  return Object.keys(now)
    .filter((field) => !same(filled[field], now[field]))
    .map((field) => ({
      field,
      now: now[field],
      here: here[field],
      both: !same(filled[field], here[field]) && !same(now[field], here[field]),
    }))
    .sort((one, other) => Number(other.both) - Number(one.both));
}

/** What was changed here stays, all else is as it is stored now. */
export const keepMine = <V extends Values>(filled: Values, now: V, here: Values): V =>
  Object.fromEntries(Object.entries(now).map(([field, value]) => [field, same(filled[field], here[field]) ? value : here[field]])) as V;
