/** Requests of the own keys, newest first. */
import { Badge, Button, Card, Group, Loader, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatAmount, formatDuration, formatNumber, formatRecent } from '../../components/format.ts';
import { useMyRequests } from './use-my.ts';

/** Days back. */
const days = 7;

export function MyRequestsTab() {
  const { t } = useTranslation('my');
  const list = useMyRequests(days);
  if (list.isError && !list.data) return <FaultNotice error={list.error} onRetry={() => list.refetch()} />;
  if (!list.data) return <Loader />;
  const items = list.data.pages.flatMap((page) => page.items);
  return (
    <Card withBorder padding={0}>
      {items.length === 0 && (
        <Text p="md" c="dimmed" role="status">
          {t('noRequests', { count: days })}
        </Text>
      )}
      {items.length > 0 && (
        <Table aria-label={t('tabs.requests')} className="compact">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('time')}</Table.Th>
              <Table.Th visibleFrom="md">{t('name')}</Table.Th>
              <Table.Th>{t('model')}</Table.Th>
              <Table.Th>{t('status')}</Table.Th>
              <Table.Th className="numeric" visibleFrom="md">
                {t('tokens')}
              </Table.Th>
              <Table.Th className="numeric">{t('cost')}</Table.Th>
              <Table.Th className="numeric" visibleFrom="md">
                {t('duration')}
              </Table.Th>
              <Table.Th visibleFrom="md">{t('address')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.map((row) => (
              <Table.Tr key={row.id}>
                <Table.Td>
                  {formatRecent(row.started_at)}
                  <Text size="xs" c="dimmed" className="anywhere" hiddenFrom="md">
                    {row.access_key}
                  </Text>
                </Table.Td>
                <Table.Td className="anywhere" visibleFrom="md">
                  {row.access_key}
                </Table.Td>
                <Table.Td className="anywhere">{row.model ?? row.requested_model ?? '–'}</Table.Td>
                <Table.Td>
                  <Badge variant="light" color={row.status < 400 ? 'gray' : 'red'} tt="none">
                    {row.status} {row.error_code}
                  </Badge>
                </Table.Td>
                <Table.Td className="numeric" visibleFrom="md">
                  {formatNumber(row.input_tokens + row.output_tokens)}
                </Table.Td>
                <Table.Td className="numeric nowrap">{row.currency === null ? '–' : formatAmount(row.cost, row.currency)}</Table.Td>
                <Table.Td className="numeric nowrap" visibleFrom="md">
                  {formatDuration(row.duration_ms)}
                </Table.Td>
                <Table.Td className="mono" visibleFrom="md">
                  {row.client_ip ?? '–'}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {list.hasNextPage && (
        <Group justify="center" p="sm">
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            {t('history:older')}
          </Button>
        </Group>
      )}
    </Card>
  );
}
