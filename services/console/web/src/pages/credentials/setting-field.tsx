/** One setting that the vendor of a login wants to know. */
import { Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { SecretInput } from '../../components/secret-input.tsx';
import type { Setting } from './credential.ts';

interface Props {
  setting: Setting;
  value: string;
  error: ReactNode;
  onChange: (value: string) => void;
}

const multiline: ReadonlySet<string> = new Set(['client_cert', 'client_key', 'ca']);

export function SettingField({ setting: { name, description, default: usual, required, secret }, value, error, onChange }: Props) {
  const { t, i18n } = useTranslation('credentials');
  const props = {
    label: i18n.exists(`credentials:settings.${name}`) ? t(`settings.${name}`) : name,
    description: <span lang="en">{description}</span>,
    required,
    placeholder: usual ?? '',
    autoComplete: 'off',
    value,
    error,
    onChange: (event: React.ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => onChange(event.currentTarget.value),
  };
  // JSON and PEM have lines, which a field of one line would take away.
  if (name.endsWith('_json') || multiline.has(name))
    return <Textarea {...props} autosize minRows={3} maxRows={12} spellCheck={false} classNames={{ input: 'mono' }} />;
  return secret ? <SecretInput {...props} /> : <TextInput {...props} />;
}
