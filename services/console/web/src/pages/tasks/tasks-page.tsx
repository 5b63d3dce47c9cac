/** Tasks of upstreams: what runs, what became of the others, and which nobody can ask about any more. */
import { Anchor, Badge, Button, Card, Group, Loader, Select, Switch, Table, Text } from '@mantine/core';
import type { TaskPage } from '@model-gateway/console/answers';
import { IconClockPlay } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useCancelTask, useTasks } from '../../api/tasks.ts';
import { ask } from '../../components/ask.ts';
import { describeFault } from '../../components/describe-fault.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatTime } from '../../components/format.ts';
import { NameLink } from '../../components/name-link.tsx';
import { Page } from '../../components/page.tsx';
import { SearchInput } from '../../components/search-input.tsx';
import { useFilter } from '../../components/use-address-state.ts';
import { useIsAdmin } from '../../session/use-me.ts';

type Task = TaskPage['items'][number];

const states = ['running', 'succeeded', 'failed', 'canceled', 'lost'] as const satisfies readonly Task['state'][];
const colors: Record<Task['state'], string> = { running: 'blue', succeeded: 'green', failed: 'red', canceled: 'gray', lost: 'orange' };

export function TasksPage() {
  const { t } = useTranslation('tasks');
  const { t: history } = useTranslation('history');
  const [state, setState] = useFilter('state');
  const [model, setModel] = useFilter('model');
  const [accessKey, setAccessKey] = useFilter('access_key');
  const [gone, setGone] = useFilter('account_gone');
  const [request, setRequest] = useFilter('request');
  const [id, setId] = useFilter('id');
  const list = useTasks({ state, model, access_key: accessKey, account_gone: gone, request, id });
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title={t('title')} hint={t('hint')}>
      <Group align="flex-end" gap="sm">
        <Select label={t('state')} clearable data={states.map((value) => ({ value, label: t(`states.${value}`) }))} value={state} onChange={setState} />
        <SearchInput label={t('model')} value={model ?? ''} onSearch={(next) => setModel(next || null)} />
        <SearchInput label={t('accessKey')} value={accessKey ?? ''} onSearch={(next) => setAccessKey(next || null)} />
        <SearchInput label={t('request')} value={request ?? ''} onSearch={(next) => setRequest(next || null)} />
        <SearchInput label={t('id')} value={id ?? ''} onSearch={(next) => setId(next || null)} />
        <Switch label={t('onlyGone')} checked={gone === 'true'} onChange={(event) => setGone(event.currentTarget.checked ? 'true' : null)} mb={8} />
        <Button variant="default" loading={list.isRefetching} onClick={() => list.refetch()}>
          {t('common:actions.refresh')}
        </Button>
      </Group>
      {list.isError && !list.data && <FaultNotice error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Loader />}
      {list.data && (
        <Card withBorder padding={0}>
          {items.length === 0 ? <EmptyState icon={IconClockPlay} title={t('emptyTitle')} hint={t('emptyHint')} /> : <Tasks items={items} />}
        </Card>
      )}
      {list.hasNextPage && (
        <Group justify="center">
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            {history('older')}
          </Button>
        </Group>
      )}
    </Page>
  );
}

function Tasks({ items }: { items: readonly Task[] }) {
  const { t } = useTranslation('tasks');
  const isAdmin = useIsAdmin();
  return (
    <Table.ScrollContainer minWidth={820}>
      <Table aria-label={t('title')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('begun')}</Table.Th>
            <Table.Th>{t('state')}</Table.Th>
            <Table.Th>{t('id')}</Table.Th>
            <Table.Th>{t('model')}</Table.Th>
            <Table.Th>{t('accessKey')}</Table.Th>
            <Table.Th>{t('upstream')}</Table.Th>
            <Table.Th>{t('request')}</Table.Th>
            {isAdmin && <Table.Th aria-label={t('cancel')} />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((task) => (
            <TaskRow key={task.id} task={task} isAdmin={isAdmin} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function TaskRow({ task, isAdmin }: { task: Task; isAdmin: boolean }) {
  const { t } = useTranslation('tasks');
  return (
    <Table.Tr>
      <Table.Td>{formatTime(task.created_at)}</Table.Td>
      <Table.Td>
        <Group gap={4}>
          <Badge variant="light" tt="none" color={colors[task.state]}>
            {t(`states.${task.state}`)}
          </Badge>
          {task.account_gone && (
            <Badge variant="light" tt="none" color="red" title={t('goneHint')}>
              {t('gone')}
            </Badge>
          )}
        </Group>
      </Table.Td>
      <Table.Td className="mono anywhere">{task.id}</Table.Td>
      <Table.Td className="anywhere">
        {task.model !== task.requested_model && `${task.requested_model} → `}
        <NameLink kind="models" name={task.model} />
      </Table.Td>
      <Table.Td>
        <NameLink kind="access-keys" name={task.access_key} />
      </Table.Td>
      <Table.Td>
        <NameLink kind="upstreams" name={task.upstream} />
        <Text size="xs" c="dimmed" className="mono">
          {task.upstream_task}
        </Text>
      </Table.Td>
      <Table.Td className="mono anywhere">
        <NameLink kind="request" name={task.request_id} />
        {task.state !== 'running' && (
          <>
            {' '}
            <Anchor component={Link} inherit to="/logs" search={{ request: task.id } as never}>
              {t('bill')}
            </Anchor>
          </>
        )}
      </Table.Td>
      {isAdmin && <Table.Td>{task.state === 'running' && !task.account_gone && <CancelButton id={task.id} />}</Table.Td>}
    </Table.Tr>
  );
}

function CancelButton({ id }: { id: string }) {
  const { t } = useTranslation('tasks');
  const cancel = useCancelTask();
  const onAsk = () =>
    ask({
      title: t('cancelTitle', { id }),
      children: <Text size="sm">{t('cancelHint')}</Text>,
      labels: { confirm: t('cancel'), cancel: t('common:actions.close') },
      confirmProps: { color: 'red.9' },
      onConfirm: () => cancel.mutate(id, { onError: describeFault }),
    });
  return (
    <Button size="compact-xs" variant="light" color="red.9" aria-label={t('cancelOf', { id })} loading={cancel.isPending} onClick={onAsk}>
      {t('cancel')}
    </Button>
  );
}
