/** The first page: what passes through the gateway right now and what wants attention. */
import { Card, Group, SimpleGrid, Table, Text } from '@mantine/core';
import { IconActivity } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatClock, formatDuration, formatNumber } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';

export interface LogRow {
  id: string;
  started_at: number;
  access_key: string | null;
  requested_model: string | null;
  upstream: string | null;
  status: number;
  error_code: string | null;
  input_tokens: number;
  output_tokens: number;
  duration_ms: number;
}

const refreshMs = 3_000;

export function OverviewPage() {
  const { t } = useTranslation('overview');
  const logs = useQuery({
    queryKey: ['logs', 'latest'],
    queryFn: ({ signal }) => call<{ items: LogRow[] }>('logs', { query: { limit: 50 }, signal }),
    refetchInterval: refreshMs,
  });
  const rows = logs.data?.items ?? [];
  const failed = rows.filter(({ status, error_code }) => status >= 400 || error_code !== null).length;
  const tokens = rows.reduce((sum, row) => sum + row.input_tokens + row.output_tokens, 0);
  const middle = [...rows].sort((one, other) => one.duration_ms - other.duration_ms)[Math.floor(rows.length / 2)]?.duration_ms ?? null;
  return (
    <Page title={t('title')} hint={t('hint')}>
      {logs.isError && <FaultNotice error={logs.error} onRetry={() => logs.refetch()} />}
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        <Figure label={t('requests')} value={formatNumber(rows.length)} />
        <Figure label={t('failed')} value={formatNumber(failed)} />
        <Figure label={t('median')} value={formatDuration(middle)} />
        <Figure label={t('tokens')} value={formatNumber(tokens)} />
      </SimpleGrid>
      <Card withBorder padding={0}>
        {rows.length === 0 && !logs.isPending ? <EmptyState icon={IconActivity} title={t('emptyTitle')} hint={t('emptyHint')} /> : <Latest rows={rows} />}
      </Card>
    </Page>
  );
}

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <Card withBorder>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text fz={26} fw={650} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {value}
      </Text>
    </Card>
  );
}

function Latest({ rows }: { rows: readonly LogRow[] }) {
  const { t } = useTranslation('overview');
  return (
    <>
      <Group p="md">
        <Text fw={600}>{t('latest')}</Text>
      </Group>
      <Table.ScrollContainer minWidth={560}>
        <Table aria-label={t('latest')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('time')}</Table.Th>
              <Table.Th>{t('key')}</Table.Th>
              <Table.Th>{t('model')}</Table.Th>
              <Table.Th>{t('status')}</Table.Th>
              <Table.Th className="numeric">{t('duration')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.id}>
                <Table.Td>{formatClock(row.started_at)}</Table.Td>
                <Table.Td>{row.access_key ?? '–'}</Table.Td>
                <Table.Td>{row.requested_model ?? '–'}</Table.Td>
                <Table.Td>
                  <Text size="sm" c={row.status >= 400 || row.error_code ? 'red' : undefined}>
                    {row.status} {row.error_code ?? ''}
                  </Text>
                </Table.Td>
                <Table.Td className="numeric">{formatDuration(row.duration_ms)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}
