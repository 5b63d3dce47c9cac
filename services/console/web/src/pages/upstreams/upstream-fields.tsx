/** The parts of the upstream's form: keys, headers, network, calls. */
import { ActionIcon, Button, Fieldset, Group, NumberInput, Select, SimpleGrid, Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from '../../components/code-editor.tsx';
import { NameSelect } from '../../components/name-select.tsx';
import { OnBreakSelect } from '../../components/on-break-select.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { newKey, timeoutNames, type UpstreamForm } from './upstream.ts';

interface Props {
  form: UseFormReturnType<UpstreamForm>;
}

export function Keys({ form }: Props) {
  const { t } = useTranslation('upstreams');
  const byLogin = form.values.sso_credential !== '';
  return (
    <Fieldset legend={t('keys')}>
      <Stack gap="sm">
        {!byLogin &&
          form.values.api_keys.map((entry, index) => (
            <Group key={entry.id ?? `new ${index}`} align="flex-end" gap="xs">
              <SecretInput
                flex="2 1 150px"
                label={t('key')}
                placeholder={entry.id ? t('keyKept') : t('keyPlaceholder')}
                {...(entry.fingerprint && { description: t('keyFingerprint', { fingerprint: entry.fingerprint }) })}
                autoComplete="off"
                {...form.getInputProps(`api_keys.${index}.key`)}
              />
              <NumberInput w={80} label={t('weight')} min={0} allowDecimal={false} {...form.getInputProps(`api_keys.${index}.weight`)} />
              <TextInput flex="1 1 110px" label={t('account')} placeholder={t('accountOwn')} {...form.getInputProps(`api_keys.${index}.account`)} />
              <TextInput flex="1 1 110px" label={t('keyLabel')} maxLength={100} {...form.getInputProps(`api_keys.${index}.label`)} />
              <ActionIcon size="lg" color="red" aria-label={t('removeKey', { index: index + 1 })} onClick={() => form.removeListItem('api_keys', index)}>
                <IconTrash size={18} aria-hidden />
              </ActionIcon>
            </Group>
          ))}
        {!byLogin && <Add label={t('addKey')} onClick={() => form.insertListItem('api_keys', newKey)} />}
        <NameSelect
          resource="sso-credentials"
          label={t('login')}
          description={t('loginHint')}
          clearable
          error={form.errors['sso_credential']}
          value={form.values.sso_credential || null}
          onChange={(value) => form.setFieldValue('sso_credential', value ?? '')}
        />
      </Stack>
    </Fieldset>
  );
}

export function Headers({ form }: Props) {
  const { t } = useTranslation('upstreams');
  return (
    <>
      <TextInput label={t('userAgent')} description={t('fields:upstream.user_agent')} placeholder={t('gatewayOwn')} {...form.getInputProps('user_agent')} />
      {form.values.custom_headers.map((_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the entries have no id of their own
        <Group key={index} align="flex-end" gap="xs">
          <TextInput flex="1 1 140px" label={t('headerName')} {...form.getInputProps(`custom_headers.${index}.name`)} />
          <TextInput
            flex="2 1 180px"
            label={t('headerValue')}
            placeholder="{{request_id|access_key_hash}}"
            {...form.getInputProps(`custom_headers.${index}.value`)}
          />
          <ActionIcon size="lg" color="red" aria-label={t('removeHeader', { index: index + 1 })} onClick={() => form.removeListItem('custom_headers', index)}>
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      {typeof form.errors['custom_headers'] === 'string' && <FaultLine text={form.errors['custom_headers']} />}
      <Add label={t('addHeader')} onClick={() => form.insertListItem('custom_headers', { name: '', value: '' })} />
      <Switch label={t('neutralHeaders')} description={t('fields:upstream.neutral_headers')} {...form.getInputProps('neutral_headers', { type: 'checkbox' })} />
    </>
  );
}

/** Headers are named in the API and numbered here: their fault stands below the list. */
const FaultLine = ({ text }: { text: string }) => (
  <span role="alert" style={{ color: 'var(--mantine-color-error)', fontSize: 'var(--mantine-font-size-xs)' }}>
    {text}
  </span>
);

export function Network({ form }: Props) {
  const { t } = useTranslation('upstreams');
  const pem = { autosize: true, minRows: 2, maxRows: 6, placeholder: '-----BEGIN …', classNames: { input: 'mono' } } as const;
  return (
    <>
      <TextInput
        label={t('proxy')}
        description={t('fields:upstream.proxy')}
        placeholder="http://user:password@proxy:3128"
        autoComplete="off"
        {...form.getInputProps('proxy')}
      />
      <Group align="flex-start" grow preventGrowOverflow={false}>
        <TagsInput
          label={t('dnsServers')}
          description={t('fields:dns.servers')}
          placeholder="tls://9.9.9.9"
          style={{ flexBasis: 260 }}
          {...form.getInputProps('dns.servers')}
        />
        <NumberInput
          label={t('dnsTtl')}
          description={t('fields:dns.ttl_secs')}
          suffix=" s"
          min={0}
          allowDecimal={false}
          style={{ flexBasis: 120 }}
          {...form.getInputProps('dns.ttl_secs')}
        />
      </Group>
      <Fieldset legend="TLS">
        <Stack gap="sm">
          <Textarea label={t('tlsCa')} description={t('fields:tls.ca')} {...pem} {...form.getInputProps('tls.ca')} />
          <Textarea label={t('tlsCert')} description={t('fields:tls.client_cert')} {...pem} {...form.getInputProps('tls.client_cert')} />
          <Textarea label={t('tlsKey')} description={t('fields:tls.client_key')} {...pem} {...form.getInputProps('tls.client_key')} />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <Select
              label={t('tlsVersion')}
              placeholder="1.2"
              clearable
              data={['1.2', '1.3']}
              {...form.getInputProps('tls.min_version')}
              value={form.values.tls.min_version || null}
              onChange={(value) => form.setFieldValue('tls.min_version', value ?? '')}
            />
            <TextInput label={t('tlsName')} placeholder={t('tlsNameOwn')} {...form.getInputProps('tls.server_name')} />
          </SimpleGrid>
        </Stack>
      </Fieldset>
    </>
  );
}

export function Calls({ form }: Props) {
  const { t } = useTranslation('upstreams');
  const choices = (field: string, values: readonly string[]) => values.map((value) => ({ value, label: t(`${field}s.${value}`) }));
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {timeoutNames.map((name) => (
          <NumberInput
            key={name}
            label={t(`timeouts.${name}`)}
            description={t(`fields:timeouts.${name}`)}
            placeholder={t('gatewayOwn')}
            suffix=" ms"
            min={1}
            allowDecimal={false}
            {...form.getInputProps(`timeouts.${name}`)}
          />
        ))}
        <Select
          label={t('tokenCounting')}
          description={t('fields:upstream.token_counting')}
          allowDeselect={false}
          data={choices('counter', ['upstreamApi', 'tiktoken'])}
          {...form.getInputProps('token_counting')}
        />
        <Select
          label={t('onClientAbort')}
          description={t('fields:upstream.on_client_abort')}
          allowDeselect={false}
          data={choices('abort', ['cancel', 'drain'])}
          {...form.getInputProps('on_client_abort')}
        />
        <OnBreakSelect unset="finish" {...form.getInputProps('on_break')} />
      </SimpleGrid>
      <CodeEditor
        language="json"
        label={t('extraConfig')}
        description={t('fields:upstream.extra_config')}
        minHeight="64px"
        value={form.values.extra_config}
        onChange={(text) => form.setFieldValue('extra_config', text)}
        error={form.errors['extra_config']}
      />
    </>
  );
}

const Add = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <Group>
    <Button variant="light" size="xs" leftSection={<IconPlus size={14} aria-hidden />} onClick={onClick}>
      {label}
    </Button>
  </Group>
);
