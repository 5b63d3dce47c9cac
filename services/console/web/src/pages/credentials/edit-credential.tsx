/** What is said of a credential, and its settings that are no secret. Its tokens come by a login alone. */
import { Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { SsoCredential, SsoProfile } from '@model-gateway/console/answers';
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { EditDrawer } from '../../components/edit-drawer.tsx';
import { type Revised, useConflict } from '../../components/use-conflict.tsx';
import { type FilledWith, useDraft } from '../../components/use-draft.ts';
import { SettingField } from './setting-field.tsx';

interface Props {
  credential: SsoCredential;
  profile: SsoProfile;
  onClose: () => void;
}

interface Form extends Record<string, unknown> {
  description: string;
  settings: Record<string, string>;
}

export function EditCredential({ credential, profile, onClose }: Props) {
  const { t } = useTranslation('credentials');
  const client = useQueryClient();
  const { name } = credential;
  const form = useForm<Form>({ initialValues: toForm(credential) });
  // As it was when the form was filled: it is looked at again every few seconds.
  const filled = useRef<FilledWith<Form>>({ values: form.values, etag: `"${credential.etag}"` });
  useDraft(`sso-credentials ${name}`, form, filled);
  const { notice, onConflict } = useConflict<SsoCredential, Form>({ form, filled, toForm, groups: ['settings'], read: () => read(name) });
  const save = async ({ description, settings }: Form) => {
    await change(name, filled.current, { description, settings: Object.fromEntries(open.map((one) => [one.name, settings[one.name]?.trim() || null])) });
    await client.invalidateQueries();
  };
  const open = profile.settings.filter(({ secret }) => !secret);
  return (
    <EditDrawer<Form> title={t('editTitle', { name })} opened onClose={onClose} form={form} isReady onSave={save} onConflict={onConflict} notice={notice}>
      <Textarea label={t('description')} autosize minRows={2} maxRows={8} {...form.getInputProps('description')} />
      {open.map((setting) => (
        <SettingField
          key={setting.name}
          setting={setting}
          value={form.values.settings[setting.name] ?? ''}
          error={form.errors[`settings.${setting.name}`]}
          onChange={(value) => {
            form.setFieldValue('settings', { ...form.values.settings, [setting.name]: value });
            form.clearFieldError(`settings.${setting.name}`);
          }}
        />
      ))}
    </EditDrawer>
  );
}

const toForm = ({ description, settings }: SsoCredential): Form => ({
  description,
  settings: Object.fromEntries(Object.entries(settings).sort(([one], [other]) => (one < other ? -1 : 1))),
});
const read = (name: string) => call<Revised<SsoCredential>>(path('sso-credentials', name));

const tries = 5;

/** A refresh moves the revision as well: it is no conflict as long as nobody changed what is edited here. */
async function change(name: string, filled: FilledWith<Form>, body: object): Promise<void> {
  for (let tried = 1, { etag } = filled; ; tried++) {
    try {
      await call(path('sso-credentials', name), { method: 'PATCH', body, etag });
      return;
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.status !== 412 || tried === tries) throw error;
      const now = await read(name);
      if (JSON.stringify(toForm(now)) !== JSON.stringify(filled.values)) throw error;
      etag = now.$etag ?? null;
    }
  }
}
