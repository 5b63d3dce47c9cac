/** Every commit of the configuration, what it changed, and the way back. */

import { Alert, Badge, Button, Card, Drawer, Group, Loader, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { CommitPage } from '@model-gateway/console/answers';
import { IconHistory } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Changes, isOutdated, type Preview, wholeConfiguration } from '../../api/changes.ts';
import { call } from '../../api/client.ts';
import { ask } from '../../components/ask.ts';
import { ChangeList } from '../../components/change-list.tsx';
import { useOverlayOpen } from '../../components/dialogs.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatTime } from '../../components/format.ts';
import { OpenButton } from '../../components/open-button.tsx';
import { Page } from '../../components/page.tsx';
import { useOpened } from '../../components/use-opened.ts';
import { useReturnFocus } from '../../components/use-return-focus.ts';

export function HistoryPage() {
  const { t } = useTranslation('history');
  const opened = useOpened('revision');
  const open = Number(opened.value ?? Number.NaN);
  const list = useInfiniteQuery({
    queryKey: ['history', 'list'],
    queryFn: ({ pageParam, signal }) => call<CommitPage>('history', { query: { cursor: pageParam, limit: 50 }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const current = list.data?.pages[0]?.revision ?? 0;
  return (
    <Page title={t('title')} hint={t('hint')}>
      {list.isError && !list.data && <FaultNotice error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Loader />}
      {list.data && items.length === 0 && (
        <Card withBorder>
          <EmptyState icon={IconHistory} title={t('emptyTitle')} hint={t('emptyHint')} />
        </Card>
      )}
      {items.length > 0 && (
        <Card withBorder padding={0}>
          <Table.ScrollContainer minWidth={560}>
            <Table highlightOnHover aria-label={t('title')}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t('revision')}</Table.Th>
                  <Table.Th>{t('when')}</Table.Th>
                  <Table.Th>{t('who')}</Table.Th>
                  <Table.Th>{t('what')}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {items.map((commit) => (
                  <Table.Tr key={commit.revision} onClick={() => opened.open(String(commit.revision))} style={{ cursor: 'pointer' }}>
                    <Table.Td>
                      <OpenButton onOpen={() => opened.open(String(commit.revision))}>{commit.revision}</OpenButton>{' '}
                      {commit.revision === current && (
                        <Badge size="xs" variant="light">
                          {t('current')}
                        </Badge>
                      )}
                    </Table.Td>
                    <Table.Td>{formatTime(commit.occurred_at)}</Table.Td>
                    <Table.Td className="anywhere">{commit.actor}</Table.Td>
                    <Table.Td className="anywhere">
                      {t(`actions.${commit.action}`, commit.action)} · {t(`entities.${commit.entity_type}`, commit.entity_type)}{' '}
                      {commit.entity_type !== wholeConfiguration && commit.entity_id}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </Card>
      )}
      {list.hasNextPage && (
        <Group justify="center">
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            {t('older')}
          </Button>
        </Group>
      )}
      {Number.isSafeInteger(open) && <CommitDrawer key={open} revision={open} current={current} onClose={opened.close} />}
    </Page>
  );
}

type Against = 'before' | 'current';

function CommitDrawer({ revision, current, onClose }: { revision: number; current: number; onClose: () => void }) {
  const { t } = useTranslation('history');
  useReturnFocus();
  const isCovered = useOverlayOpen();
  const [against, setAgainst] = useState<Against>('before');
  const rollBack = useRollback(revision, onClose);
  const diff = useQuery({
    queryKey: ['history', 'diff', revision, against],
    queryFn: ({ signal }) => call<Changes>(`history/${revision}/diff`, { query: against === 'current' ? { against } : {}, signal }),
  });
  return (
    <Drawer
      opened
      closeOnEscape={!isCovered}
      onClose={onClose}
      position="right"
      size="xl"
      title={t('revisionTitle', { revision })}
      closeButtonProps={{ 'aria-label': t('common:actions.close') }}
    >
      <Stack>
        <SegmentedControl
          value={against}
          onChange={(value) => setAgainst(value as Against)}
          data={[
            { value: 'before', label: t('againstBefore') },
            { value: 'current', label: t('againstCurrent'), disabled: revision === current },
          ]}
        />
        {diff.isPending && <Loader size="sm" />}
        {diff.isError && <FaultNotice error={diff.error} onRetry={() => diff.refetch()} />}
        {diff.data && <ChangeList {...diff.data} />}
        {revision !== current && !diff.isError && (
          <Group>
            <Button variant="default" loading={rollBack.busy} onClick={rollBack.start}>
              {t('rollBack', { revision })}
            </Button>
          </Group>
        )}
      </Stack>
    </Drawer>
  );
}

/** Shows first what would change, then asks, then does it. */
function useRollback(revision: number, onDone: () => void): { busy: boolean; start: () => void } {
  const { t } = useTranslation('history');
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const fail = (error: Error) => notifications.show({ message: error.message, color: 'red', autoClose: 10_000 });
  const commit = async ({ $etag: etag }: Preview) => {
    await call(`history/${revision}/rollback`, { method: 'POST', etag: etag ?? null });
    await client.invalidateQueries();
    notifications.show({ message: t('rolledBack', { revision }), color: 'green' });
    onDone();
  };
  /** `again`: what was agreed to is no longer what would happen. */
  const rehearse = async (again = false) => {
    const preview = await call<Preview>(`history/${revision}/rollback`, { method: 'POST', query: { dry_run: true } });
    ask({
      title: t('rollBackTitle', { revision }),
      size: 'xl',
      children: (
        <Stack>
          {again && <Alert color="orange">{t('previewOutdated')}</Alert>}
          <Text size="sm">{t('rollBackHint')}</Text>
          <ChangeList {...preview} />
        </Stack>
      ),
      labels: { confirm: t('rollBackConfirm'), cancel: t('common:actions.cancel') },
      confirmProps: { color: 'red.9', disabled: preview.total_changes === 0 },
      onConfirm: () => void commit(preview).catch((error: Error) => (isOutdated(error) ? rehearse(true).catch(fail) : fail(error))),
    });
  };
  return {
    busy,
    start: () => {
      setBusy(true);
      rehearse()
        .catch(fail)
        .finally(() => setBusy(false));
    },
  };
}
