/** Three states of a form told apart: as it was filled, as it is now stored, as it stands here. */
import type { Conflict } from './conflict-notice.tsx';

type Values = Readonly<Record<string, unknown>>;

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The fields that somebody else changed, those that both changed first. */
export function conflictsOf(filled: Values, now: Values, here: Values): Conflict[] {
  return [...new Set([filled, now].flatMap(Object.keys))]
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
  Object.fromEntries([...new Set([now, here].flatMap(Object.keys))].map((field) => [field, same(filled[field], here[field]) ? now[field] : here[field]])) as V;

/** Puts the fields of each object named in `groups` beside the others, as `settings.region`: each of them is changed by itself. */
export const ungroup = (values: Values, groups: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([field, value]) =>
      groups.includes(field) ? Object.entries(value as Values).map(([name, own]) => [`${field}.${name}`, own]) : [[field, value]],
    ),
  );

/** The reverse of `ungroup`. */
export function regroup(values: Values, groups: readonly string[]): Record<string, unknown> {
  const grouped: Record<string, unknown> = {};
  for (const group of groups)
    grouped[group] = Object.fromEntries(
      Object.entries(values).flatMap(([field, value]) =>
        field.startsWith(`${group}.`) && value !== undefined ? [[field.slice(group.length + 1), value]] : [],
      ),
    );
  for (const [field, value] of Object.entries(values)) if (!groups.some((group) => field.startsWith(`${group}.`))) grouped[field] = value;
  return grouped;
}
