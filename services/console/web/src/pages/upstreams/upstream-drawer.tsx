/** Creates an upstream, or changes one: address, keys with weights, headers, time-outs. */
import { Accordion, ActionIcon, Button, Fieldset, Group, NumberInput, PasswordInput, Select, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useProtocols } from '../../api/use-protocols.ts';
import { CodeEditor } from '../../components/code-editor.tsx';
import { jsonFaults } from '../../components/json-text.ts';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { FetchModels } from './fetch-models.tsx';
import { emptyUpstream, timeoutNames, toBody, toForm, type Upstream, type UpstreamForm } from './upstream.ts';

type Form = UseFormReturnType<UpstreamForm>;

export function UpstreamDrawer({ name, onClose }: { name: string | null; onClose: () => void }) {
  const { t } = useTranslation('upstreams');
  const protocols = useProtocols();
  return (
    <ResourceDrawer<Upstream, UpstreamForm>
      resource="upstreams"
      name={name}
      createTitle={t('create')}
      empty={emptyUpstream}
      toForm={toForm}
      toBody={toBody}
      validate={({ extra_config }) => jsonFaults({ extra_config }, t('notJson'))}
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput label={t('name')} description={t('nameHint')} required disabled={name !== null} {...form.getInputProps('name')} />
          <Select label={t('protocol')} description={t('protocolHint')} required searchable data={protocols} {...form.getInputProps('protocol')} />
          <TextInput
            label={t('address')}
            description={t('addressHint')}
            placeholder="https://api.example.com/v1"
            required
            type="url"
            {...form.getInputProps('base_url')}
          />
          <Switch label={t('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
          <Keys form={form} />
          {name !== null && <FetchModels upstream={name} />}
          <Accordion variant="separated">
            <Accordion.Item value="headers">
              <Accordion.Control>{t('headers')}</Accordion.Control>
              <Accordion.Panel>
                <Headers form={form} />
              </Accordion.Panel>
            </Accordion.Item>
            <Accordion.Item value="calls">
              <Accordion.Control>{t('calls')}</Accordion.Control>
              <Accordion.Panel>
                <Calls form={form} />
              </Accordion.Panel>
            </Accordion.Item>
          </Accordion>
        </>
      )}
    </ResourceDrawer>
  );
}

function Keys({ form }: { form: Form }) {
  const { t } = useTranslation('upstreams');
  return (
    <Fieldset legend={t('keys')}>
      <Stack gap="xs">
        {form.values.api_keys.map((entry, index) => (
          <Group key={entry.id ?? `new ${index}`} align="flex-end" gap="xs" wrap="nowrap">
            <PasswordInput
              flex={1}
              label={t('key')}
              placeholder={entry.shown || t('keyPlaceholder')}
              description={entry.id ? t('keyKept') : undefined}
              autoComplete="off"
              {...form.getInputProps(`api_keys.${index}.key`)}
            />
            <NumberInput w={92} label={t('weight')} min={0} {...form.getInputProps(`api_keys.${index}.weight`)} />
            <ActionIcon size="lg" color="red" aria-label={t('removeKey', { index: index + 1 })} onClick={() => form.removeListItem('api_keys', index)}>
              <IconTrash size={18} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button
            variant="light"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => form.insertListItem('api_keys', { key: '', shown: '', weight: 1, account: '' })}
          >
            {t('addKey')}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}

function Headers({ form }: { form: Form }) {
  const { t } = useTranslation('upstreams');
  return (
    <Stack gap="xs">
      <TextInput label={t('userAgent')} {...form.getInputProps('user_agent')} />
      {form.values.custom_headers.map((_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the entries have no id of their own
        <Group key={index} align="flex-end" gap="xs" wrap="nowrap">
          <TextInput flex={1} label={t('headerName')} {...form.getInputProps(`custom_headers.${index}.name`)} />
          <TextInput flex={2} label={t('headerValue')} placeholder="{{request_id|access_key_hash}}" {...form.getInputProps(`custom_headers.${index}.value`)} />
          <ActionIcon size="lg" color="red" aria-label={t('removeHeader', { index: index + 1 })} onClick={() => form.removeListItem('custom_headers', index)}>
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          variant="light"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => form.insertListItem('custom_headers', { name: '', value: '' })}
        >
          {t('addHeader')}
        </Button>
      </Group>
    </Stack>
  );
}

function Calls({ form }: { form: Form }) {
  const { t } = useTranslation('upstreams');
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {timeoutNames.map((name) => (
          <NumberInput key={name} label={t(`timeouts.${name}`)} suffix=" ms" min={1} allowDecimal={false} {...form.getInputProps(`timeouts.${name}`)} />
        ))}
        <Select label={t('tokenCounting')} data={['upstreamApi', 'tiktoken']} {...form.getInputProps('token_counting')} />
        <Select label={t('onClientAbort')} data={['cancel', 'drain']} {...form.getInputProps('on_client_abort')} />
      </SimpleGrid>
      <CodeEditor
        language="json"
        label="extra_config"
        value={form.values.extra_config}
        onChange={(text) => form.setFieldValue('extra_config', text)}
        error={form.errors['extra_config']}
      />
    </Stack>
  );
}
