/** Where questions appear. The library's dialogs come with the pages that ask (`ask.ts`), not with the first page. */
import { lazy, Suspense, useSyncExternalStore } from 'react';

const Provider = lazy(() => import('@mantine/modals').then(({ ModalsProvider }) => ({ default: ModalsProvider })));

let wanted = false;
const listeners = new Set<() => void>();

/** From now on there is a place for questions: pages say so as they load, so that none waits for the network. */
export function wantDialogs(): void {
  if (wanted) return;
  wanted = true;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function Dialogs() {
  const shown = useSyncExternalStore(subscribe, () => wanted);
  if (!shown) return null;
  return (
    <Suspense>
      <Provider>{null}</Provider>
    </Suspense>
  );
}
