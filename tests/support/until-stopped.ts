/** A process of several threads after SIGSTOP: each goes on until the kernel interrupts it, and may serve something meanwhile. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when no thread of the process runs any more, or there is no such process; at once where the kernel does not tell. */
export async function untilStopped(pid: number): Promise<void> {
  while (threadStates(pid).some((state) => 'RSD'.includes(state))) await sleep(1);
}

/** `R` runs, `S` and `D` wait for something. */
function threadStates(pid: number): string[] {
  try {
    // The name of a thread, in brackets, may hold anything.
    return readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').replace(/^.*\) /s, '')[0] ?? '');
  } catch {
    return [];
  }
}
