/** Creates an upstream, or changes one. */
import { Stack, Switch, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useProtocols } from '../../api/use-protocols.ts';
import { Editable } from '../../components/editable.tsx';
import { FormSections } from '../../components/form-sections.tsx';
import { jsonFaults } from '../../components/json-text.ts';
import { ProtocolSelect } from '../../components/protocol.tsx';
import { RateLimitFields } from '../../components/rate-limit-fields.tsx';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { rewritingSections } from '../../components/rewriting-sections.tsx';
import { FetchModels } from './fetch-models.tsx';
import { emptyUpstream, toBody, toForm, type Upstream, type UpstreamForm } from './upstream.ts';
import { Calls, Headers, Keys, Network } from './upstream-fields.tsx';

export function UpstreamDrawer({ name, onClose }: { name: string | null; onClose: () => void }) {
  const { t } = useTranslation('upstreams');
  const protocols = useProtocols();
  return (
    <ResourceDrawer<Upstream, UpstreamForm>
      resource="upstreams"
      spend="upstream"
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
          <Editable>
            <TextInput label={t('name')} description={t('fields:upstream.name')} required disabled={name !== null} {...form.getInputProps('name')} />
            <ProtocolSelect
              label={t('protocol')}
              description={t('fields:upstream.protocol')}
              required
              searchable
              protocols={protocols}
              {...form.getInputProps('protocol')}
              onChange={(value) => form.setFieldValue('protocol', value ?? '')}
            />
            <TextInput
              label={t('address')}
              description={t('fields:upstream.base_url')}
              placeholder="https://api.example.com/v1"
              required
              type="url"
              {...form.getInputProps('base_url')}
            />
            <Switch label={t('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
            <Keys form={form} />
            {name !== null && <FetchModels upstream={name} />}
          </Editable>
          <FormSections
            errors={form.errors}
            sections={[
              { id: 'headers', title: t('headers'), fields: ['custom_headers', 'user_agent', 'neutral_headers'], content: <Headers form={form} /> },
              { id: 'limits', title: t('limits'), fields: ['rate_limit'], content: <RateLimitFields form={form} field="rate_limit" /> },
              ...rewritingSections(form, t, { of: name === null ? undefined : { upstream: name }, errorMode: true }),
              { id: 'network', title: t('network'), fields: ['proxy', 'dns', 'tls'], content: <Network form={form} /> },
              {
                id: 'calls',
                title: t('calls'),
                fields: ['timeouts', 'token_counting', 'on_client_abort', 'on_break', 'extra_config'],
                content: (
                  <Stack gap="sm">
                    <Calls form={form} />
                  </Stack>
                ),
              },
            ]}
          />
        </>
      )}
    </ResourceDrawer>
  );
}
