/** Messages between the services that could not be stored: what they were, and a way to drop them. */
import { Button, Card, Loader, Stack, Table, Text } from '@mantine/core';
import type { DeadLetterPage } from '@model-gateway/console/answers';
import { IconMailOff } from '@tabler/icons-react';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { describeFault } from '../../components/describe-fault.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatBytes, formatNumber, formatTime } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';

const first: string | null = null;

export function SetAsidePage() {
  const { t } = useTranslation('set-aside');
  const client = useQueryClient();
  const letters = useInfiniteQuery({
    queryKey: ['dead-letters'],
    queryFn: ({ pageParam, signal }) => call<DeadLetterPage>('dead-letters', { query: { limit: 50, cursor: pageParam }, signal }),
    initialPageParam: first,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const items = letters.data?.pages.flatMap((page) => page.items) ?? [];
  const drop = (id: string) =>
    call(path('dead-letters', id), { method: 'DELETE' }).then(
      () => Promise.all([client.invalidateQueries({ queryKey: ['dead-letters'] }), client.invalidateQueries({ queryKey: ['attention'] })]),
      describeFault,
    );
  return (
    <Page title={t('title')} hint={t('hint')}>
      {letters.isError && <FaultNotice error={letters.error} onRetry={() => letters.refetch()} />}
      {letters.isPending && <Loader mx="auto" aria-label={t('title')} />}
      {letters.isSuccess && items.length === 0 && (
        <Card withBorder>
          <EmptyState icon={IconMailOff} title={t('emptyTitle')} hint={t('emptyHint')} />
        </Card>
      )}
      {items.length > 0 && (
        <Card withBorder padding={0}>
          <Table.ScrollContainer minWidth={680}>
            <Table aria-label={t('title')} verticalSpacing="sm">
              <Table.Thead>
                <Table.Tr>
                  {['last', 'what', 'reason', 'times', 'drop'].map((name) => (
                    <Table.Th key={name}>{t(`column.${name}`)}</Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {items.map(({ id, subject, item_id, reason, excerpt, bytes, last_at, times }) => (
                  <Table.Tr key={id} style={{ verticalAlign: 'top' }}>
                    <Table.Td className="nowrap">{formatTime(last_at)}</Table.Td>
                    <Table.Td maw={280}>
                      <Text size="sm" className="mono anywhere">
                        {subject}
                      </Text>
                      <Text size="xs" c="dimmed" className="anywhere">
                        {item_id} · {formatBytes(bytes)}
                      </Text>
                    </Table.Td>
                    <Table.Td maw={420}>
                      <Stack gap={2}>
                        <Text size="sm" className="anywhere">
                          {reason}
                        </Text>
                        <Text size="xs" c="dimmed" className="mono anywhere" lineClamp={3}>
                          {excerpt}
                        </Text>
                      </Stack>
                    </Table.Td>
                    <Table.Td className="numeric">{formatNumber(times)}</Table.Td>
                    <Table.Td>
                      <Button size="compact-sm" variant="default" color="red" aria-label={t('dropOf', { id: item_id })} onClick={() => void drop(id)}>
                        {t('drop')}
                      </Button>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </Card>
      )}
      {letters.hasNextPage && (
        <Button variant="default" mx="auto" loading={letters.isFetchingNextPage} onClick={() => void letters.fetchNextPage()}>
          {t('more')}
        </Button>
      )}
    </Page>
  );
}
