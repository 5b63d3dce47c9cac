/** What a login begins with: its kind, its name, the vendor's settings, and what was pasted. */
import { Alert, Select, Stack, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { SsoProfile } from '@model-gateway/console/answers';
import { useTranslation } from 'react-i18next';
import { FormSections } from '../../components/form-sections.tsx';
import type { Flow, LoginForm, Setting } from './credential.ts';
import { SettingField } from './setting-field.tsx';

interface Props {
  form: UseFormReturnType<LoginForm>;
  profiles: readonly SsoProfile[];
  profile: SsoProfile;
  isAgain: boolean;
}

export function LoginFields({ form, profiles, profile, isAgain }: Props) {
  const { t } = useTranslation('credentials');
  const { flow } = form.values;
  const choose = (id: string | null) => {
    const chosen = profiles.find((one) => one.id === id);
    if (!chosen) return;
    form.setValues({ profile: chosen.id, flow: chosen.flows[0] ?? '', settings: {} });
    form.clearErrors();
  };
  const isFirst = ({ required, name }: Setting): boolean => required || firstSettings.has(name);
  const first = profile.settings.filter(isFirst);
  const more = profile.settings.filter((setting) => !isFirst(setting));
  return (
    <>
      <Select
        label={t('profile')}
        required
        allowDeselect={false}
        disabled={isAgain}
        data={profiles.map(({ id, name }) => ({ value: id, label: name }))}
        {...form.getInputProps('profile')}
        onChange={choose}
      />
      {profile.note !== '' && (
        <Alert color={profile.experimental ? 'orange' : 'gray'} title={profile.experimental ? t('experimental') : undefined}>
          <span lang="en">{profile.note}</span>
        </Alert>
      )}
      <TextInput label={t('name')} description={t('nameHint')} required disabled={isAgain} autoComplete="off" {...form.getInputProps('name')} />
      {profile.flows.length > 1 && (
        <Select
          label={t('flow')}
          allowDeselect={false}
          data={profile.flows.map((value) => ({ value, label: t(`flows.${value}`) }))}
          {...form.getInputProps('flow')}
          onChange={(value) => form.setFieldValue('flow', (value ?? '') as Flow | '')}
        />
      )}
      {first.map((setting) => (
        <FormSetting key={setting.name} form={form} setting={setting} />
      ))}
      {flow === 'paste' && (
        <Textarea
          label={t('tokens')}
          description={t('tokensHint')}
          required
          autosize
          minRows={4}
          maxRows={12}
          spellCheck={false}
          autoComplete="off"
          classNames={{ input: 'mono' }}
          {...form.getInputProps('tokens')}
        />
      )}
      {!isAgain && <TextInput label={t('upstream')} description={t('upstreamHint')} autoComplete="off" {...form.getInputProps('upstream.name')} />}
      <FormSections
        errors={form.errors}
        sections={[
          {
            id: 'more',
            title: t('more'),
            fields: ['settings', 'account', 'upstream'],
            content: (
              <Stack gap="sm">
                {more.map((setting) => (
                  <FormSetting key={setting.name} form={form} setting={setting} />
                ))}
                <TextInput label={t('account')} description={t('accountHint')} autoComplete="off" {...form.getInputProps('account')} />
              </Stack>
            ),
          },
        ]}
      />
    </>
  );
}

/** Not required by themselves, and yet what decides how a machine gets in. */
const firstSettings: ReadonlySet<string> = new Set(['source', 'region', 'role_arn', 'key_json', 'tenant_id', 'client_id', 'client_secret', 'token_file']);

function FormSetting({ form, setting }: { form: Props['form']; setting: Setting }) {
  const field = `settings.${setting.name}`;
  return (
    <SettingField
      setting={setting}
      value={form.values.settings[setting.name] ?? ''}
      error={form.errors[field]}
      onChange={(value) => {
        form.setFieldValue('settings', { ...form.values.settings, [setting.name]: value });
        form.clearFieldError(field);
      }}
    />
  );
}
