/** The messages of alerts, newest first. */
import { Badge, Button, Card, Group, Loader, Table, Text, Title } from '@mantine/core';
import type { AlertMessages } from '@model-gateway/console/answers';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatTime } from '../../components/format.ts';

type Message = AlertMessages['items'][number];

const refreshMs = 10_000;
const colors: Record<Message['state'], string> = { sent: 'green', waiting: 'blue', failed: 'red', quiet: 'gray', unknown: 'orange' };

export function SentMessages() {
  const { t } = useTranslation('alerts');
  const list = useInfiniteQuery({
    queryKey: ['alert-messages'],
    queryFn: ({ pageParam, signal }) => call<AlertMessages>('alert-messages', { query: { cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: refreshMs,
  });
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Card withBorder padding={0} component="section" aria-label={t('messages')}>
      <Title order={3} size="h4" p="sm">
        {t('messages')}
      </Title>
      {list.isError && !list.data && <FaultNotice error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Loader m="sm" />}
      {list.data && items.length === 0 && (
        <Text c="dimmed" size="sm" p="sm">
          {t('noMessages')}
        </Text>
      )}
      {items.length > 0 && <Messages items={items} />}
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

function Messages({ items }: { items: readonly Message[] }) {
  const { t } = useTranslation('alerts');
  return (
    <Table aria-label={t('messages')} className="compact">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('when')}</Table.Th>
          <Table.Th visibleFrom="md">{t('channel')}</Table.Th>
          <Table.Th>{t('message')}</Table.Th>
          <Table.Th>{t('outcome')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map(({ id, created_at, channel, title, text, state, attempts, last_error }) => (
          <Table.Tr key={id}>
            <Table.Td>
              {formatTime(created_at)}
              <Text size="xs" c="dimmed" className="anywhere" hiddenFrom="md">
                {channel}
              </Text>
            </Table.Td>
            <Table.Td className="anywhere" visibleFrom="md">
              {channel}
            </Table.Td>
            <Table.Td className="anywhere">
              <Text size="sm" fw={500}>
                {title}
              </Text>
              <Text size="sm" c="dimmed">
                {text}
              </Text>
            </Table.Td>
            <Table.Td>
              <Badge variant="light" color={colors[state]} tt="none">
                {t(`states.${state}`)}
              </Badge>
              {last_error !== null && <Text size="xs">{t('failedWith', { count: attempts, error: last_error })}</Text>}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
