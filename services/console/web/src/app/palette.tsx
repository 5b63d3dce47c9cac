/** Ctrl+K: go to a page by its name. Loaded when it is asked for the first time. */
import { useHotkeys } from '@mantine/hooks';
import { lazy, Suspense } from 'react';

const PaletteCore = lazy(() => import('./palette-core.tsx').then(({ PaletteCore: component }) => ({ default: component })));

/** `asked`: how often it was asked for. */
export function Palette({ asked, onAsk }: { asked: number; onAsk: () => void }) {
  // Also while one types: the keys mean nothing else there.
  useHotkeys([['mod+K', onAsk]], []);
  if (asked === 0) return null;
  return (
    <Suspense>
      <PaletteCore asked={asked} />
    </Suspense>
  );
}
