/** The last requests, read again every few seconds. */
import { Anchor, Card, Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { LogRow } from '../../api/stats.ts';
import { formatDuration, formatRecent } from '../../components/format.ts';
import { NameLink } from '../../components/name-link.tsx';

const refreshMs = 3_000;

export function LatestRequests() {
  const { t } = useTranslation('overview');
  const { data } = useQuery({
    queryKey: ['logs', 'latest'],
    queryFn: ({ signal }) => call<{ items: LogRow[] }>('logs', { query: { limit: 12 }, signal }),
    refetchInterval: refreshMs,
  });
  const rows = data?.items ?? [];
  if (rows.length === 0) return null;
  return (
    <Card withBorder padding={0}>
      <Group p="md" justify="space-between">
        <Text fw={600}>{t('latest')}</Text>
        <Anchor component={Link} to="/logs" size="sm">
          {t('more')}
        </Anchor>
      </Group>
      <Table.ScrollContainer minWidth={560}>
        <Table aria-label={t('latest')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('time')}</Table.Th>
              <Table.Th>{t('status')}</Table.Th>
              <Table.Th>{t('model')}</Table.Th>
              <Table.Th>{t('key')}</Table.Th>
              <Table.Th className="numeric">{t('duration')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.id}>
                <Table.Td>
                  <Anchor component={Link} to="/logs" search={{ request: row.id } as never} size="sm">
                    {formatRecent(row.started_at)}
                  </Anchor>
                </Table.Td>
                <Table.Td>
                  <Text size="sm" c={row.status >= 400 || row.error_code ? 'red' : undefined}>
                    {row.status} {row.error_code ?? ''}
                  </Text>
                </Table.Td>
                <Table.Td>
                  {row.model === null ? (
                    (row.requested_model ?? '–')
                  ) : (
                    <NameLink kind="models" name={row.model}>
                      {row.requested_model}
                    </NameLink>
                  )}
                </Table.Td>
                <Table.Td>
                  <NameLink kind="access-keys" name={row.access_key} />
                </Table.Td>
                <Table.Td className="numeric">{formatDuration(row.duration_ms)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}
