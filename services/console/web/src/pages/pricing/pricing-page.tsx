/** What models cost: one record for a model or a family of models. */
import { ActionIcon, Button, Fieldset, Group, NumberInput, Select, SimpleGrid, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconCoins, IconPlus, IconTrash } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../components/data-table.tsx';
import { Editable } from '../../components/editable.tsx';
import { EnabledBadge } from '../../components/enabled-badge.tsx';
import { formatAmount, formatTime } from '../../components/format.ts';
import { PageLink } from '../../components/name-link.tsx';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { ResourcePage } from '../../components/resource-page.tsx';
import { emptyPrice, emptyServiceTier, emptyTier, modes, type Price, type PriceForm, toBody, toForm, tokenPrices } from './price.ts';

export function PricingPage() {
  const { t } = useTranslation('pricing');
  const columns: Column<Price>[] = [
    { id: 'model', title: t('model'), sort: 'model', cell: ({ model }) => <PricedModel model={model} /> },
    { id: 'price', title: t('price'), cell: (price) => <Summary {...price} /> },
    { id: 'from', title: t('validFrom'), wide: true, cell: ({ valid_from }) => (valid_from === null ? '–' : formatTime(valid_from)) },
    { id: 'enabled', title: t('state'), cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
  ];
  return <ResourcePage resource="pricing" icon={IconCoins} t={t} columns={columns} drawer={(name, close) => <PriceDrawer name={name} onClose={close} />} />;
}

/** A pattern is of no one model. */
const PricedModel = ({ model }: { model: string }) => (
  <>
    <span className="mono anywhere">{model}</span>
    {!model.includes('*') && <PageLink word="model" name={model} />}
  </>
);

function Summary({ mode, input, output, unit, currency }: Price) {
  const { t } = useTranslation('pricing');
  const text = mode === 'per_token' ? `${formatAmount(input, currency)} / ${formatAmount(output, currency)}` : formatAmount(unit, currency);
  return (
    <Text size="sm">
      {text}{' '}
      <Text span size="xs" c="dimmed">
        {t(`summary.${mode}`)}
      </Text>
    </Text>
  );
}

function PriceDrawer({ name, onClose }: { name: string | null; onClose: () => void }) {
  const { t } = useTranslation('pricing');
  // A link may say which model has no price yet.
  const { model } = useSearch({ strict: false }) as { model?: unknown };
  const asked = name === null && model !== undefined ? String(model) : '';
  return (
    <ResourceDrawer<Price, PriceForm>
      resource="pricing"
      name={name}
      createTitle={t('create')}
      empty={{ ...emptyPrice, model: asked }}
      toForm={toForm}
      toBody={toBody}
      onClose={onClose}
    >
      {(form) => (
        <Editable>
          <TextInput label={t('model')} description={t('fields:price.model')} required {...form.getInputProps('model')} />
          <TextInput label={t('name')} description={t('fields:price.name')} disabled={name !== null} {...form.getInputProps('name')} />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <Select
              label={t('mode')}
              allowDeselect={false}
              data={modes.map((value) => ({ value, label: t(`modes.${value}`) }))}
              {...form.getInputProps('mode')}
            />
            <TextInput label={t('currency')} maxLength={3} {...form.getInputProps('currency')} />
          </SimpleGrid>
          {form.values.mode === 'per_token' ? <TokenFields form={form} /> : <MoneyInput form={form} field="unit" label={t('unit')} required />}
          <TextInput
            label={t('validFrom')}
            description={t('fields:price.valid_from')}
            placeholder="2027-01-01T00:00:00Z"
            {...form.getInputProps('valid_from')}
          />
          <Textarea label={t('description')} autosize {...form.getInputProps('description')} />
          <Switch label={t('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
        </Editable>
      )}
    </ResourceDrawer>
  );
}

/** A price by tokens must name these; 0 is one. */
const needed: ReadonlySet<string> = new Set(['input', 'output']);

function MoneyInput({ form, field, label, required = false }: { form: UseFormReturnType<PriceForm>; field: string; label: string; required?: boolean }) {
  return <NumberInput label={label} required={required} min={0} decimalScale={6} hideControls {...form.getInputProps(field)} />;
}

function TokenFields({ form }: { form: UseFormReturnType<PriceForm> }) {
  const { t } = useTranslation('pricing');
  return (
    <>
      <Fieldset legend={t('perMillion')}>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {tokenPrices.map((kind) => (
            <MoneyInput key={kind} form={form} field={kind} label={t(`kinds.${kind}`)} required={needed.has(kind)} />
          ))}
        </SimpleGrid>
      </Fieldset>
      <TierList form={form} field="tiers" />
      <TierList form={form} field="service_tiers" />
    </>
  );
}

/** Prices that take the place of the record's own: of long requests, or of those that a tier of the upstream served. */
function TierList({ form, field }: { form: UseFormReturnType<PriceForm>; field: 'tiers' | 'service_tiers' }) {
  const { t } = useTranslation('pricing');
  const isServed = field === 'service_tiers';
  return (
    <Fieldset legend={t(field)}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t(`fields:price.${field}`)}
        </Text>
        {form.errors[field] && (
          <Text size="sm" c="red" role="alert">
            {form.errors[field]}
          </Text>
        )}
        {form.values[field].map((_tier, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order is the tiers' only identity
          <Stack key={index} gap="xs" role="group" aria-label={t(isServed ? 'serviceTier' : 'tier', { index: index + 1 })}>
            <Group align="flex-end" gap="xs">
              {isServed && <TextInput flex={1} label={t('servedTier')} placeholder="flex" required {...form.getInputProps(`${field}.${index}.service_tier`)} />}
              <NumberInput
                flex={1}
                label={t('above')}
                min={isServed ? 0 : 1}
                allowDecimal={false}
                hideControls
                {...form.getInputProps(`${field}.${index}.above_tokens`)}
              />
              <ActionIcon
                size="lg"
                color="red"
                aria-label={t(isServed ? 'removeServiceTier' : 'removeTier', { index: index + 1 })}
                onClick={() => form.removeListItem(field, index)}
              >
                <IconTrash size={18} aria-hidden />
              </ActionIcon>
            </Group>
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              {tokenPrices.map((kind) => (
                <MoneyInput key={kind} form={form} field={`${field}.${index}.${kind}`} label={t(`kinds.${kind}`)} />
              ))}
            </SimpleGrid>
          </Stack>
        ))}
        <Group>
          <Button
            variant="light"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => (isServed ? form.insertListItem('service_tiers', emptyServiceTier) : form.insertListItem('tiers', emptyTier))}
          >
            {t(isServed ? 'addServiceTier' : 'addTier')}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}
