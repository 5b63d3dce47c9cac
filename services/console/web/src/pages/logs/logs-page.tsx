/** Finished requests: live or of the past, by filter, each with its page. */
import { Badge, Button, Card, Group, Loader, Switch, Text } from '@mantine/core';
import { IconActivity, IconDownload } from '@tabler/icons-react';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useIsReachable } from '../../api/reachability.ts';
import { download, type LogRow, type Query } from '../../api/stats.ts';
import { describeFault } from '../../components/describe-fault.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatNumber } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { isRange, ranges } from '../../components/range-select.tsx';
import { StretchBadge, stretchOf } from '../../components/stretch.tsx';
import { useAddress } from '../../components/use-address-state.ts';
import { useOpened } from '../../components/use-opened.ts';
import { isGap, joinWithGap } from './join-rows.ts';
import { filterNames, LogFilters } from './log-filters.tsx';
import { LogTable } from './log-table.tsx';
import { RequestDrawer } from './request-drawer.tsx';
import { useLive, usePast } from './use-rows.ts';

/** Yes and no, however they were typed into the address. What is neither is refused by the API, which says so. */
const spellings: Readonly<Record<string, string>> = { 1: 'true', yes: 'true', 0: 'false', no: 'false' };
const flags: ReadonlySet<string> = new Set(['errors_only', 'stream']);

/** A list is no filter of the log, though an address may hold one. */
const isWord = (given: unknown): boolean => given !== undefined && typeof given !== 'object';

function readFilter(name: string, given: unknown): unknown {
  const text = String(given).toLowerCase();
  return flags.has(name) ? (spellings[text] ?? text) : given;
}

export function LogsPage() {
  const { t } = useTranslation('logs');
  const { search, change } = useAddress();
  const filters = useMemo(
    () =>
      Object.fromEntries(
        filterNames.flatMap((name) => (search[name] === '' || !isWord(search[name]) ? [] : [[name, readFilter(name, search[name])]])),
      ) as Query,
    [search],
  );
  const range = isRange(search['range']) ? search['range'] : '24h';
  const stretch = stretchOf(search);
  const [wantsLive, setFollowing] = useState(true);
  // What finishes now is of no stretch of the past.
  const following = wantsLive && stretch === null;
  const [unfolded, setUnfolded] = useState(false);
  const opened = useOpened('request');
  const live = useLive(filters, following);
  const isReachable = useIsReachable();
  // Behind a proxy that gathers the whole stream before it passes it on, rows come by asking.
  const past = usePast(filters, stretch ?? ranges[range], following && !live.connected && isReachable);
  const lines = useMemo(() => joinWithGap(live.held, past.data?.pages.flatMap(({ items }) => items) ?? []), [live.held, past.data]);
  const rows = useMemo(() => lines.filter((line): line is LogRow => !isGap(line)), [lines]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = past;
  // What finished before it was looked on at, and what was missed in a break, is of the past.
  useEffect(() => {
    if (live.connections > 0) void refetch();
  }, [live.connections, refetch]);
  const readOn = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const open = ({ id }: LogRow) => opened.open(id);
  const save = () => download('logs', { ...filters, ...(stretch ?? { from: Date.now() - ranges[range] }) }, 'requests.csv').catch(describeFault);
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={
        <Group gap="md">
          <Switch label={t('live')} checked={following} disabled={stretch !== null} onChange={(event) => setFollowing(event.currentTarget.checked)} />
          <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />} onClick={() => void save()}>
            {t('export')}
          </Button>
        </Group>
      }
    >
      <Button hiddenFrom="sm" variant="default" aria-expanded={unfolded} onClick={() => setUnfolded(!unfolded)}>
        {t('filters')} {Object.keys(filters).length > 0 && `(${Object.keys(filters).length})`}
      </Button>
      <div className={unfolded ? undefined : 'folded-on-phones'}>
        <LogFilters filters={filters} range={range} onChange={change} />
      </div>
      {stretch && (
        <Group>
          <StretchBadge stretch={stretch} onRemove={() => change({ from: undefined, to: undefined })} />
        </Group>
      )}
      {past.isError && <FaultNotice error={past.error} onRetry={() => past.refetch()} />}
      <Card withBorder padding={0}>
        {past.isPending && <Loader m="xl" mx="auto" aria-label={t('title')} />}
        {!past.isPending && !past.isError && rows.length === 0 && <EmptyState icon={IconActivity} title={t('emptyTitle')} hint={t('emptyHint')} />}
        {rows.length > 0 && <LogTable lines={lines} onOpen={open} onEnd={readOn} onFill={() => void refetch()} />}
        <Group p="sm" gap="sm">
          <Text size="sm" c="dimmed" aria-live="polite">
            {t('count', { text: formatNumber(rows.length) })}
          </Text>
          {following && (
            <Badge variant="dot" color={live.connected ? 'green' : 'gray'} tt="none">
              {live.connected ? t('connected') : t('connecting')}
            </Badge>
          )}
          {live.dropped > 0 && (
            <Badge variant="light" color="orange" tt="none">
              {t('dropped', { text: formatNumber(live.dropped) })}
            </Badge>
          )}
        </Group>
      </Card>
      <RequestDrawer id={opened.value} known={rows} onClose={opened.close} />
    </Page>
  );
}
