/** Sessions of coding agents: what each used and cost, and the story of one. */
import { Card, Group, SegmentedControl, Table, TextInput } from '@mantine/core';
import type { SessionItem } from '@model-gateway/console/answers';
import { IconMessages } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatCompact, formatDuration, formatMoney, formatNumber, formatRecent } from '../../components/format.ts';
import { NameLink } from '../../components/name-link.tsx';
import { NameSelect } from '../../components/name-select.tsx';
import { Page } from '../../components/page.tsx';
import { isRange, RangeSelect, ranges } from '../../components/range-select.tsx';
import { useFilter } from '../../components/use-address-state.ts';
import { SessionView } from './session-view.tsx';

const orders = ['last', 'cost', 'requests'] as const;
const refreshMs = 30_000;
const limit = 200;

export function SessionsPage() {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const id = search['session'];
  return id === undefined || id === null || id === '' ? <SessionList /> : <SessionView key={String(id)} id={String(id)} />;
}

function SessionList() {
  const { t } = useTranslation('sessions');
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const range = isRange(search['range']) ? search['range'] : '24h';
  const order = orders.find((name) => name === search['order']) ?? 'last';
  const [key, setKey] = useFilter('access_key');
  const change = (more: object) => void navigate({ to: '/sessions', search: { ...search, ...more } as never });
  const sessions = useQuery({
    queryKey: ['stats', 'sessions', range, order, key],
    queryFn: ({ signal }) =>
      call<{ items: SessionItem[] }>('stats/sessions', { query: { from: Date.now() - ranges[range], order, limit, access_key: key }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });
  const items = sessions.data?.items ?? [];
  const onFind = (value: string) => value.trim() !== '' && change({ session: value.trim() });
  return (
    <Page title={t('title')} hint={t('hint')} actions={<RangeSelect value={range} onChange={(value) => change({ range: value })} />}>
      {sessions.isError && <FaultNotice error={sessions.error} onRetry={() => sessions.refetch()} />}
      <Card withBorder padding={0}>
        <Group p="sm" gap="sm" align="flex-end">
          <NameSelect resource="access-keys" aria-label={t('ofKey')} placeholder={t('allKeys')} clearable value={key} onChange={setKey} />
          <TextInput
            aria-label={t('find')}
            placeholder={t('find')}
            onKeyDown={(event) => event.key === 'Enter' && onFind(event.currentTarget.value)}
            maxLength={512}
          />
          <SegmentedControl
            aria-label={t('order')}
            data={orders.map((name) => ({ value: name, label: t(`orders.${name}`) }))}
            value={order}
            onChange={(value) => change({ order: value })}
          />
        </Group>
        {sessions.isSuccess && items.length === 0 && <EmptyState icon={IconMessages} title={t('nothing')} hint={t('nothingHint')} />}
        {items.length > 0 && <SessionTable items={items} onOpen={({ session_id }) => change({ session: session_id })} />}
      </Card>
    </Page>
  );
}

function SessionTable({ items, onOpen }: { items: readonly SessionItem[]; onOpen: (item: SessionItem) => void }) {
  const { t } = useTranslation('sessions');
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table aria-label={t('title')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('session')}</Table.Th>
            <Table.Th>{t('key')}</Table.Th>
            <Table.Th>{t('last')}</Table.Th>
            {['took', 'turns', 'errors', 'tokens', 'fromCache', 'cost'].map((name) => (
              <Table.Th key={name} className="numeric">
                {t(name)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item) => (
            <Table.Tr key={`${item.session_id} ${item.access_key}`} className="clickable-row" onClick={() => onOpen(item)}>
              <Table.Td>
                <NameLink kind="session" name={item.session_id} className="anywhere mono" />
              </Table.Td>
              <Table.Td>
                <NameLink kind="access-keys" name={item.access_key} />
              </Table.Td>
              <Table.Td className="nowrap">{formatRecent(item.last_at)}</Table.Td>
              <Table.Td className="numeric">{formatDuration(item.last_at - item.first_at)}</Table.Td>
              <Table.Td className="numeric">{formatNumber(item.requests)}</Table.Td>
              <Table.Td className="numeric">{formatNumber(item.errors)}</Table.Td>
              <Table.Td className="numeric">{formatCompact(item.total_tokens)}</Table.Td>
              <Table.Td className="numeric">{formatCompact(item.cache_read_tokens)}</Table.Td>
              <Table.Td className="numeric">{item.cost.map(({ cost_micros, currency }) => formatMoney(cost_micros, currency)).join(' + ') || '–'}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
