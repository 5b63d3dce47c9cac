/** Each upstream with its keys: state, figures, the upstream's last words, and a test. */
import { Alert, Anchor, Button, Card, Group, Loader, Stack, Table, Text } from '@mantine/core';
import type { Health } from '@model-gateway/console/answers';
import { IconCircleCheck, IconHeartbeat } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '../../components/empty-state.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatDuration, formatNumber, formatRecent } from '../../components/format.ts';
import { ProtocolName } from '../../components/protocol.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import type { TestOutcome, Tests } from './use-health.ts';

type Upstream = Health['items'][number];

const broken: ReadonlySet<string> = new Set(['failing', 'refused', 'limited', 'degraded']);
const columns = ['attempts', 'failed', 'p50'] as const;

/** `tests` null: the reader may not make any. */
export function UpstreamsTab({ health, tests }: { health: UseQueryResult<Health>; tests: Tests | null }) {
  const { t } = useTranslation('health');
  const items = health.data?.items ?? [];
  if (health.isError && !health.data) return <FaultNotice error={health.error} onRetry={() => health.refetch()} />;
  if (health.isPending) return <Loader mx="auto" aria-label={t('title')} />;
  if (items.length === 0)
    return (
      <Card withBorder>
        <EmptyState icon={IconHeartbeat} title={t('emptyTitle')} hint={t('emptyHint')} />
      </Card>
    );
  return (
    <Stack>
      {!items.some(({ state }) => broken.has(state.status)) && (
        <Alert color="green" variant="light" icon={<IconCircleCheck aria-hidden />} role="status">
          {t('allWell')}
        </Alert>
      )}
      <Card withBorder padding={0}>
        <Table.ScrollContainer minWidth={720}>
          <Table aria-label={t('title')} verticalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('column.upstream')}</Table.Th>
                <Table.Th>{t('column.state')}</Table.Th>
                {columns.map((name) => (
                  <Table.Th key={name} className="numeric">
                    {t(`column.${name}`)}
                  </Table.Th>
                ))}
                {tests && <Table.Th>{t('column.test')}</Table.Th>}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {items.map((item) => (
                <UpstreamRow key={item.name} item={item} tests={tests} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Card>
    </Stack>
  );
}

function UpstreamRow({ item, tests }: { item: Upstream; tests: Tests | null }) {
  const { t } = useTranslation('health');
  const { name, protocol, state, keys, failing_models, last_failure } = item;
  const outcome = tests?.outcomes.get(name);
  return (
    <Table.Tr style={{ verticalAlign: 'top' }}>
      <Table.Td maw={440}>
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
      </Table.Td>
      <Table.Td>
        <StateBadge state={state} />
        {state.since !== null && (
          <Text size="xs" c="dimmed" className="nowrap">
            {t('since', { when: formatRecent(Date.parse(state.since)) })}
          </Text>
        )}
      </Table.Td>
      <Table.Td className="numeric">{formatNumber(state.attempts)}</Table.Td>
      <Table.Td className="numeric">
        <Text span inherit c={state.failed > 0 ? 'red' : undefined}>
          {formatNumber(state.failed)}
        </Text>
      </Table.Td>
      <Table.Td className="numeric">{formatDuration(state.p50_ms)}</Table.Td>
      {tests && (
        <Table.Td miw={170}>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t('testOf', { name })}
            disabled={state.status === 'disabled' || outcome === 'pending'}
            onClick={() => void tests.run([name])}
          >
            {t('test')}
          </Button>
          <Outcome outcome={outcome} />
        </Table.Td>
      )}
    </Table.Tr>
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
