/** Long work in this process's own thread, in slices: between two of them it does what else waits. */

const sliceMs = 10;

/** Called between two steps; the promise is there only when the slice is used up. */
export type Pace = () => Promise<void> | undefined;

export function createPace(now: () => number = () => performance.now()): Pace {
  let began = now();
  const rest = (): Promise<void> =>
    new Promise((resolve) =>
      setImmediate(() => {
        began = now();
        resolve();
      }),
    );
  return () => (now() - began < sliceMs ? undefined : rest());
}
