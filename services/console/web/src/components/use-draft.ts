/** A form whose session ends goes on where it was, once the same person has signed in again. */
import type { UseFormReturnType } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { type RefObject, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { keepDraft, takeDraft } from '../session/drafts.ts';
import { readToken } from '../session/token.ts';
import { useMe } from '../session/use-me.ts';

/** What a form was filled with, and the revision of it. */
export interface FilledWith<V> {
  values: V;
  etag: string | null;
}

/** `filled`: of a form that changes what is stored. */
export function useDraft<V>(name: string, form: UseFormReturnType<V>, filled?: RefObject<FilledWith<V>>): void {
  const { t } = useTranslation();
  const actor = useMe().data?.actor;
  // biome-ignore lint/correctness/useExhaustiveDependencies: taken up once, and left behind as it is by then
  useEffect(() => {
    if (actor === undefined) return;
    const draft = takeDraft(name, actor);
    if (draft) {
      form.setValues(draft.values as V);
      if (filled) filled.current = { values: draft.filled as V, etag: draft.etag };
      notifications.show({ id: 'restored', message: t('unsaved.restored'), color: 'blue' });
    }
    return () => {
      if (readToken() === null && form.isDirty())
        keepDraft(name, { actor, values: form.getValues(), filled: filled?.current.values ?? null, etag: filled?.current.etag ?? null });
    };
  }, [actor]);
}
