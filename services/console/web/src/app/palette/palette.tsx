/** Ctrl+K: find anything, go there, or do it. Loaded when it is asked for the first time. */
import { useHotkeys } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import { loadAllTexts } from '../../i18n/i18n.ts';

const PaletteCore = lazy(async () => {
  const [{ PaletteCore: component }] = await Promise.all([import('./palette-core.tsx'), loadAllTexts()]);
  return { default: component };
});

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
