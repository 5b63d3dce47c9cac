/** The first page: what passes through the gateway, how fast, at what price, and what wants attention. */
import { Anchor, Card, Group, Loader, SimpleGrid, Table, Text } from '@mantine/core';
import { IconActivity } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Summary, useSeries, useSummary, useTop } from '../../api/stats.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { changeOf, Figure } from '../../components/figure.tsx';
import { formatCompact, formatDuration, formatMoney, formatMoneyShort, formatNumber, formatPercent } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { type Range, RangeSelect, ranges } from '../../components/range-select.tsx';
import { StatsCharts } from '../../components/stats-charts.tsx';
import { NeedsAttention } from './attention.tsx';
import { LatestRequests } from './latest-requests.tsx';

/** Short ranges are watched, long ones are read. */
const refreshOf = (range: Range): number => (range === '1h' ? 5_000 : 30_000);

export function OverviewPage() {
  const { t } = useTranslation('overview');
  const [range, setRange] = useState<Range>('24h');
  const summary = useSummary(ranges[range], {}, refreshOf(range));
  const series = useSeries(ranges[range], {}, refreshOf(range));
  const nothing = summary.data?.requests === 0 && summary.data.previous?.requests === 0;
  return (
    <Page title={t('title')} hint={t('hint')} actions={<RangeSelect value={range} onChange={setRange} />}>
      {summary.isError && <FaultNotice error={summary.error} onRetry={() => summary.refetch()} />}
      {summary.data && <NeedsAttention isQuiet={nothing} />}
      {summary.isPending && <Loader mx="auto" aria-label={t('title')} />}
      {nothing && (
        <Card withBorder>
          <EmptyState
            icon={IconActivity}
            title={t('emptyTitle')}
            hint={t('emptyHint')}
            action={
              <Anchor component={Link} to="/start">
                {t('firstSteps')}
              </Anchor>
            }
          />
        </Card>
      )}
      {summary.data && !nothing && <Figures summary={summary.data} />}
      {series.data && !nothing && <StatsCharts answer={series.data} />}
      {!nothing && (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <TopCard by="model" ms={ranges[range]} title={t('topModels')} />
          <TopCard by="access_key" ms={ranges[range]} title={t('topKeys')} />
        </SimpleGrid>
      )}
      <LatestRequests />
    </Page>
  );
}

function Figures({ summary }: { summary: Summary }) {
  const { t } = useTranslation('overview');
  const { previous } = summary;
  const [first, ...others] = summary.cost;
  const before = previous?.cost.find(({ currency }) => currency === first?.currency)?.cost_micros;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, xl: 6 }} spacing="sm">
      <Figure label={t('requests')} value={formatCompact(summary.requests)} change={changeOf(summary.requests, previous?.requests)} />
      <Figure
        label={t('failed')}
        value={summary.error_rate === null ? '–' : formatPercent(summary.error_rate)}
        hint={t('failedCount', { text: formatNumber(summary.errors) })}
      />
      <Figure
        label={t('median')}
        value={formatDuration(summary.duration_ms.p50)}
        change={changeOf(summary.duration_ms.p50 ?? 0, previous?.duration_ms.p50 ?? undefined)}
        inverse
      />
      <Figure
        label={t('p95')}
        value={formatDuration(summary.duration_ms.p95)}
        hint={t('firstContent', { text: formatDuration(summary.first_content_ms.p50) })}
      />
      <Figure label={t('tokens')} value={formatCompact(summary.total_tokens)} change={changeOf(summary.total_tokens, previous?.total_tokens)} />
      <Figure
        label={t('cost')}
        value={first ? formatMoneyShort(first.cost_micros, first.currency) : '–'}
        change={first ? changeOf(first.cost_micros, before) : null}
        inverse
        {...(others.length > 0 && { hint: others.map(({ cost_micros, currency }) => `+ ${formatMoneyShort(cost_micros, currency)}`).join(' ') })}
      />
    </SimpleGrid>
  );
}

function TopCard({ by, ms, title }: { by: string; ms: number; title: string }) {
  const { t } = useTranslation('overview');
  const { data } = useTop(ms, { by, limit: 6, order: 'requests' });
  return (
    <Card withBorder padding={0}>
      <Group p="md" justify="space-between">
        <Text fw={600}>{title}</Text>
        <Anchor component={Link} to="/statistics" size="sm" search={{ by } as never}>
          {t('more')}
        </Anchor>
      </Group>
      <Table className="compact" aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t(by === 'model' ? 'model' : 'key')}</Table.Th>
            <Table.Th className="numeric">{t('requests')}</Table.Th>
            <Table.Th className="numeric">{t('cost')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {(data?.items ?? []).map((item) => (
            <Table.Tr key={item.value ?? ''}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {item.value === null ? (
                  // Their errors show what happened to these.
                  <Anchor component={Link} to="/statistics" size="sm" search={{ [by]: '', by: 'error' } as never}>
                    {t(`noneOf.${by}`)}
                  </Anchor>
                ) : (
                  <Anchor component={Link} to="/statistics" size="sm" search={{ [by]: item.value, by: by === 'model' ? 'access_key' : 'model' } as never}>
                    {item.value}
                  </Anchor>
                )}
              </Table.Td>
              <Table.Td className="numeric">{formatCompact(item.requests)}</Table.Td>
              <Table.Td className="numeric">{item.cost.map(({ cost_micros, currency }) => formatMoney(cost_micros, currency)).join(' + ') || '–'}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}
