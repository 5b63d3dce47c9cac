/** Where questions appear. The library's dialogs come with the pages that ask (`ask.ts`), not with the first page. */
import { Suspense, useEffect, useSyncExternalStore } from 'react';
import { lazyPart, MissingOverlay } from './lazy-part.tsx';

const Provider = lazyPart(() => import('@mantine/modals').then(({ ModalsProvider }) => ({ default: ModalsProvider })), MissingOverlay);

let wanted = false;
let overlays = 0;
let ready = false;
const waiting: (() => void)[] = [];
const listeners = new Set<() => void>();

const announce = (): void => {
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** From now on there is a place for questions: pages say so as they load, so that none waits for the network. */
export function wantDialogs(): void {
  wanted = true;
  announce();
}

/** Runs it once there is a place for questions: what is asked before would be lost. */
export function whenDialogs(run: () => void): void {
  if (ready) run();
  else waiting.push(run);
}

/** Its effect runs after those in which the library's provider subscribes to dialog requests. */
function Ready() {
  useEffect(() => {
    ready = true;
    for (const run of waiting.splice(0)) run();
    return () => {
      ready = false;
    };
  }, []);
  return null;
}

/** Tells that something that takes the keys for itself opened (1) or closed (-1) over the page and its drawers. */
export function countOverlay(change: 1 | -1): void {
  overlays += change;
  announce();
}

/** Whether an overlay is open: the page below must then ignore the keyboard. */
export const useOverlayOpen = (): boolean => useSyncExternalStore(subscribe, () => overlays > 0);

export function Dialogs() {
  const shown = useSyncExternalStore(subscribe, () => wanted);
  if (!shown) return null;
  return (
    <Suspense>
      <Provider>
        <Ready />
      </Provider>
    </Suspense>
  );
}
