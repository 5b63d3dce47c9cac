/** Ctrl+K: find anything, go there, or do it. Loaded when it is asked for the first time. */
import { useHotkeys } from '@mantine/hooks';
import { Suspense, useState } from 'react';
import { lazyPart, MissingOverlay } from '../../components/lazy-part.tsx';
import { loadAllTexts } from '../../i18n/i18n.ts';
import { CollectKeys } from './collect-keys.ts';

const PaletteCore = lazyPart(async () => {
  const [{ PaletteCore: component }] = await Promise.all([import('./palette-core.tsx'), loadAllTexts()]);
  return { default: component };
}, MissingOverlay);

/** `asked`: how often it was asked for. */
export function Palette({ asked, onAsk }: { asked: number; onAsk: () => void }) {
  const [query, setQuery] = useState('');
  // Also while one types: the keys mean nothing else there.
  useHotkeys([['mod+K', onAsk]], []);
  if (asked === 0) return null;
  return (
    <Suspense fallback={<CollectKeys onType={setQuery} />}>
      <PaletteCore asked={asked} query={query} setQuery={setQuery} />
    </Suspense>
  );
}
