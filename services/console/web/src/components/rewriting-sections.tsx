/** The sections of an upstream's and of a model's form about what is rewritten in requests; both are tried in the studio. */
import type { UseFormReturnType } from '@mantine/form';
import type { TFunction } from 'i18next';
import type { FormSection } from './form-sections.tsx';
import { type RewritingForm, scriptSlots } from './rewriting.ts';
import { RulesEditor } from './rules-editor.tsx';
import { ScriptFields } from './script-fields.tsx';
import { StudioLink, type StudioOwner } from './studio-link.tsx';

interface Options {
  /** Whose they are, once stored: the studio begins with them. */
  of: StudioOwner | undefined;
  /** Said above the scripts: whose they take the place of. */
  scriptsHint?: string;
  /** Upstreams say what a script that fails does. */
  errorMode?: boolean;
}

export function rewritingSections<T extends RewritingForm & { script_error_mode?: string }>(
  form: UseFormReturnType<T>,
  t: TFunction,
  { of, scriptsHint, errorMode = false }: Options,
): FormSection[] {
  return [
    {
      id: 'rules',
      title: t('rules:title'),
      fields: ['request_body_rules'],
      content: (
        <>
          <StudioLink tab="rules" of={of} />
          <RulesEditor
            value={form.values.request_body_rules}
            onChange={(rules) => form.setFieldValue('request_body_rules' as never, rules as never)}
            error={form.errors['request_body_rules']}
          />
        </>
      ),
    },
    {
      id: 'scripts',
      title: t('scripts:title'),
      fields: [...scriptSlots, ...(errorMode ? ['script_error_mode'] : [])],
      content: <ScriptFields form={form} hint={scriptsHint} of={of} errorMode={errorMode} />,
    },
  ];
}
