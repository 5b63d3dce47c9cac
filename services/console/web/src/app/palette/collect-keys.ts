/** What is typed while there is no field for it yet. */
import { type Dispatch, type SetStateAction, useEffect } from 'react';

/** Adds what is typed to the text, wherever the focus is: one types on after Ctrl+K, however slow the network. */
export function CollectKeys({ onType }: { onType: Dispatch<SetStateAction<string>> }) {
  useEffect(() => {
    const collect = (event: KeyboardEvent) => {
      const { key } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (key === 'Backspace') onType((text) => text.slice(0, -1));
      else if (key.length === 1) onType((text) => text + key);
      // Enter would press what has the focus below.
      else if (key !== 'Enter') return;
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener('keydown', collect, true);
    return () => window.removeEventListener('keydown', collect, true);
  }, [onType]);
  return null;
}
