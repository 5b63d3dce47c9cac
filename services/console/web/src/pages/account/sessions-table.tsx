/** Where somebody is signed in, and a button to end that. */

import { Badge, Button, Card, Group, Table, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Session } from '@model-gateway/console/answers';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatTime } from '../../components/format.ts';
import { forgetToken } from '../../session/token.ts';

const browsers = [
  ['Edg/', 'Edge'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** The two words people know a browser by; other programs as they call themselves. */
function nameOf(userAgent: string): string {
  const find = (words: readonly (readonly [string, string])[]) => words.find(([word]) => userAgent.includes(word))?.[1];
  const browser = find(browsers);
  if (browser === undefined) return userAgent.slice(0, 60);
  const system = find(systems);
  return system === undefined ? browser : `${browser}, ${system}`;
}

export function SessionsTable({ showUser }: { showUser: boolean }) {
  const { t } = useTranslation('account');
  const client = useQueryClient();
  const list = useQuery({ queryKey: ['sessions'], queryFn: ({ signal }) => call<{ items: Session[] }>('sessions', { signal }) });
  const end = useMutation({
    mutationFn: ({ id }: Session) => call(path('sessions', id), { method: 'DELETE' }),
    onSuccess: (_done, { current }) => {
      if (current) return forgetToken();
      notifications.show({ message: t('ended'), color: 'green' });
      return client.invalidateQueries({ queryKey: ['sessions'] });
    },
    onError: (error) => notifications.show({ message: error.message, color: 'red' }),
  });
  if (list.isError) return <FaultNotice error={list.error} onRetry={() => list.refetch()} />;
  return (
    <Card withBorder padding={0}>
      <Title order={3} p="md">
        {t('sessions')}
      </Title>
      {list.data?.items.length === 0 && (
        <Text size="sm" c="dimmed" px="md" pb="md">
          {t('noSessions')}
        </Text>
      )}
      <Table.ScrollContainer minWidth={520} display={list.data?.items.length === 0 ? 'none' : undefined}>
        <Table aria-label={t('sessions')}>
          <Table.Thead>
            <Table.Tr>
              {showUser && <Table.Th>{t('user')}</Table.Th>}
              <Table.Th>{t('browser')}</Table.Th>
              <Table.Th>{t('address')}</Table.Th>
              <Table.Th>{t('lastSeen')}</Table.Th>
              <Table.Th visibleFrom="md">{t('ends')}</Table.Th>
              <Table.Th aria-label={t('end')} />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {list.data?.items.map((session) => {
              const browser = nameOf(session.user_agent) || t('unknown');
              return (
                <Table.Tr key={session.id}>
                  {showUser && <Table.Td>{session.username}</Table.Td>}
                  <Table.Td title={session.user_agent}>
                    <Group gap="xs">
                      <Text size="sm">{browser}</Text>
                      {session.current && (
                        <Badge variant="light" tt="none">
                          {t('thisOne')}
                        </Badge>
                      )}
                    </Group>
                  </Table.Td>
                  <Table.Td className="mono">{session.ip_address}</Table.Td>
                  <Table.Td>{formatTime(session.last_seen_at)}</Table.Td>
                  <Table.Td visibleFrom="md">{formatTime(session.expires_at)}</Table.Td>
                  <Table.Td ta="right">
                    <Button size="xs" variant="subtle" color="red" aria-label={t('endOf', { browser })} onClick={() => end.mutate(session)}>
                      {t('end')}
                    </Button>
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}
