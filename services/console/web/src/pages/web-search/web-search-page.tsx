/** Where the gateway searches the web for models without a search of their own, and within which bounds. */
import { Button, Fieldset, Group, NumberInput, Select, SimpleGrid, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconWorldSearch } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { Column } from '../../components/data-table.tsx';
import { Editable } from '../../components/editable.tsx';
import { EnabledBadge } from '../../components/enabled-badge.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatAmount } from '../../components/format.ts';
import { NameSelect } from '../../components/name-select.tsx';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { ResourcePage } from '../../components/resource-page.tsx';
import { useIsAdmin } from '../../session/use-me.ts';
import { emptyProvider, kinds, type ProviderForm, type SearchConfig, type SearchProvider, toBody, toForm } from './search-provider.ts';

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
          <TextInput label={t('name')} required disabled={name !== null} {...form.getInputProps('name')} />
          <Select
            label={t('kind')}
            allowDeselect={false}
            data={kinds.map((value) => ({ value, label: t(`kinds.${value}`) }))}
            {...form.getInputProps('kind')}
          />
          <TextInput
            label={t('address')}
            description={t('fields:search_provider.base_url')}
            placeholder="https://search.example.com/search"
            {...form.getInputProps('base_url')}
          />
          <TextInput label={t('key')} description={t('fields:search_provider.api_key')} autoComplete="off" {...form.getInputProps('api_key')} />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <NumberInput label={t('price')} min={0} decimalScale={6} hideControls {...form.getInputProps('price_per_search')} />
            <TextInput label={t('currency')} maxLength={3} {...form.getInputProps('currency')} />
          </SimpleGrid>
          <Textarea label={t('description')} autosize {...form.getInputProps('description')} />
          <Switch label={t('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
        </Editable>
      )}
    </ResourceDrawer>
  );
}

/** Settings that are whole numbers; each has its bounds in the API, which names what is wrong. */
const figures = ['max_uses', 'max_rounds', 'max_results', 'timeout_ms', 'fetch_max_bytes', 'fetch_max_chars', 'fetch_max_redirects'] as const;

function Bounds() {
  const { t } = useTranslation('web-search');
  const isAdmin = useIsAdmin();
  const client = useQueryClient();
  const stored = useQuery({ queryKey: ['search-config'], queryFn: ({ signal }) => call<SearchConfig>('search-config', { signal }) });
  const form = useForm<Record<string, unknown>>({ initialValues: { default_provider: null, fetch_enabled: true } });
  const save = useMutation({
    mutationFn: ({ etag: _etag, ...body }: Record<string, unknown>) =>
      call<SearchConfig>('search-config', { method: 'PATCH', body, etag: stored.data?.etag ?? null }),
    onSuccess: (saved) => {
      client.setQueryData(['search-config'], saved);
      fill(saved);
    },
  });
  const fill = (config: SearchConfig): void => {
    form.setValues({ ...config });
    form.resetDirty({ ...config });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: filled when the settings arrive, and never over what was typed since
  useEffect(() => {
    if (stored.data && !form.isDirty()) fill(stored.data);
  }, [stored.data]);
  if (!stored.data) return stored.isError ? <FaultNotice error={stored.error} /> : null;
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Fieldset legend={t('bounds')} disabled={!isAdmin} mt="md">
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {t('boundsHint')}
          </Text>
          <NameSelect
            resource="search-providers"
            label={t('defaultProvider')}
            clearable
            value={(form.values['default_provider'] as string | null) ?? null}
            onChange={(value) => form.setFieldValue('default_provider', value)}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            {figures.map((figure) => (
              <NumberInput key={figure} label={t(`figures.${figure}`)} min={0} allowDecimal={false} {...form.getInputProps(figure)} />
            ))}
          </SimpleGrid>
          <Switch label={t('fetch')} description={t('fields:search_config.fetch_enabled')} {...form.getInputProps('fetch_enabled', { type: 'checkbox' })} />
          {save.isError && <FaultNotice error={save.error} />}
          {isAdmin && (
            <Group>
              <Button type="submit" loading={save.isPending} disabled={!form.isDirty()}>
                {t('saveBounds')}
              </Button>
            </Group>
          )}
        </Stack>
      </Fieldset>
    </form>
  );
}
