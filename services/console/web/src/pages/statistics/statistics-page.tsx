/** Statistics with drill-down: a range, what to group by, and a click on a row to look inside it. */
import { Badge, Button, Card, CloseButton, Group, Select, Table, Text, UnstyledButton } from '@mantine/core';
import { IconChartBar, IconDownload } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Query, type TopItem, useSeries, useTop } from '../../api/stats.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatCompact, formatDuration, formatMoney, formatNumber, formatPercent } from '../../components/format.ts';
import { PageLink } from '../../components/name-link.tsx';
import { Page } from '../../components/page.tsx';
import { ProtocolName, useProtocolName } from '../../components/protocol.tsx';
import { isRange, RangeSelect, ranges } from '../../components/range-select.tsx';
import { saveTable } from '../../components/save-table.ts';
import { StatsCharts } from '../../components/stats-charts.tsx';
import { logFiltersOf, StretchBadge, stretchOf } from '../../components/stretch.tsx';
import { StackedCharts } from './stacked-charts.tsx';

const dimensions = ['model', 'access_key', 'key_group', 'upstream', 'client_protocol', 'upstream_protocol', 'error', 'session'] as const;
type Dimension = (typeof dimensions)[number];
/** Sessions are listed, not looked into. */
const filterable = dimensions.filter((name) => name !== 'session');
/** What sessions cannot be narrowed by. */
const noSessionFilters = Object.fromEntries(filterable.filter((name) => name !== 'access_key').map((name) => [name, undefined]));
const orders = ['requests', 'errors', 'tokens', 'cost', 'duration'] as const;

/** Their values are protocols. */
const byProtocol: ReadonlySet<string> = new Set(['client_protocol', 'upstream_protocol']);

const isDimension = (value: unknown): value is Dimension => dimensions.includes(value as Dimension);
const isOrder = (value: unknown): value is (typeof orders)[number] => orders.includes(value as (typeof orders)[number]);

export function StatisticsPage() {
  const { t } = useTranslation('statistics');
  const nameOf = useProtocolName();
  const shownAs = (name: string, value: string): string => (byProtocol.has(name) && value ? nameOf(value) : value);
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const range = isRange(search['range']) ? search['range'] : '7d';
  const by = isDimension(search['by']) ? search['by'] : 'model';
  const order = isOrder(search['order']) ? search['order'] : 'requests';
  const filters: Query = Object.fromEntries(filterable.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name]]] : [])));
  const change = (more: Record<string, unknown>) => void navigate({ to: '/statistics', search: { ...search, ...more } });
  const zoomed = stretchOf(search);
  const span = zoomed ?? ranges[range];
  const top = useTop(span, { by, order, limit: 100, ...filters });
  const series = useSeries(span, filters);
  const items = top.data?.items ?? [];
  const save = () =>
    saveTable(t, 'stats/top', { ...(zoomed ?? { from: Date.now() - ranges[range] }), by, order, limit: 1000, ...filters }, `statistics-${by}.csv`);
  const next = filterable.find((name) => name !== by && filters[name] === undefined && (name === 'access_key' || name === 'model')) ?? 'error';
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={
        <>
          <RangeSelect value={zoomed ? null : range} onChange={(value) => change({ range: value, from: undefined, to: undefined })} />
          <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />} onClick={() => void save()}>
            {t('export')}
          </Button>
        </>
      }
    >
      {(zoomed || Object.keys(filters).length > 0) && (
        <Group gap="xs">
          {zoomed && <StretchBadge stretch={zoomed} onRemove={() => change({ from: undefined, to: undefined })} />}
          {Object.entries(filters).map(([name, value]) => (
            <Badge
              key={name}
              size="lg"
              variant="light"
              tt="none"
              rightSection={<CloseButton size="xs" aria-label={t('removeFilter', { name: t(`by.${name}`) })} onClick={() => change({ [name]: undefined })} />}
            >
              {t(`by.${name}`)}: {shownAs(name, String(value)) || t([`noneOf.${name}`, 'none'])}
            </Badge>
          ))}
        </Group>
      )}
      {series.isError && <FaultNotice error={series.error} onRetry={() => series.refetch()} />}
      {series.data && <StatsCharts answer={series.data} filters={logFiltersOf(filters)} />}
      {by !== 'session' && <StackedCharts span={span} by={by} filters={filters} />}
      <Card withBorder padding={0}>
        <Group p="md" gap="sm">
          <Select
            label={t('groupBy')}
            data={dimensions.map((name) => ({ value: name, label: t(`by.${name}`) }))}
            value={by}
            allowDeselect={false}
            onChange={(value) => change({ by: value, ...(value === 'session' && noSessionFilters) })}
          />
          <Select
            label={t('order')}
            data={orders.map((name) => ({ value: name, label: t(`orders.${name}`) }))}
            value={order}
            allowDeselect={false}
            onChange={(value) => change({ order: value })}
          />
        </Group>
        {top.isError && <FaultNotice error={top.error} onRetry={() => top.refetch()} />}
        {top.isSuccess && items.length === 0 && <EmptyState icon={IconChartBar} title={t('nothing')} />}
        {items.length > 0 && (
          <TopTable
            items={items}
            by={by}
            caption={t(`by.${by}`)}
            onOpen={
              by === 'session'
                ? (item) => void navigate({ to: '/sessions', search: { session: item.value } })
                : // Requests without a model failed before one was resolved: they are broken down by error.
                  (item) => change({ [by]: item.value ?? '', by: item.value === null && by === 'model' ? 'error' : next })
            }
          />
        )}
      </Card>
      <Text size="xs" c="dimmed">
        {t('note')}
      </Text>
    </Page>
  );
}

function TopTable({ items, by, caption, onOpen }: { items: readonly TopItem[]; by: string; caption: string; onOpen: (item: TopItem) => void }) {
  const { t } = useTranslation('statistics');
  return (
    <Table.ScrollContainer minWidth={860}>
      <Table aria-label={caption}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{caption}</Table.Th>
            {['requests', 'errorRate', 'tokens', 'cost', 'average', 'p95', 'firstContent'].map((name) => (
              <Table.Th key={name} className="numeric">
                {t(name)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item) => (
            <Table.Tr key={`${item.value ?? ''} ${'access_key' in item ? item.access_key : ''}`}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <UnstyledButton fz="inherit" c="var(--mantine-color-anchor)" onClick={() => onOpen(item)}>
                  {item.value === null ? t([`noneOf.${by}`, 'none']) : byProtocol.has(by) ? <ProtocolName id={item.value} /> : item.value}
                </UnstyledButton>
                <PageLink word={by} name={item.value} />
              </Table.Td>
              <Table.Td className="numeric">{formatNumber(item.requests)}</Table.Td>
              <Table.Td className="numeric">
                <Text span inherit c={item.errors > 0 ? 'red' : undefined}>
                  {item.error_rate === null ? '–' : formatPercent(item.error_rate)}
                </Text>
              </Table.Td>
              <Table.Td className="numeric">{formatCompact(item.total_tokens)}</Table.Td>
              <Table.Td className="numeric">{item.cost.map(({ cost_micros, currency }) => formatMoney(cost_micros, currency)).join(' + ') || '–'}</Table.Td>
              <Table.Td className="numeric">{formatDuration('duration_ms' in item ? item.duration_ms.average : null)}</Table.Td>
              <Table.Td className="numeric">{formatDuration('duration_ms' in item ? item.duration_ms.p95 : null)}</Table.Td>
              <Table.Td className="numeric">{formatDuration('first_content_ms' in item ? item.first_content_ms.p50 : null)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
