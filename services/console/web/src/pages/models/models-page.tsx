/** Names that callers use, and what stands behind each. */

import { Button, Group, Select, SimpleGrid, Switch, TagsInput, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ResourceState } from '@model-gateway/console/answers';
import { IconBox, IconMessages } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useProtocols } from '../../api/use-protocols.ts';
import { CodeEditor } from '../../components/code-editor.tsx';
import type { Column } from '../../components/data-table.tsx';
import { Editable } from '../../components/editable.tsx';
import { FormSections } from '../../components/form-sections.tsx';
import { jsonFaults, parseOrNull, printOrEmpty } from '../../components/json-text.ts';
import { NameLink } from '../../components/name-link.tsx';
import { NameSelect } from '../../components/name-select.tsx';
import { ProtocolSelect } from '../../components/protocol.tsx';
import { emptyRateLimit, RateLimitFields, type RateLimitForm, rateLimitBody, rateLimitForm } from '../../components/rate-limit-fields.tsx';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { ResourcePage } from '../../components/resource-page.tsx';
import { noRewriting, type RewritingForm, rewritingBody, rewritingForm, type StoredRewriting } from '../../components/rewriting.ts';
import { rewritingSections } from '../../components/rewriting-sections.tsx';
import { StateBadge } from '../../components/state-badge.tsx';

interface Model extends StoredRewriting {
  name: string;
  /** How it stands; absent right after a change. */
  state?: ResourceState;
  upstream: string;
  upstream_model_id: string;
  aliases: string[];
  hide_name: boolean;
  signature_passthrough: boolean;
  protocol: string | null;
  base_url: string | null;
  direct_path: boolean;
  kind: string | null;
  inference_profile: string | null;
  token_counting: string;
  rate_limit: unknown;
  extra_config: Record<string, unknown> | null;
  enabled: boolean;
}

interface ModelForm extends Record<string, unknown>, RewritingForm {
  name: string;
  upstream: string;
  upstream_model_id: string;
  aliases: string[];
  hide_name: boolean;
  signature_passthrough: boolean;
  protocol: string;
  base_url: string;
  direct_path: boolean;
  kind: string;
  inference_profile: string;
  token_counting: string;
  rate_limit: RateLimitForm;
  extra_config: string;
  enabled: boolean;
}

const empty: ModelForm = {
  name: '',
  upstream: '',
  upstream_model_id: '',
  aliases: [],
  hide_name: false,
  signature_passthrough: false,
  protocol: '',
  base_url: '',
  direct_path: false,
  kind: '',
  inference_profile: '',
  token_counting: 'inherit',
  rate_limit: emptyRateLimit,
  extra_config: '',
  ...noRewriting,
  enabled: true,
};

/** Texts that are empty in the form and null in the API. */
const optional = ['protocol', 'base_url', 'kind', 'inference_profile'] as const;

function toForm(model: Model): ModelForm {
  const texts = Object.fromEntries(optional.map((field) => [field, model[field] ?? '']));
  const known = Object.fromEntries(Object.keys(empty).map((field) => [field, (model as unknown as Record<string, unknown>)[field]]));
  return {
    ...(known as ModelForm),
    ...texts,
    rate_limit: rateLimitForm(model.rate_limit),
    extra_config: printOrEmpty(model.extra_config),
    ...rewritingForm(model),
  };
}

const toBody = (form: ModelForm) => ({
  ...form,
  name: form.name.trim(),
  upstream_model_id: form.upstream_model_id.trim() || form.name.trim(),
  ...Object.fromEntries(optional.map((field) => [field, form[field].trim() || null])),
  rate_limit: rateLimitBody(form.rate_limit, 'inherit'),
  extra_config: parseOrNull(form.extra_config),
  ...rewritingBody(form),
});

export function ModelsPage() {
  const { t } = useTranslation('models');
  const columns: Column<Model>[] = [
    { id: 'upstream', title: t('upstream'), sort: 'upstream', cell: ({ upstream }) => <NameLink kind="upstreams" name={upstream} /> },
    {
      id: 'id',
      title: t('upstreamModelId'),
      wide: true,
      cell: ({ upstream_model_id }) => (
        <Text size="sm" className="mono">
          {upstream_model_id}
        </Text>
      ),
    },
    { id: 'aliases', title: t('aliases'), wide: true, cell: ({ aliases, hide_name }) => <Names aliases={aliases} hidden={hide_name} /> },
    { id: 'enabled', title: t('state'), cell: ({ enabled, state }) => <StateBadge state={state} enabled={enabled} /> },
  ];
  return (
    <ResourcePage
      resource="models"
      spend="model"
      icon={IconBox}
      t={t}
      columns={columns}
      bulk={() => null}
      drawer={(name, close) => <ModelDrawer name={name} onClose={close} />}
    />
  );
}

