/** Fields that only those may change who may change anything: a monitor sees them filled in and switched off. */
import { createContext, type ReactNode, useContext } from 'react';

const ReadOnly = createContext(false);
export const ReadOnlyForm = ReadOnly.Provider;
export const useReadOnlyForm = (): boolean => useContext(ReadOnly);

/** The browser switches off every field inside; what opens and closes sections stays outside. */
export function Editable({ children }: { children: ReactNode }) {
  const readOnly = useReadOnlyForm();
  return (
    <fieldset disabled={readOnly} className="editable">
      {children}
    </fieldset>
  );
}
