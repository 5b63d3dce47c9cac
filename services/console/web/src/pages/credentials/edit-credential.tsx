/** What is said of a credential, and its settings that are no secret. Its tokens come by a login alone. */
import { Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { SsoCredential, SsoProfile } from '@model-gateway/console/answers';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { EditDrawer } from '../../components/edit-drawer.tsx';
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
  // As it was when the form was filled: it is looked at again every few seconds.
  const [before] = useState(credential);
  const form = useForm<Form>({ initialValues: { description: before.description, settings: { ...before.settings } } });
  const save = async ({ description, settings }: Form) => {
    await change(before, { description, settings: Object.fromEntries(open.map(({ name }) => [name, settings[name]?.trim() || null])) });
    await client.invalidateQueries();
  };
  const open = profile.settings.filter(({ secret }) => !secret);
  return (
    <EditDrawer<Form> title={t('editTitle', { name: before.name })} opened onClose={onClose} form={form} isReady onSave={save}>
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

const tries = 5;

/** A refresh moves the revision as well: it is no conflict as long as nobody changed what is edited here. */
async function change(before: SsoCredential, body: object): Promise<void> {
  const where = path('sso-credentials', before.name);
  for (let tried = 1, { etag } = before; ; tried++) {
    try {
      await call(where, { method: 'PATCH', body, etag: `"${etag}"` });
      return;
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.status !== 412 || tried === tries) throw error;
      const now = await call<SsoCredential>(where);
      if (now.description !== before.description || textOf(now) !== textOf(before)) throw error;
      etag = now.etag;
    }
  }
}

const textOf = ({ settings }: SsoCredential): string => JSON.stringify(Object.entries(settings).sort());
