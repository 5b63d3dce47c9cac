/** A save that was refused since somebody else changed the same: what they changed is shown, and the form goes on from there. */
import type { UseFormReturnType } from '@mantine/form';
import { type ReactNode, type RefObject, useState } from 'react';
import { ConflictNotice } from './conflict-notice.tsx';
import { conflictsOf, keepMine, regroup, ungroup } from './conflicts.ts';
import type { FilledWith } from './use-draft.ts';

type Values = Record<string, unknown>;

/** What is stored, with its revision. */
export type Revised<T> = T & { $etag?: string };

interface Options<T, V> {
  form: UseFormReturnType<V>;
  filled: RefObject<FilledWith<V>>;
  toForm: (stored: T) => V;
  /** Values that are objects of fields which are changed one by one. */
  groups?: readonly string[];
  /** What is there now. */
  read: () => Promise<Revised<T>>;
  /** From here on it is what the form changes. */
  onThere?: (there: Revised<T>) => void;
}

/** `onConflict` reads what is there now, after a 412; `notice` then shows the ways on, until one is taken. */
export function useConflict<T, V extends Record<string, unknown>>({
  form,
  filled,
  toForm,
  groups = [],
  read,
  onThere,
}: Options<T, V>): {
  notice: ReactNode;
  onConflict: () => Promise<void>;
} {
  const [theirs, setTheirs] = useState<Revised<T> | null>(null);
  const goOn = (there: Revised<T>, values: V) => {
    form.setValues(values);
    form.resetDirty(toForm(there));
    filled.current = { values: toForm(there), etag: there.$etag ?? null };
    setTheirs(null);
    onThere?.(there);
  };
  const states = (there: T) => [filled.current.values, toForm(there), form.getValues()].map((values) => ungroup(values, groups)) as [Values, Values, Values];
  const notice = theirs && (
    <ConflictNotice
      conflicts={conflictsOf(...states(theirs))}
      onMine={() => goOn(theirs, regroup(keepMine(...states(theirs)), groups) as V)}
      onTheirs={() => goOn(theirs, toForm(theirs))}
    />
  );
  return { notice, onConflict: async () => setTheirs(await read()) };
}
