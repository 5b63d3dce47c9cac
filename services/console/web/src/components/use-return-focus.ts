/** For what opens over a page and is taken away when it closes: the keyboard then goes on where it was. */
import { useEffect } from 'react';
import { followFocus, forgetPlace, isFocusLost } from './keep-focus.ts';

export function useReturnFocus(): void {
  useEffect(() => {
    const before = followFocus();
    return () => {
      // What was pressed may be drawn anew by then, or deleted; nothing is stolen from what has taken the focus since.
      setTimeout(() => {
        forgetPlace(before);
        if (isFocusLost()) (before.element ?? document.querySelector('main'))?.focus({ preventScroll: true });
      });
    };
  }, []);
}
