/** Waiting in tests: for a condition, or for a pause that is itself under test. */
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Polls until the condition holds; fails after half a minute, which only a defect takes. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within 30 s: ${what}`);
    await sleep(10);
  }
}

/** A pause in which something must not happen. */
export const nothingFor = sleep;

/** Waits until a window of this length (ms) begins, so that what follows does not straddle two. */
export const windowBegins = (ms: number) => sleep(ms - (Date.now() % ms));

/** Waits until the clock shows a later millisecond, so that what follows has a later time. */
export async function laterMillisecond(): Promise<void> {
  const began = Date.now();
  while (Date.now() <= began + 1) await new Promise(setImmediate);
}
