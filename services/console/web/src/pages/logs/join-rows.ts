/** Rows of the log in one list: those that finished while one looks on, and those of the past. */
import type { LogRow } from '../../api/stats.ts';

/** So many stay of those that came live; older ones are read again with the past. */
const maxLive = 2_000;

/** Of rows that had to go so many are remembered by their ids; others are only counted. */
const maxRemembered = 10_000;

/** Rows that came live, newest first. */
export interface LiveRows {
  rows: readonly LogRow[];
  /** Ids of those that had to go for later ones, newest first. */
  left: readonly string[];
  /** How many went before these. */
  leftBefore: number;
}

export const noLiveRows: LiveRows = { rows: [], left: [], leftBefore: 0 };

/** What finished since, above what came live before. */
export function addLive(fresh: readonly LogRow[], { rows: before, left, leftBefore }: LiveRows): LiveRows {
  const rows = unique([...fresh, ...before]);
  const gone = [...rows.slice(maxLive).map(({ id }) => id), ...left];
  return { rows: rows.slice(0, maxLive), left: gone.slice(0, maxRemembered), leftBefore: leftBefore + Math.max(0, gone.length - maxRemembered) };
}

/** The first of each id. */
function unique(rows: readonly LogRow[]): LogRow[] {
  const seen = new Set<string>();
  return rows.filter(({ id }) => !seen.has(id) && seen.add(id));
}

/**
 * Live rows above stored ones. A row in both takes the place of the stored one, since rows that were missed may lie between; a live row that is older than one in
 * both stays below it: of the past only the newest may be read yet.
 */
export function join(live: readonly LogRow[], past: readonly LogRow[]): LogRow[] {
  const known = unique(past);
  const stored = new Set(known.map(({ id }) => id));
  const latest = new Map(live.map((row) => [row.id, row]));
  const above: LogRow[] = [];
  const below = new Map<string, LogRow[]>();
  let group = above;
  for (const row of latest.values()) {
    if (!stored.has(row.id)) group.push(row);
    else {
      group = [];
      below.set(row.id, group);
    }
  }
  return [...above, ...known.flatMap((row) => [latest.get(row.id) ?? row, ...(below.get(row.id) ?? [])])];
}

/** A place in the list where rows lie that are not here. */
export interface Gap {
  gap: number;
}
export type Line = LogRow | Gap;
export const isGap = (line: Line): line is Gap => 'gap' in line;

/** The joined list, with the place of live rows that had to go before the past was read again. */
export function joinWithGap({ rows: live, left, leftBefore }: LiveRows, past: readonly LogRow[]): Line[] {
  const joined = join(live, past);
  const stored = new Set(past.map(({ id }) => id));
  // Where the two overlap, the past goes on from there.
  if (live.some(({ id }) => stored.has(id))) return joined;
  const newest = left.findIndex((id) => stored.has(id));
  const gap = newest < 0 ? left.length + leftBefore : newest;
  return gap === 0 ? joined : [...joined.slice(0, live.length), { gap }, ...joined.slice(live.length)];
}
