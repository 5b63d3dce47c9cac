/** Whether the gateway answers: what is shown is old while it does not, and nothing can be loaded from it. */
import { useSyncExternalStore } from 'react';

const againMs = 2_000;

let answers = true;
const listeners = new Set<() => void>();

/** What became of the last question of any kind. */
export function noteAnswer(given: boolean): void {
  if (given === answers) return;
  answers = given;
  for (const listener of listeners) listener();
}

function onChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useIsReachable = (): boolean => useSyncExternalStore(onChange, () => answers);

/** Asks until there is an answer. */
export async function untilReachable(): Promise<void> {
  for (;;) {
    // A proxy may answer in the gateway's place that it is away.
    const given = await fetch('/console/api/sign-in-options', { cache: 'no-store' }).then(
      ({ status }) => status < 500,
      () => false,
    );
    noteAnswer(given);
    if (given) return;
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}
