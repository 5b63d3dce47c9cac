/** Each upstream with its keys: state, figures, the upstream's last words, and a test. */
import { Alert, Anchor, Box, Button, Group, Loader, Stack, Text } from '@mantine/core';
import type { Health } from '@model-gateway/console/answers';
import { IconCircleCheck, IconHeartbeat } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Page } from '../../api/resources.ts';
import { type Column, DataTable, type ListState } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { formatDuration, formatNumber, formatRecent } from '../../components/format.ts';
import { ProtocolName } from '../../components/protocol.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import { useListState } from '../../components/use-address-state.ts';
import type { TestOutcome, Tests } from './use-health.ts';

type Upstream = Health['items'][number];

const broken: ReadonlySet<string> = new Set(['failing', 'refused', 'limited', 'degraded']);

const pageSize = 25;

/** Those that the search finds, on whatever page. */
export function foundUpstreams(items: readonly Upstream[], q: string): Upstream[] {
  const wanted = q.toLowerCase();
  return items.filter(({ name, protocol }) => [name, protocol].some((text) => text.toLowerCase().includes(wanted)));
}

/** The page of what is there that the state asks for; what fails is on the first, since it is first in the answer. */
function pageOf(items: readonly Upstream[], { q, page }: ListState): Page<Upstream> {
  const found = foundUpstreams(items, q);
  return { items: found.slice((page - 1) * pageSize, page * pageSize), total: found.length, page, page_size: pageSize };
}

/** `tests` null: the reader may not make any. */
export function UpstreamsTab({ health, tests }: { health: UseQueryResult<Health>; tests: Tests | null }) {
  const { t } = useTranslation('health');
  const [state, setState] = useListState();
  const items = health.data?.items ?? [];
  const page = pageOf(items, state);
  const columns: Column<Upstream>[] = [
    { id: 'upstream', title: t('column.upstream'), cell: (item) => <About item={item} /> },
    { id: 'state', title: t('column.state'), cell: ({ state: own }) => <State state={own} /> },
    { id: 'attempts', title: t('column.attempts'), numeric: true, cell: ({ state: own }) => formatNumber(own.attempts) },
    {
      id: 'failed',
      title: t('column.failed'),
      numeric: true,
      cell: ({ state: own }) => (
        <Text span inherit c={own.failed > 0 ? 'red' : undefined}>
          {formatNumber(own.failed)}
        </Text>
      ),
    },
    { id: 'p50', title: t('column.p50'), numeric: true, cell: ({ state: own }) => formatDuration(own.p50_ms) },
    ...(tests ? [{ id: 'test', title: t('column.test'), cell: (item: Upstream) => <Test item={item} tests={tests} /> }] : []),
  ];
  return (
    <Stack>
      {items.length > 0 && !items.some(({ state: own }) => broken.has(own.status)) && (
        <Alert color="green" variant="light" icon={<IconCircleCheck aria-hidden />} role="status">
          {t('allWell')}
        </Alert>
      )}
      <DataTable
        caption={t('title')}
        query={{ ...health, data: health.data && page } as UseQueryResult<Page<Upstream>>}
        columns={columns}
        rowKey={({ name }) => name}
        state={state}
        onState={setState}
        empty={<EmptyState icon={IconHeartbeat} title={t('emptyTitle')} hint={t('emptyHint')} />}
      />
    </Stack>
  );
}

function About({ item: { name, protocol, state, keys, failing_models, last_failure } }: { item: Upstream }) {
  const { t } = useTranslation('health');
  return (
    <Box maw={440}>
      <Anchor component={Link} to="/upstreams" search={{ edit: name } as never} fw={600} className="anywhere">
        {name}
      </Anchor>
      <Text size="sm" c="dimmed" component="div">
        <ProtocolName id={protocol} />
      </Text>
      {broken.has(state.status) && last_failure && (
        <Text size="sm" className="anywhere" mt={4}>
          {last_failure.message !== null && `${t('said', { said: last_failure.message })} `}
          <Anchor component={Link} inherit underline="always" to="/logs" search={{ request: last_failure.request_id } as never}>
            {t('lastFailure')}, {formatRecent(last_failure.at)}
          </Anchor>
        </Text>
      )}
      {failing_models.length > 0 && (
        <Text size="sm" className="anywhere">
          {t('failingModels', { names: failing_models.join(', ') })}
        </Text>
      )}
      {keys.length > 1 && <KeyStates keys={keys} />}
    </Box>
  );
}

function State({ state }: Pick<Upstream, 'state'>) {
  const { t } = useTranslation('health');
  return (
    <>
      <StateBadge state={state} />
      {state.since !== null && (
        <Text size="xs" c="dimmed" className="nowrap">
          {t('since', { when: formatRecent(Date.parse(state.since)) })}
        </Text>
      )}
    </>
  );
}

function Test({ item: { name, state }, tests }: { item: Upstream; tests: Tests }) {
  const { t } = useTranslation('health');
  const outcome = tests.outcomes.get(name);
  return (
    <Box miw={170}>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t('testOf', { name })}
        disabled={state.status === 'disabled' || outcome === 'pending'}
        aria-busy={outcome === 'pending'}
        onClick={() => void tests.run([name])}
      >
        {t('test')}
      </Button>
      <Outcome outcome={outcome} />
    </Box>
  );
}

function KeyStates({ keys }: { keys: Upstream['keys'] }) {
  const { t } = useTranslation('health');
  return (
    <Stack gap={4} mt={6}>
      {keys.map(({ id, label, fingerprint, state }, index) => (
        <Group key={id} gap="xs">
          <Text size="sm" className="anywhere">
            {label ?? t('key', { index: index + 1 })}
          </Text>
          {fingerprint && (
            <Text size="xs" c="dimmed" className="mono">
              {fingerprint}
            </Text>
          )}
          <StateBadge state={state} />
        </Group>
      ))}
    </Stack>
  );
}

function Outcome({ outcome }: { outcome: TestOutcome | undefined }) {
  const { t } = useTranslation('health');
  if (outcome === undefined) return null;
  if (outcome === 'pending') return <Loader size="xs" mt={4} aria-label={t('test')} />;
  const { ok, model, latency_ms, status, message } = outcome;
  const said = { model, time: formatDuration(latency_ms), status: status ?? '', message: message ?? '' };
  return (
    <Text size="sm" mt={4} role="status" className="anywhere" c={ok ? 'green' : 'red'}>
      {model === null ? t('noModel') : t(ok ? 'answered' : 'noAnswer', said)}
    </Text>
  );
}
