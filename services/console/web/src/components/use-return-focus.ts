/** For what opens over a page and is taken away when it closes: the keyboard then goes on where it was. */
import { useEffect } from 'react';

export function useReturnFocus(): void {
  useEffect(() => {
    const before = document.activeElement;
    return () => {
      // What was pressed may be drawn anew by then; nothing is stolen from what has taken the focus since.
      setTimeout(() => {
        const lost = document.activeElement === null || document.activeElement === document.body;
        if (lost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      });
    };
  }, []);
}
