/** One session as a timeline: its turns and tools, cache hits lost, what each turn cost, where it failed over. */
import { Alert, Anchor, Badge, Box, Button, Card, Group, Loader, SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconArrowsShuffle, IconDatabaseOff, IconTool } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { LogRow } from '../../api/stats.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { Figure } from '../../components/figure.tsx';
import { formatClock, formatCompact, formatDuration, formatMoney, formatNumber, formatTime } from '../../components/format.ts';
import { NameLink } from '../../components/name-link.tsx';
import { Page } from '../../components/page.tsx';
import { useOpened } from '../../components/use-opened.ts';
import { RequestDrawer } from '../logs/request-drawer.tsx';
import { layOut, readStory, type Story, type Turn } from './session-story.ts';

const pageSize = 500;
/** A session may have begun long ago; rows are kept for a time that the gateway knows. */
const lookBackMs = 400 * 86_400_000;

export function SessionView({ id }: { id: string }) {
  const { t } = useTranslation('sessions');
  const opened = useOpened('request');
  const rows = useInfiniteQuery({
    queryKey: ['logs', 'session', id],
    queryFn: ({ pageParam, signal }) =>
      call<{ items: LogRow[]; next_cursor: string | null }>('logs', {
        query: { session_id: id, from: Date.now() - lookBackMs, limit: pageSize, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: 15_000,
  });
  const known = useMemo(() => rows.data?.pages.flatMap(({ items }) => items) ?? [], [rows.data]);
  const story = useMemo(() => readStory(known), [known]);
  const [first] = known;
  return (
    <Page
      title={t('one')}
      hint={id}
      actions={
        <Group gap="md">
          <Anchor component={Link} size="sm" to="/sessions">
            {t('all')}
          </Anchor>
          <Anchor component={Link} size="sm" to="/logs" search={{ session_id: id, range: '90d' } as never}>
            {t('asLog')}
          </Anchor>
        </Group>
      }
    >
      {rows.isError && <FaultNotice error={rows.error} onRetry={() => rows.refetch()} />}
      {rows.isPending && <Loader aria-label={t('one')} />}
      {rows.isSuccess && !first && <Alert color="gray">{t('unknown')}</Alert>}
      {first && (
        <>
          <Text size="sm">
            {t('key')}: <NameLink kind="access-keys" name={first.access_key} underline="always" /> · {t('group')}:{' '}
            <NameLink kind="key-groups" name={first.key_group} underline="always" /> · {formatTime(story.from)} – {formatTime(story.to)}
          </Text>
          <Figures story={story} />
          {rows.hasNextPage && (
            <Button variant="default" loading={rows.isFetchingNextPage} onClick={() => void rows.fetchNextPage()}>
              {t('earlier')}
            </Button>
          )}
          <Timeline story={story} onOpen={opened.open} />
        </>
      )}
      <RequestDrawer id={opened.value} known={known} onClose={opened.close} />
    </Page>
  );
}

function Figures({ story }: { story: Story }) {
  const { t } = useTranslation('sessions');
  const cost = [...story.cost].map(([currency, micros]) => formatMoney(micros, currency)).join(' + ') || '–';
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      <Figure label={t('turns')} value={formatNumber(story.turns.length - story.tools)} />
      <Figure label={t('tools')} value={formatNumber(story.tools)} />
      <Figure label={t('cost')} value={cost} />
      <Figure
        label={t('cacheLosses')}
        value={formatNumber(story.cacheLosses)}
        {...(story.cacheLosses > 0 && { hint: t('paidAnew', { number: formatCompact(story.cacheLostTokens) }) })}
      />
      <Figure label={t('failovers')} value={formatNumber(story.failovers)} />
      <Figure label={t('failures')} value={formatNumber(story.failures)} />
    </SimpleGrid>
  );
}

function Timeline({ story: { turns }, onOpen }: { story: Story; onOpen: (id: string) => void }) {
  const { t } = useTranslation('sessions');
  const places = layOut(turns);
  const dearest = Math.max(1, ...turns.map(({ row }) => row.cost_micros ?? 0));
  return (
    <Card withBorder padding="sm" component="section" aria-label={t('timeline')}>
      <Stack gap={0} component="ol" style={{ listStyle: 'none', margin: 0, padding: 0 }}>
        {turns.map((turn, at) => {
          const place = places[at] ?? { left: 0, width: 0, cut: false };
          return (
            <li key={turn.row.id}>
              {place.cut && turn.pauseMs !== null && (
                <Text size="xs" c="dimmed" ta="center" py={4}>
                  {t('pause', { time: formatDuration(turn.pauseMs) })}
                </Text>
              )}
              <TurnLine turn={turn} place={place} costShare={(turn.row.cost_micros ?? 0) / dearest} onOpen={() => onOpen(turn.row.id)} />
            </li>
          );
        })}
      </Stack>
    </Card>
  );
}

interface TurnProps {
  turn: Turn;
  place: { left: number; width: number };
  costShare: number;
  onOpen: () => void;
}

function TurnLine({ turn, place, costShare, onOpen }: TurnProps) {
  const { t } = useTranslation('sessions');
  const { row, failed } = turn;
  const isTool = row.kind === 'mcp_call';
  const color = failed ? 'red' : isTool ? 'grape' : turn.failedOver.length > 0 ? 'orange' : 'indigo';
  return (
    <Box py={6} style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}>
      <Group justify="space-between" gap="xs" wrap="wrap">
        <Group gap="xs">
          <UnstyledButton className="open-button" onClick={onOpen} aria-label={t('openTurn', { time: formatClock(row.started_at) })}>
            <Text size="sm" className="mono">
              {formatClock(row.started_at)}
            </Text>
          </UnstyledButton>
          {isTool && <IconTool size={16} aria-label={t('tool')} />}
          <Text size="sm" component="span">
            {isTool ? (
              (row.requested_model ?? row.path ?? row.model ?? '–')
            ) : (
              <NameLink kind="models" name={row.model}>
                {row.requested_model ?? row.model}
              </NameLink>
            )}
          </Text>
          <Text size="sm" c="dimmed" component="span">
            → <NameLink kind={isTool ? 'mcp-servers' : 'upstreams'} name={row.upstream} underline="always" />
          </Text>
          <Marks turn={turn} />
        </Group>
        <Group gap="md">
          {!isTool && (
            <Text size="sm" c="dimmed">
              {t('tokensOf', {
                input: formatCompact(row.input_tokens + row.cache_write_tokens),
                cached: formatCompact(row.cache_read_tokens),
                output: formatCompact(row.output_tokens + row.reasoning_tokens),
              })}
            </Text>
          )}
          <Text size="sm" c="dimmed">
            {formatDuration(row.duration_ms)}
          </Text>
          <Text size="sm" fw={600} miw={80} ta="right">
            {formatMoney(row.cost_micros, row.currency)}
          </Text>
        </Group>
      </Group>
      <Box pos="relative" h={8} mt={4} aria-hidden style={{ background: 'var(--mantine-color-default-hover)', borderRadius: 4 }}>
        <Box
          className="meaning"
          pos="absolute"
          h="100%"
          style={{
            left: `${place.left * 100}%`,
            width: `${Math.max(0.4, place.width * 100)}%`,
            maxWidth: '100%',
            background: `var(--mantine-color-${color}-filled)`,
            borderRadius: 4,
          }}
        />
      </Box>
      <Box
        className="meaning"
        h={3}
        mt={2}
        aria-hidden
        style={{ width: `${costShare * 100}%`, background: 'var(--mantine-color-green-filled)', borderRadius: 2 }}
      />
    </Box>
  );
}

function Marks({ turn: { row, failed, failedOver, cacheLost } }: { turn: Turn }) {
  const { t } = useTranslation('sessions');
  return (
    <>
      {failed && (
        <Badge size="sm" color="red" variant="light" tt="none">
          {row.status} {row.error_code}
        </Badge>
      )}
      {failedOver.length > 0 && (
        <Badge size="sm" color="orange" variant="light" tt="none" leftSection={<IconArrowsShuffle size={12} aria-hidden />}>
          {t('failedOver', { names: failedOver.join(', ') })}
        </Badge>
      )}
      {cacheLost > 0 && (
        <Badge size="sm" color="yellow" variant="light" tt="none" leftSection={<IconDatabaseOff size={12} aria-hidden />}>
          {t('cacheLost', { number: formatCompact(cacheLost) })}
        </Badge>
      )}
    </>
  );
}
