/** The scripts of an upstream or a model, one editor for each slot; they are tried in the studio. */
import { Select, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from './code-editor.tsx';
import { StudioLink, type StudioOwner } from './studio-link.tsx';
import { useScriptCompletions } from './use-script-completions.ts';

export const scriptSlotFields = ['request_transform_before', 'request_transform_after', 'response_transform'] as const;

/** Empty where there is none. */
export type ScriptsForm = Record<(typeof scriptSlotFields)[number], string>;
export type StoredScripts = Partial<Record<keyof ScriptsForm, string | null>>;

export const noScripts: ScriptsForm = { request_transform_before: '', request_transform_after: '', response_transform: '' };
export const scriptsForm = (stored: StoredScripts): ScriptsForm => ({
  request_transform_before: stored.request_transform_before ?? '',
  request_transform_after: stored.request_transform_after ?? '',
  response_transform: stored.response_transform ?? '',
});
export const scriptsBody = (form: ScriptsForm): Record<keyof ScriptsForm, string | null> => ({
  request_transform_before: form.request_transform_before.trim() === '' ? null : form.request_transform_before,
  request_transform_after: form.request_transform_after.trim() === '' ? null : form.request_transform_after,
  response_transform: form.response_transform.trim() === '' ? null : form.response_transform,
});

interface Props<T extends ScriptsForm> {
  form: UseFormReturnType<T>;
  /** Said above the editors: whose scripts these take the place of. */
  hint?: string;
  /** Whose scripts they are, once stored: the studio begins with them. */
  of?: StudioOwner;
  /** Upstreams say what a script that fails does. */
  errorMode?: boolean;
}

const modes = ['log-and-continue', 'log-and-reject'] as const;

export function ScriptFields<T extends ScriptsForm & { script_error_mode?: string }>({ form, hint, of, errorMode = false }: Props<T>) {
  const { t } = useTranslation('scripts');
  const { t: studio } = useTranslation('studio');
  const completions = useScriptCompletions();
  const set = (field: string, value: string) => form.setFieldValue(field as never, value as never);
  return (
    <>
      {hint && (
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
      )}
      <StudioLink tab="scripts" of={of} />
      {scriptSlotFields.map((field) => (
        <CodeEditor
          key={field}
          language="javascript"
          label={studio(`slots.${field}.name`)}
          description={studio(`slots.${field}.hint`)}
          minHeight="64px"
          maxHeight="360px"
          completions={completions}
          value={form.values[field]}
          onChange={(text) => set(field, text)}
          error={form.errors[field]}
        />
      ))}
      {errorMode && (
        <Select
          label={t('errorMode')}
          allowDeselect={false}
          data={modes.map((value) => ({ value, label: t(`modes.${value}`) }))}
          value={form.values.script_error_mode ?? modes[0]}
          onChange={(value) => value && set('script_error_mode', value)}
          error={form.errors['script_error_mode']}
        />
      )}
    </>
  );
}
