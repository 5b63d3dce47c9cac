/** Which upstream key each access key is bound to, or would be; read again every three seconds. */

import { Alert, Badge, Box, Button, Group, Stack, Text, Tooltip } from '@mantine/core';
import type { KeyMonitor } from '@model-gateway/console/answers';
import { IconChecklist } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { NameLink } from '../../components/name-link.tsx';
import { NameSelect } from '../../components/name-select.tsx';
import { useFilter, useListState } from '../../components/use-address-state.ts';

type Monitored = KeyMonitor['items'][number];
type MonitoredKey = Monitored['keys'][number];

const refreshMs = 3000;
/** An access key may reach hundreds of upstreams: so many are shown until somebody wants all. */
const shownFirst = 5;

export function KeyMonitorTab() {
  const { t } = useTranslation('model-monitor');
  const [state, setState] = useListState();
  const [upstream, setUpstream] = useFilter('upstream');
  const monitor = useQuery({
    queryKey: ['model-monitor', state, upstream],
    queryFn: ({ signal }) => call<KeyMonitor>('model-monitor', { query: { ...state, page_size: 25, upstream }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });
  const missing = monitor.data?.processes.missing ?? [];
  const columns: Column<Monitored>[] = [
    {
      id: 'name',
      title: t('accessKey'),
      sort: 'name',
      cell: ({ access_key, enabled }) => <NameLink kind="access-keys" name={access_key} size="sm" {...(!enabled && { c: 'dimmed' })} />,
    },
    { id: 'group', title: t('group'), sort: 'group', wide: true, cell: ({ key_group }) => <NameLink kind="key-groups" name={key_group} /> },
    {
      id: 'keys',
      title: t('keys'),
      cell: ({ keys }) =>
        keys.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t('none')}
          </Text>
        ) : (
          <BoundKeys keys={keys} />
        ),
    },
  ];
  return (
    <Stack>
      {missing.length > 0 && (
        <Alert color="orange" role="status">
          {t('missing', { names: missing.join(', ') })}
        </Alert>
      )}
      <DataTable
        caption={t('title')}
        query={monitor}
        columns={columns}
        rowKey={({ access_key }) => access_key}
        state={state}
        onState={setState}
        filters={
          <NameSelect resource="upstreams" aria-label={t('upstream')} placeholder={t('allUpstreams')} clearable value={upstream} onChange={setUpstream} />
        }
        empty={<EmptyState icon={IconChecklist} title={t('emptyTitle')} hint={t('emptyHint')} />}
      />
    </Stack>
  );
}

/** Those in use before those that are only predicted. */
function BoundKeys({ keys }: { keys: readonly MonitoredKey[] }) {
  const { t } = useTranslation('model-monitor');
  const [all, setAll] = useState(false);
  const rank = ({ source, stale }: MonitoredKey) => (source === 'binding' || stale ? 0 : 1);
  const sorted = [...keys].sort((one, other) => rank(one) - rank(other));
  const isOpen = all || keys.length <= shownFirst;
  return (
    <Stack gap={4} miw={{ base: 230, md: 380 }}>
      <Box mah={isOpen && keys.length > shownFirst ? 320 : undefined} style={{ overflowY: 'auto' }}>
        <Stack gap={4}>
          {(isOpen ? sorted : sorted.slice(0, shownFirst)).map((key) => (
            <Bound key={key.upstream} bound={key} />
          ))}
        </Stack>
      </Box>
      {keys.length > shownFirst && (
        <Button size="compact-xs" variant="subtle" style={{ alignSelf: 'flex-start' }} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t('fewer') : t('more', { count: keys.length - shownFirst })}
        </Button>
      )}
    </Stack>
  );
}

function Bound({ bound }: { bound: MonitoredKey }) {
  const { t } = useTranslation('model-monitor');
  const idle = bound.idle_seconds === null ? '' : ` · ${t('idle', { seconds: bound.idle_seconds })}`;
  return (
    <Group gap="xs">
      <NameLink kind="upstreams" name={bound.upstream} size="sm" />
      <Text size="sm" c="dimmed">
        {bound.key_index < 0 ? t('noKey') : t('key', { index: bound.key_index + 1, weight: bound.weight ?? 0 })}
      </Text>
      <Tooltip label={`${t(`sources.${bound.source}Hint`)}${idle}${bound.process ? ` · ${bound.process}` : ''}`} multiline maw={320}>
        <Badge size="sm" variant="light" color={bound.source === 'binding' ? 'green' : 'gray'}>
          {t(`sources.${bound.source}`)}
        </Badge>
      </Tooltip>
      {bound.stale && (
        <Tooltip label={t('staleHint')}>
          <Badge size="sm" variant="light" color="orange">
            {t('stale')}
          </Badge>
        </Tooltip>
      )}
    </Group>
  );
}
