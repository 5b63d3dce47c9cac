/** Ctrl+K: find anything, go there, or do it. Loaded when it is asked for the first time. */
import { useHotkeys } from '@mantine/hooks';
import { type RefObject, Suspense, useEffect, useRef } from 'react';
import { lazyPart, MissingOverlay } from '../../components/lazy-part.tsx';
import { loadAllTexts } from '../../i18n/i18n.ts';

const PaletteCore = lazyPart(async () => {
  const [{ PaletteCore: component }] = await Promise.all([import('./palette-core.tsx'), loadAllTexts()]);
  return { default: component };
}, MissingOverlay);

/** `asked`: how often it was asked for. */
export function Palette({ asked, onAsk }: { asked: number; onAsk: () => void }) {
  const typedEarly = useRef('');
  // Also while one types: the keys mean nothing else there.
  useHotkeys([['mod+K', onAsk]], []);
  if (asked === 0) return null;
  return (
    <Suspense fallback={<CollectKeys typed={typedEarly} />}>
      <PaletteCore asked={asked} typedEarly={typedEarly} />
    </Suspense>
  );
}

/** Keeps what is typed until there is a field for it: one types on after Ctrl+K, however slow the network. */
function CollectKeys({ typed }: { typed: RefObject<string> }) {
  useEffect(() => {
    const collect = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (event.key === 'Backspace') typed.current = typed.current.slice(0, -1);
      else if (event.key.length === 1) typed.current += event.key;
      // Enter would press what has the focus below.
      else if (event.key !== 'Enter') return;
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener('keydown', collect, true);
    return () => window.removeEventListener('keydown', collect, true);
  }, [typed]);
  return null;
}
