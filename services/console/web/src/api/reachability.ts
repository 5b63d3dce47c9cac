/** Whether the gateway answers: what is shown is old while it does not, and nothing can be loaded from it. */
import { useSyncExternalStore } from 'react';

const againMs = 2_000;
/** How long it may take to say that it is there: on a connection that is gone nothing ever comes, no fault either. */
const answerMs = 10_000;

let answers = true;
const listeners = new Set<() => void>();

function note(given: boolean): void {
  if (given === answers) return;
  answers = given;
  for (const listener of listeners) listener();
}

/** The gateway answered a question of any kind. */
export const noteAnswer = (): void => note(true);

let isAsking = false;

/** A question was not answered by the gateway. That can be due to this one question, such as a browser extension that blocks it: whether the gateway is away is asked apart. */
export async function noteNoAnswer(): Promise<void> {
  if (!answers || isAsking) return;
  isAsking = true;
  note(await isThere());
  isAsking = false;
}

/** A proxy may answer in the gateway's place that it is away. */
async function isThere(): Promise<boolean> {
  try {
    const response = await fetch('/console/api/sign-in-options', { cache: 'no-store', signal: AbortSignal.timeout(answerMs) });
    // What is not read keeps its connection.
    await response.arrayBuffer();
    return response.status < 500;
  } catch {
    return false;
  }
}

function onChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useIsReachable = (): boolean => useSyncExternalStore(onChange, () => answers);

/** Asks until there is an answer. */
export async function untilReachable(): Promise<void> {
  for (;;) {
    const given = await isThere();
    note(given);
    if (given) return;
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}
