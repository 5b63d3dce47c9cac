/** Where the gateway searches the web for models without a search of their own, and within which bounds. */
import { NumberInput, Select, SimpleGrid, Switch, Textarea, TextInput } from '@mantine/core';
import { IconWorldSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Column } from '../../components/data-table.tsx';
import { Editable } from '../../components/editable.tsx';
import { EnabledBadge } from '../../components/enabled-badge.tsx';
import { formatAmount } from '../../components/format.ts';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { ResourcePage } from '../../components/resource-page.tsx';
import { Bounds } from './bounds.tsx';
import { emptyProvider, kinds, type ProviderForm, type SearchProvider, toBody, toForm } from './search-provider.ts';

export function WebSearchPage() {
  const { t } = useTranslation('web-search');
  const columns: Column<SearchProvider>[] = [
    { id: 'kind', title: t('kind'), cell: ({ kind }) => t(`kinds.${kind}`) },
    { id: 'price', title: t('price'), cell: ({ price_per_search, currency }) => formatAmount(price_per_search, currency) },
    { id: 'enabled', title: t('state'), cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
  ];
  return (
    <ResourcePage
      resource="search-providers"
      icon={IconWorldSearch}
      t={t}
      columns={columns}
      drawer={(name, close) => <ProviderDrawer name={name} onClose={close} />}
    >
      <Bounds />
    </ResourcePage>
  );
}

function ProviderDrawer({ name, onClose }: { name: string | null; onClose: () => void }) {
  const { t } = useTranslation('web-search');
  return (
    <ResourceDrawer<SearchProvider, ProviderForm>
      resource="search-providers"
      name={name}
      createTitle={t('create')}
      empty={emptyProvider}
      toForm={toForm}
      toBody={toBody}
      onClose={onClose}
    >
      {(form) => (
        <Editable>
          <TextInput label={t('name')} description={t('fields:search_provider.name')} required disabled={name !== null} {...form.getInputProps('name')} />
          <Select
            label={t('kind')}
            description={t(`kindHints.${form.values.kind}`)}
            allowDeselect={false}
            data={kinds.map((value) => ({ value, label: t(`kinds.${value}`) }))}
            {...form.getInputProps('kind')}
          />
          <TextInput
            label={t('address')}
            description={t(hasOwnAddress(form.values.kind) ? 'addressOwn' : 'addressNeeded')}
            required={!hasOwnAddress(form.values.kind)}
            placeholder="https://search.example.com/search"
            {...form.getInputProps('base_url')}
          />
          <TextInput label={t('key')} description={t('fields:search_provider.api_key')} autoComplete="off" {...form.getInputProps('api_key')} />
          <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'end' }}>
            <NumberInput label={t('price')} description={t('priceHint')} min={0} decimalScale={6} hideControls {...form.getInputProps('price_per_search')} />
            <TextInput label={t('currency')} description={t('currencyHint')} maxLength={3} {...form.getInputProps('currency')} />
          </SimpleGrid>
          <Textarea label={t('description')} description={t('fields:search_provider.description')} autosize {...form.getInputProps('description')} />
          <Switch label={t('enabled')} description={t('fields:search_provider.enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
        </Editable>
      )}
    </ResourceDrawer>
  );
}

/** Kinds whose vendor has one address for everybody. */
const hasOwnAddress = (kind: SearchProvider['kind']): boolean => kind === 'brave' || kind === 'tavily';
