/** The drawer of one resource: loads it, fills the form, saves with its revision, deletes. */
import { Button } from '@mantine/core';
import { type FormErrors, type UseFormReturnType, useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../api/client.ts';
import { type ResourcePath, useOne, useRemove, useSave } from '../api/resources.ts';
import { useConfirmDelete } from './confirm-delete.tsx';
import { EditDrawer } from './edit-drawer.tsx';
import { FaultNotice } from './fault-notice.tsx';
import { type SpendDimension, SpendHead } from './spend.tsx';
import { useConflict } from './use-conflict.tsx';
import { type FilledWith, useDraft } from './use-draft.ts';

interface Props<T, V> {
  resource: ResourcePath;
  /** null: a new one. */
  name: string | null;
  createTitle: string;
  empty: V;
  toForm: (stored: T) => V;
  toBody: (values: V) => unknown;
  validate?: (values: V) => FormErrors;
  onClose: () => void;
  /** Called with the answer to a creation: what is shown only once is in it. */
  onCreated?: (created: T) => void;
  /** Money is counted by it: what was spent stands above the form. */
  spend?: SpendDimension;
  /** Buttons beside delete. */
  actions?: (stored: T) => ReactNode;
  /** Where a deletion leaves something behind: what the question says, and what is done before: disabling can be undone, deleting cannot. */
  deletion?: (stored: T) => Deletion;
  children: (form: UseFormReturnType<V>, stored: T | null) => ReactNode;
}

export interface Deletion {
  hint: ReactNode;
  before(): Promise<unknown>;
}

export function ResourceDrawer<T, V extends Record<string, unknown>>({
  resource,
  name,
  createTitle,
  empty,
  toForm,
  toBody,
  validate,
  onClose,
  onCreated,
  spend,
  actions,
  deletion,
  children,
}: Props<T, V>) {
  const { t } = useTranslation();
  const one = useOne<T>(resource, name);
  const save = useSave<T>(resource);
  const remove = useRemove(resource);
  const confirmDelete = useConfirmDelete();
  const form = useForm<V>({ initialValues: empty, ...(validate && { validate }) });
  const stored = one.data ?? null;
  /** Of what the form was filled with: the page may read a later state meanwhile, which nobody has seen. */
  const filled = useRef<FilledWith<V>>({ values: empty, etag: null });
  const client = useQueryClient();
  useDraft(`${resource} ${name ?? ''}`, form, filled);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form is filled when the resource arrives, and never over what was typed since
  useEffect(() => {
    if (!stored || form.isDirty()) return;
    form.setValues(toForm(stored));
    form.resetDirty(toForm(stored));
    filled.current = { values: toForm(stored), etag: stored.$etag ?? null };
  }, [stored]);

  const { notice, onConflict } = useConflict<T, V>({
    form,
    filled,
    toForm,
    read: () => call(path(resource, name ?? '')),
    onThere: (there) => client.setQueryData([resource, 'one', name], there),
  });
  const onSave = async (values: V) => {
    const saved = await save.mutateAsync({ name, body: toBody(values), etag: filled.current.etag });
    if (name === null) onCreated?.(saved);
  };
  const askToRemove = (there: T) => {
    if (name === null) return;
    const also = deletion?.(there);
    const removeIt = async () => {
      await also?.before();
      await remove.mutateAsync({ name });
      onClose();
    };
    confirmDelete(name, removeIt, also?.hint);
  };

  return (
    <EditDrawer
      opened
      title={name ?? createTitle}
      onClose={onClose}
      form={form}
      isReady={name === null || stored !== null}
      onSave={onSave}
      {...(name !== null && { onConflict })}
      notice={notice}
      savedMessage={name === null ? t('created', { name: String(form.values['name'] ?? '') }) : t('saved')}
      actions={
        name !== null &&
        stored && (
          <>
            <Button color="red" variant="subtle" onClick={() => askToRemove(stored)}>
              {t('actions.delete')}
            </Button>
            {actions?.(stored)}
          </>
        )
      }
    >
      {one.isError && <FaultNotice error={one.error} onRetry={() => one.refetch()} />}
      {spend && name !== null && stored && <SpendHead by={spend} name={name} />}
      {(name === null || stored) && children(form, stored)}
    </EditDrawer>
  );
}
