/** What the operating system reports of a slot's process; null where it does not. */
import { readFileSync } from 'node:fs';

const pageBytes = 4096;
/** Linux counts in hundredths of a second, whatever its own clock does. */
const tickMs = 10;

/** Resident memory. */
export function residentBytes(pid: number | undefined): number | null {
  const [, pages] = read(`/proc/${pid}/statm`)?.split(' ') ?? [];
  return pages === undefined ? null : Number(pages) * pageBytes;
}

/** What its main thread, where scripts run, has had of a processor. The collector's helpers work beside it and are not counted. */
export function processorMs(pid: number | undefined): number | null {
  const text = read(`/proc/${pid}/task/${pid}/stat`);
  if (text === null) return null;
  // The name before it may hold blanks: fields are counted from behind its closing brace.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
