/** Rows of the log in one list: those that finished while one looks on, and those of the past. */
import type { LogRow } from '../../api/stats.ts';

/** So many stay of those that came live; older ones are read again by a reload. */
const maxLive = 2_000;

/** What finished since, above what came live before. */
export const addLive = (fresh: readonly LogRow[], before: readonly LogRow[]): LogRow[] => merge(fresh, before, maxLive);

/** A row that replaces another takes its place. */
function merge(fresh: readonly LogRow[], rest: readonly LogRow[], limit: number): LogRow[] {
  const seen = new Set<string>();
  const rows: LogRow[] = [];
  for (const row of [...fresh, ...rest]) {
    if (seen.has(row.id)) continue;
    seen.add(row.id);
    rows.push(row);
    if (rows.length >= limit) break;
  }
  return rows;
}

/** Live rows above stored ones. A row in both takes the place of the stored one, since rows that were missed may lie between. */
export function join(live: readonly LogRow[], past: readonly LogRow[]): LogRow[] {
  const latest = new Map(live.map((row) => [row.id, row]));
  const known = past.map((row) => {
    const newer = latest.get(row.id);
    latest.delete(row.id);
    return newer ?? row;
  });
  return merge([...latest.values()], known, maxLive + known.length);
}