function Names({ aliases, hidden }: { aliases: string[]; hidden: boolean }) {
  const { t } = useTranslation('models');
  return (
    <Group gap={6}>
      <Text size="sm">{aliases.join(', ') || '–'}</Text>
      {hidden && (
        <Text size="xs" c="dimmed">
          {t('hidden')}
        </Text>
      )}
    </Group>
  );
}

function ModelDrawer({ name, onClose }: { name: string | null; onClose: () => void }) {
  const { t } = useTranslation('models');
  return (
    <ResourceDrawer<Model, ModelForm>
      resource="models"
      spend="model"
      name={name}
      createTitle={t('create')}
      empty={empty}
      toForm={toForm}
      toBody={toBody}
      validate={({ extra_config }) => jsonFaults({ extra_config }, t('notJson'))}
      onClose={onClose}
      actions={(stored) => <TryButton model={stored.hide_name ? (stored.aliases[0] ?? stored.name) : stored.name} />}
    >
      {(form) => (
        <>
          <Editable>
            <TextInput label={t('name')} description={t('fields:model.name')} required disabled={name !== null} {...form.getInputProps('name')} />
            <NameSelect
              resource="upstreams"
              label={t('upstream')}
              required
              {...form.getInputProps('upstream')}
              onChange={(value) => form.setFieldValue('upstream', value ?? '')}
            />
            <TextInput
              label={t('upstreamModelId')}
              description={t('fields:model.upstream_model_id')}
              placeholder={form.values.name}
              {...form.getInputProps('upstream_model_id')}
            />
            <TagsInput label={t('aliases')} description={t('fields:model.aliases')} {...form.getInputProps('aliases')} />
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <Switch label={t('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
              <Switch label={t('hideName')} description={t('fields:model.hide_name')} {...form.getInputProps('hide_name', { type: 'checkbox' })} />
            </SimpleGrid>
          </Editable>
          <FormSections
            errors={form.errors}
            sections={[
              { id: 'overrides', title: t('overrides'), fields: overrideFields, content: <Overrides form={form} /> },
              ...rewritingSections(form, t, { of: name === null ? undefined : { model: name }, scriptsHint: t('scripts:modelHint') }),
              {
                id: 'limits',
                title: t('limits'),
                fields: ['rate_limit'],
                content: (
                  <>
                    <Text size="sm" c="dimmed">
                      {t('fields:model.rate_limit')}
                    </Text>
                    <RateLimitFields form={form} field="rate_limit" />
                  </>
                ),
              },
            ]}
          />
        </>
      )}
    </ResourceDrawer>
  );
}

function TryButton({ model }: { model: string }) {
  const { t } = useTranslation('models');
  return (
    <Button component="a" variant="subtle" href={`/console/playground?model=${encodeURIComponent(model)}`} leftSection={<IconMessages size={16} aria-hidden />}>
      {t('try')}
    </Button>
  );
}

const overrideFields = ['protocol', 'kind', 'base_url', 'inference_profile', 'token_counting', 'direct_path', 'signature_passthrough', 'extra_config'];

function Overrides({ form }: { form: UseFormReturnType<ModelForm> }) {
  const { t } = useTranslation('models');
  const protocols = useProtocols();
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <ProtocolSelect
          label={t('protocol')}
          placeholder={t('inherit')}
          clearable
          searchable
          protocols={protocols}
          {...form.getInputProps('protocol')}
          value={form.values.protocol || null}
          onChange={(value) => form.setFieldValue('protocol', value ?? '')}
        />
        <TextInput label={t('baseUrl')} placeholder={t('inherit')} type="url" {...form.getInputProps('base_url')} />
        <Select
          label={t('tokenCounting')}
          allowDeselect={false}
          data={['inherit', 'upstreamApi', 'tiktoken'].map((value) => ({ value, label: t(`counters.${value}`) }))}
          {...form.getInputProps('token_counting')}
        />
        <TextInput label={t('kind')} description={t('fields:model.kind')} placeholder={t('kindNone')} {...form.getInputProps('kind')} />
        <TextInput label={t('inferenceProfile')} description={t('fields:model.inference_profile')} {...form.getInputProps('inference_profile')} />
      </SimpleGrid>
      <Switch label={t('directPath')} description={t('fields:model.direct_path')} {...form.getInputProps('direct_path', { type: 'checkbox' })} />
      <Switch
        label={t('signaturePassthrough')}
        description={t('fields:model.signature_passthrough')}
        {...form.getInputProps('signature_passthrough', { type: 'checkbox' })}
      />
      <CodeEditor
        language="json"
        label={t('extraConfig')}
        description={t('fields:model.extra_config')}
        minHeight="64px"
        value={form.values.extra_config}
        onChange={(text) => form.setFieldValue('extra_config', text)}
        error={form.errors['extra_config']}
      />
    </>
  );
}
