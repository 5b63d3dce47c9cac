/** One name over several models. */

import { ActionIcon, Button, Fieldset, Group, NumberInput, Select, Stack, Switch, TagsInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ResourceState } from '@model-gateway/console/answers';
import { IconPlus, IconScale, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../components/data-table.tsx';
import { Editable } from '../../components/editable.tsx';
import { NameLink } from '../../components/name-link.tsx';
import { NameSelect } from '../../components/name-select.tsx';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { ResourcePage } from '../../components/resource-page.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import { Nodes } from './nodes.tsx';
import { Pins } from './pins.tsx';

interface LoadBalancer extends Record<string, unknown> {
  name: string;
  /** How it stands; absent right after a change. */
  state?: ResourceState;
  aliases: string[];
  enabled: boolean;
  strategy: 'weighted' | 'priority' | 'least_latency';
  entries: { model: string; weight: number; enabled: boolean }[];
  static_binding: boolean;
}

const strategies = ['weighted', 'priority', 'least_latency'] as const;
const empty: LoadBalancer = {
  name: '',
  aliases: [],
  enabled: true,
  strategy: 'weighted',
  entries: [{ model: '', weight: 1, enabled: true }],
  static_binding: false,
};

const toForm = ({ name, aliases, enabled, strategy, entries, static_binding }: LoadBalancer): LoadBalancer => ({
  name,
  aliases,
  enabled,
  strategy,
  entries,
  static_binding,
});
const toBody = (form: LoadBalancer) => ({ ...form, name: form.name.trim(), entries: form.entries.filter(({ model }) => model !== '') });

export function LoadBalancersPage() {
  const { t } = useTranslation('load-balancers');
  const columns: Column<LoadBalancer>[] = [
    { id: 'strategy', title: t('strategy'), cell: ({ strategy }) => t(`strategies.${strategy}`) },
    {
      id: 'entries',
      title: t('entries'),
      wide: true,
      cell: ({ entries }) =>
        entries.length === 0
          ? '–'
          : entries.map(({ model, weight }, at) => (
              <span key={model} className="anywhere">
                {at > 0 && ', '}
                <NameLink kind="models" name={model} /> × {weight}
              </span>
            )),
    },
    { id: 'enabled', title: t('state'), cell: ({ enabled, state }) => <StateBadge state={state} enabled={enabled} /> },
  ];
  return (
    <ResourcePage
      resource="load-balancers"
      icon={IconScale}
      t={t}
      columns={columns}
      bulk={() => null}
      drawer={(name, close) => <BalancerDrawer name={name} onClose={close} />}
    />
  );
}

function BalancerDrawer({ name, onClose }: { name: string | null; onClose: () => void }) {
  const { t } = useTranslation('load-balancers');
  return (
    <ResourceDrawer<LoadBalancer, LoadBalancer>
      resource="load-balancers"
      name={name}
      createTitle={t('create')}
      empty={empty}
      toForm={toForm}
      toBody={toBody}
      onClose={onClose}
    >
      {(form, stored) => (
        <>
          <Editable>
            <TextInput label={t('name')} description={t('fields:load_balancer.name')} required disabled={name !== null} {...form.getInputProps('name')} />
            <TagsInput label={t('aliases')} description={t('fields:load_balancer.aliases')} {...form.getInputProps('aliases')} />
            <Select
              label={t('strategy')}
              description={t('fields:load_balancer.strategy')}
              allowDeselect={false}
              data={strategies.map((value) => ({ value, label: t(`strategies.${value}`) }))}
              {...form.getInputProps('strategy')}
            />
            <Entries form={form} />
            <Switch label={t('staticBinding')} {...form.getInputProps('static_binding', { type: 'checkbox' })} />
            <Switch label={t('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
          </Editable>
          {stored && <Nodes name={stored.name} />}
          {stored && <Pins name={stored.name} models={stored.entries.map(({ model }) => model)} />}
        </>
      )}
    </ResourceDrawer>
  );
}

function Entries({ form }: { form: UseFormReturnType<LoadBalancer> }) {
  const { t } = useTranslation('load-balancers');
  return (
    <Fieldset legend={t('entries')}>
      <Stack gap="xs">
        {form.values.entries.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order is the entries' only identity
          <Group key={index} align="flex-end" gap="xs">
            <NameSelect
              flex="1 1 180px"
              resource="models"
              label={t('model')}
              {...form.getInputProps(`entries.${index}.model`)}
              onChange={(value) => form.setFieldValue(`entries.${index}.model`, value ?? '')}
            />
            <NumberInput w={88} label={t('weight')} min={0} allowDecimal={false} {...form.getInputProps(`entries.${index}.weight`)} />
            <Switch pb={8} aria-label={`${t('entryEnabled')} ${entry.model}`} {...form.getInputProps(`entries.${index}.enabled`, { type: 'checkbox' })} />
            <ActionIcon size="lg" color="red" aria-label={t('removeEntry', { index: index + 1 })} onClick={() => form.removeListItem('entries', index)}>
              <IconTrash size={18} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button
            variant="light"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => form.insertListItem('entries', { model: '', weight: 1, enabled: true })}
          >
            {t('addEntry')}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}
