/** One request: how it went, step by step, what its translation lost, what it used and cost, and how to send the like again. */
import { Anchor, Badge, Button, Drawer, Group, Loader, Progress, Stack, Table, Text, Title } from '@mantine/core';
import type { LogDetails } from '@model-gateway/console/answers';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useBodies, useRequest } from '../../api/bodies.ts';
import type { LogRow } from '../../api/stats.ts';
import { useOverlayOpen } from '../../components/dialogs.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatBytes, formatDuration, formatMoney, formatNumber, formatTime } from '../../components/format.ts';
import { LossRows } from '../../components/loss-rows.tsx';
import { NameLink } from '../../components/name-link.tsx';
import { ProtocolName } from '../../components/protocol.tsx';
import { FailureNotice, isItsAnswer } from './failure-notice.tsx';
import { wasRepeated } from './log-table.tsx';
import { Replay } from './replay.tsx';
import { RequestBodiesSection } from './request-bodies.tsx';
import { SessionResponses } from './session-responses.tsx';
import { TurnChainSection } from './turn-chain.tsx';

/** `known`: rows that the page has already; another is asked for. null: nothing is open. */
export function RequestDrawer({ id, known, onClose }: { id: string | null; known: readonly LogRow[]; onClose: () => void }) {
  const { t } = useTranslation('logs');
  const isCovered = useOverlayOpen();
  const listed = id === null ? undefined : known.find((row) => row.id === id);
  // The words of the upstream, and how often it failed so, are in the answer about one request only.
  const asked = useRequest(id ?? '', id !== null && (!listed || listed.error_code !== null || wasRepeated(listed)));
  const row = asked.data ?? listed;
  return (
    <Drawer
      opened={id !== null}
      onClose={onClose}
      closeOnEscape={!isCovered}
      position="right"
      size="xl"
      title={t('request')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {id !== null && row && <Details key={row.id} row={row} failed={asked.data?.failure ? asked.data : undefined} />}
      {id !== null && !row && asked.isPending && <Loader />}
      {id !== null && !row && asked.isError && <FaultNotice error={asked.error} onRetry={() => asked.refetch()} />}
    </Drawer>
  );
}

function Details({ row, failed }: { row: LogRow; failed: LogDetails | undefined }) {
  const { t } = useTranslation('logs');
  const [wanted, setWanted] = useState(false);
  const bodies = useBodies(row.id, wanted);
  // A request that the edge refused has no attempts and no translation.
  const went = row.attempts.length > 0;
  return (
    <Stack gap="lg">
      <Group gap="xs">
        <Badge color={row.error_code ? 'red' : 'green'} variant="light" size="lg" tt="none">
          {row.status} {row.error_code ?? ''}
        </Badge>
        {row.stream && <Badge variant="light">{t('streamed')}</Badge>}
        <Text size="sm" c="dimmed">
          {formatTime(row.started_at)}
        </Text>
      </Group>
      {failed?.failure && <FailureNotice row={failed} failure={failed.failure} />}
      <RequestFacts row={row} />
      <Timeline row={row} />
      {(went || row.pipeline.length + row.routes.length > 0) && <Way row={row} />}
      <Usage row={row} />
      {row.kind === 'realtime_session' && <SessionResponses row={row} />}
      {(went || row.losses.length > 0) && <Receipt row={row} />}
      {row.turn_id && <TurnChainSection requestId={row.id} />}
      <RequestBodiesSection
        id={row.id}
        bodies={bodies.data}
        error={bodies.error}
        loading={bodies.isFetching}
        onShow={() => (wanted ? void bodies.refetch() : setWanted(true))}
      />
      <Group gap="sm">
        <Onward to="/playground" row={row} withBodies={bodies.data !== undefined} label={t('openPlayground')} />
        {bodies.data && <Onward to="/studio" row={row} withBodies label={t('openStudio')} />}
      </Group>
      <Replay row={row} bodies={bodies.data} />
    </Stack>
  );
}

/** Who asked, for what, and where it went; each name leads to what it names. */
function RequestFacts({ row }: { row: LogRow }) {
  const { t } = useTranslation('logs');
  return (
    <Facts
      facts={[
        [
          'id',
          <span key="id" className="mono">
            {row.id}
          </span>,
        ],
        ['kind', row.kind && row.kind !== 'call' && t(`kinds.${row.kind}`)],
        [
          'of',
          row.of && (
            <Anchor key="of" component={Link} to="/logs" search={((search: object) => ({ ...search, request: row.of })) as never} className="mono">
              {row.of}
            </Anchor>
          ),
        ],
        [
          'tasks',
          mayHaveTasks(row) && (
            <Anchor key="tasks" component={Link} to="/tasks" search={(row.kind === 'task' ? { id: row.id } : { request: row.id }) as never}>
              {t('toTasks')}
            </Anchor>
          ),
        ],
        ['clientId', row.client_request_id],
        [
          'key',
          row.access_key && (
            <span key="key">
              <NameLink kind="access-keys" name={row.access_key} underline="always" /> · <NameLink kind="key-groups" name={row.key_group} underline="always" />
            </span>
          ),
        ],
        [
          'model',
          (row.model ?? row.requested_model) && (
            <span key="model">
              {row.model !== row.requested_model && `${row.requested_model ?? '–'} → `}
              <NameLink kind="models" name={row.model} underline="always" />
            </span>
          ),
        ],
        [
          'upstream',
          row.upstream && (
            <span key="upstream">
              <NameLink kind="upstreams" name={row.upstream} underline="always" /> · {row.upstream_model_id ?? ''}
            </span>
          ),
        ],
        [
          'path',
          row.path && (
            <span key="path" className="mono">
              {row.path}
            </span>
          ),
        ],
        [
          'protocols',
          row.client_protocol && (
            <Group key="protocols" gap={6}>
              <ProtocolName id={row.client_protocol} /> → {row.upstream_protocol ? <ProtocolName id={row.upstream_protocol} /> : '–'}
            </Group>
          ),
        ],
        ['session', row.session_id && <NameLink key="session" kind="session" name={row.session_id} />],
        ['client', [row.client_ip, row.user_agent].filter(Boolean).join(' · ')],
        ['ending', row.ending && t(`endings.${row.ending}`)],
        ['bytes', `${formatBytes(row.request_bytes)} → ${formatBytes(row.response_bytes)}`],
      ]}
    />
  );
}

/** Tasks are begun by calls in the terms of an upstream. */
const mayHaveTasks = ({ kind, path, status }: LogRow): boolean => kind === 'task' || (status < 300 && (path?.includes('/v1/services/') ?? false));

function Facts({ facts }: { facts: readonly (readonly [string, React.ReactNode])[] }) {
  const { t } = useTranslation('logs');
  return (
    <Table withRowBorders={false} verticalSpacing={4} aria-label={t('facts')}>
      <Table.Tbody>
        {facts.map(([name, value]) =>
          value ? (
            <Table.Tr key={name}>
              <Table.Th w={150} fw={500} c="dimmed">
                {t(`fact.${name}`)}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ) : null,
        )}
      </Table.Tbody>
    </Table>
  );
}

function Timeline({ row }: { row: LogRow }) {
  const { t } = useTranslation('logs');
  const whole = Math.max(1, row.duration_ms);
  const steps = [
    { name: t('step.queue'), ms: row.queue_ms ?? 0, color: 'gray', note: '', said: undefined },
    ...row.attempts.map((attempt, at) => ({
      name: t(attempt.key_index < 0 ? 'step.keyless' : 'step.attempt', { number: at + 1, upstream: attempt.upstream, key: attempt.key_index + 1 }),
      ms: attempt.duration_ms,
      color: attempt.error_code ? 'red' : 'indigo',
      note: [attempt.status, attempt.error_code].filter(Boolean).join(' '),
      said: attempt.message && (isItsAnswer(attempt) ? t('upstreamSaid', { said: attempt.message }) : attempt.message),
    })),
  ];
  const times = [
    row.ttfb_ms !== null && t('times.byte', { time: formatDuration(row.ttfb_ms) }),
    row.first_content_ms !== null && t('times.content', { time: formatDuration(row.first_content_ms) }),
    t('times.whole', { time: formatDuration(row.duration_ms) }),
  ].filter((one) => one !== false);
  let begun = 0;
  return (
    <section aria-label={t('timeline')}>
      <Title order={3} mb="xs">
        {t('timeline')}
      </Title>
      <Stack gap={6}>
        {steps.map(({ name, ms, color, note, said }) => {
          const from = begun;
          begun = Math.min(whole, begun + ms);
          return (
            <div key={name}>
              <Group justify="space-between" gap="xs">
                <Text size="sm">{name}</Text>
                <Text size="sm" c="dimmed">
                  {note} {formatDuration(ms)}
                </Text>
              </Group>
              <Progress.Root size="sm" aria-hidden>
                <Progress.Section value={(from / whole) * 100} color="transparent" />
                <Progress.Section value={Math.max(0.5, ((begun - from) / whole) * 100)} color={color} />
              </Progress.Root>
              {said && (
                <Text size="sm" className="anywhere" mt={2}>
                  {said}
                </Text>
              )}
            </div>
          );
        })}
      </Stack>
      <Text size="sm" c="dimmed" mt={6}>
        {times.join(' · ')}
      </Text>
    </section>
  );
}

/** The preparation steps of the request, and its reroutes. */
function Way({ row }: { row: LogRow }) {
  const { t } = useTranslation('logs');
  return (
    <section aria-label={t('way')}>
      <Title order={3} mb={4}>
        {t('way')}
      </Title>
      {row.pipeline.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('pipelineNone')}
        </Text>
      ) : (
        <Group gap={6} aria-label={t('wayHint')}>
          {row.pipeline.map((step, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a step may come twice, and the list never changes
            <Badge key={at} variant="light" color="gray" tt="none">
              {step}
            </Badge>
          ))}
        </Group>
      )}
      {row.routes.length > 0 && (
        <Text size="sm" mt={6} className="anywhere">
          {t('routes')}: {row.routes.join(' → ')}
        </Text>
      )}
    </section>
  );
}

