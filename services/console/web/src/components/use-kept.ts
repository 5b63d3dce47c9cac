/** A state that outlives its session: what was typed is there again once the same person has signed in. For forms with a revision there is `useDraft`. */
import { notifications } from '@mantine/notifications';
import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { keepDraft, takeDraft } from '../session/drafts.ts';
import { readToken } from '../session/token.ts';
import { useMe } from '../session/use-me.ts';

/** Like `useState`, under a name of its own; the third tells whether an earlier value was restored. */
export function useKept<T>(name: string, first: T | (() => T)): [T, Dispatch<SetStateAction<T>>, boolean] {
  const { t } = useTranslation();
  const actor = useMe().data?.actor;
  const [value, setValue] = useState(first);
  const [initial] = useState(value);
  const [restored, setRestored] = useState(false);
  const latest = useRef(value);
  latest.current = value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: taken up once, and left behind as it is by then
  useEffect(() => {
    if (actor === undefined) return;
    const draft = takeDraft(name, actor);
    if (draft) {
      setValue(draft.values as T);
      setRestored(true);
      // Once for all states of a page.
      notifications.show({ id: 'restored', message: t('unsaved.restored'), color: 'blue' });
    }
    return () => {
      if (readToken() === null && latest.current !== initial) keepDraft(name, { actor, values: latest.current, filled: initial, etag: null });
    };
  }, [actor]);
  return [value, setValue, restored];
}
