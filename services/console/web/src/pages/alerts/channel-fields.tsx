/** The form of an alert channel: what each kind needs, and nothing else. */
import { NumberInput, Select, SimpleGrid, Switch, TagsInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { SecretInput } from '../../components/secret-input.tsx';
import type { ChannelForm } from './alert-channel.ts';

type Form = UseFormReturnType<ChannelForm>;

export function TargetFields({ form }: { form: Form }) {
  const { t } = useTranslation('alerts');
  if (form.values.kind === 'email') return <MailFields form={form} />;
  return (
    <>
      <TextInput label={t('url')} description={t('urlHint')} required autoComplete="off" {...form.getInputProps('url')} />
      {form.values.kind === 'webhook' && <SecretInput label={t('secret')} description={t('secretHint')} autoComplete="off" {...form.getInputProps('secret')} />}
    </>
  );
}

function MailFields({ form }: { form: Form }) {
  const { t } = useTranslation('alerts');
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput label={t('host')} required {...form.getInputProps('smtp.host')} />
        <NumberInput label={t('port')} min={1} max={65535} {...form.getInputProps('smtp.port')} />
        <Select
          label={t('security')}
          allowDeselect={false}
          data={(['starttls', 'tls', 'none'] as const).map((value) => ({ value, label: t(`securities.${value}`) }))}
          {...form.getInputProps('smtp.security')}
        />
        <TextInput label={t('username')} autoComplete="off" {...form.getInputProps('smtp.username')} />
      </SimpleGrid>
      <SecretInput label={t('password')} autoComplete="off" {...form.getInputProps('smtp.password')} />
      <TextInput label={t('sender')} required {...form.getInputProps('from')} />
      <TagsInput label={t('to')} description={t('toHint')} {...form.getInputProps('to')} />
      <Switch label={t('toOwner')} description={t('toOwnerHint')} {...form.getInputProps('to_owner', { type: 'checkbox' })} />
    </>
  );
}
