/** The name of a row, which opens it: what the keyboard reaches, while a click anywhere on the row does the same. */
import { UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';

export function OpenButton({ onOpen, children }: { onOpen: () => void; children: ReactNode }) {
  return (
    <UnstyledButton
      className="open-button anywhere"
      onClick={(event) => {
        // The row's own click would open it twice.
        event.stopPropagation();
        onOpen();
      }}
    >
      {children}
    </UnstyledButton>
  );
}
