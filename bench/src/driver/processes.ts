/** CPU time and memory of processes with all their threads and descendants, read from /proc (elsewhere than on Linux: nothing). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export const canMeasureProcesses = existsSync('/proc/self/schedstat');

/** The pids and all their descendants. */
export function processTree(pids: readonly number[]): number[] {
  if (!canMeasureProcesses) return [];
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = readProc(`/proc/${entry}/stat`);
    if (stat === null) continue;
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    const siblings = children.get(parent) ?? [];
    siblings.push(Number(entry));
    children.set(parent, siblings);
  }
  const found = new Set<number>();
  const queue = [...pids];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    if (found.has(pid)) continue;
    found.add(pid);
    queue.push(...(children.get(pid) ?? []));
  }
  return [...found];
}

/** Nanoseconds on a CPU so far, by thread id. */
export function cpuByThread(pids: readonly number[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const pid of pids) {
    for (const thread of listThreads(pid)) {
      const stat = readProc(`/proc/${pid}/task/${thread}/schedstat`);
      if (stat !== null) times.set(thread, Number(stat.split(' ')[0]));
    }
  }
  return times;
}

export function cpuDifference(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [thread, time] of after) sum += time - (before.get(thread) ?? 0);
  return sum;
}

/** Resident memory of all of them together, in KiB. */
export function residentKib(pids: readonly number[]): number {
  let sum = 0;
  for (const pid of pids) sum += Number(/VmRSS:\s+(\d+)/.exec(readProc(`/proc/${pid}/status`) ?? '')?.[1] ?? 0);
  return sum;
}

function listThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** A process may end between the listing and the reading: then there is nothing to count. */
function readProc(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}