/** To a page that begins with this request: its body where it was read, else its model alone. */
function Onward({ to, row, withBodies, label }: { to: '/playground' | '/studio'; row: LogRow; withBodies: boolean; label: string }) {
  const known = to === '/playground' ? { model: row.requested_model ?? '', protocol: row.client_protocol ?? '' } : {};
  const search = { ...known, ...(withBodies && { request: row.id }) };
  return (
    <Button variant="default" component={Link} to={to} search={search as never}>
      {label}
    </Button>
  );
}

const buckets = ['input_tokens', 'cache_read_tokens', 'cache_write_tokens', 'output_tokens', 'reasoning_tokens'] as const;
/** Shown where anybody counted them. */
const others = ['audio_input_tokens', 'audio_output_tokens', 'image_input_tokens', 'image_output_tokens', 'images', 'seconds', 'characters'] as const;

function Usage({ row }: { row: LogRow }) {
  const { t } = useTranslation('logs');
  // Of a call that used nothing there is nothing to count.
  const isCounted = row.usage_source !== null || row.cost_micros !== null;
  return (
    <section aria-label={t('usage')}>
      <Title order={3} mb="xs">
        {t('usage')}
      </Title>
      {isCounted && (
        <Group gap="xl" mb={6}>
          {[...buckets, ...others.filter((name) => row[name])].map((name) => (
            <div key={name}>
              <Text size="xs" c="dimmed">
                {t(`token.${name}`)}
              </Text>
              <Text fw={600}>{formatNumber(row[name] ?? 0)}</Text>
            </div>
          ))}
          {row.service_tier && (
            <div>
              <Text size="xs" c="dimmed">
                {t('serviceTier')}
              </Text>
              <Text fw={600}>{row.service_tier}</Text>
            </div>
          )}
          <div>
            <Text size="xs" c="dimmed">
              {t('cost')}
            </Text>
            <Text fw={600}>{formatMoney(row.cost_micros, row.currency)}</Text>
          </div>
        </Group>
      )}
      <Text size="xs" c="dimmed">
        {t(`source.${row.usage_source ?? 'none'}`)} {row.usage_source !== null && row.cost_micros === null ? t('noPrice') : ''}
      </Text>
    </section>
  );
}

function Receipt({ row }: { row: LogRow }) {
  const { t } = useTranslation('logs');
  return (
    <section aria-label={t('receipt')}>
      <Title order={3} mb="xs">
        {t('receipt')}
      </Title>
      {row.losses.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('noLosses')}
        </Text>
      ) : (
        <Table aria-label={t('receipt')}>
          <Table.Tbody>
            <LossRows losses={row.losses} />
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}
