/** The scripts of an upstream or a model, one editor for each slot; they are tried in the studio. */
import { Select, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from './code-editor.tsx';
import { type RewritingForm, scriptSlots } from './rewriting.ts';
import { StudioLink, type StudioOwner } from './studio-link.tsx';
import { useScriptCompletions } from './use-script-completions.ts';

interface Props<T extends RewritingForm> {
  form: UseFormReturnType<T>;
  /** Said above the editors: whose scripts these take the place of. */
  hint: string | undefined;
  /** Whose scripts they are, once stored: the studio begins with them. */
  of: StudioOwner | undefined;
  /** Upstreams say what a script that fails does. */
  errorMode: boolean;
}

const modes = ['log-and-continue', 'log-and-reject'] as const;

export function ScriptFields<T extends RewritingForm & { script_error_mode?: string }>({ form, hint, of, errorMode }: Props<T>) {
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
      {scriptSlots.map((field) => (
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
