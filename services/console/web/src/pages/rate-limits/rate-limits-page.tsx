/** How much of each limit is in use, read again every two seconds. */
import { Alert, Badge, Card, Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { LimitStatus } from '@model-gateway/console/answers';
import { IconGauge } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatMoney } from '../../components/format.ts';
import { Meter } from '../../components/meter.tsx';
import { type LinkedKind, NameLink, NameOf } from '../../components/name-link.tsx';
import { Page } from '../../components/page.tsx';

const refreshMs = 2000;

type Counter = LimitStatus['keys'][number];
type Gate = LimitStatus['models'][number];
type Budget = LimitStatus['budgets'][number];

export function RateLimitsPage() {
  const { t } = useTranslation('rate-limits');
  const status = useQuery({
    queryKey: ['rate-limit-status'],
    queryFn: ({ signal }) => call<LimitStatus>('rate-limit-status', { signal }),
    refetchInterval: refreshMs,
  });
  const { data } = status;
  return (
    <Page title={t('title')} hint={t('hint')} actions={data?.backend && <Badge variant="default">{t(`backends.${data.backend}`)}</Badge>}>
      {status.isError && <FaultNotice error={status.error} onRetry={() => status.refetch()} />}
      {status.isPending && <Skeleton height={160} />}
      {data?.degraded && <Alert color="orange">{t('degraded')}</Alert>}
      {data && data.processes.missing.length > 0 && <Alert color="orange">{t('missing', { names: data.processes.missing.join(', ') })}</Alert>}
      {data && <Layers status={data} />}
    </Page>
  );
}

function Layers({ status }: { status: LimitStatus }) {
  const { t } = useTranslation('rate-limits');
  const { global, streams, keys, ips, upstreams, models, budgets } = status;
  const caps = [
    { label: t('requests'), ...global },
    { label: t('streams'), ...streams },
  ];
  const nothingElse = keys.length + ips.length + upstreams.length + models.length + budgets.length === 0;
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Layer title={t('gateway')}>
          {caps.map(({ label, used, limit }) =>
            limit === null ? (
              <Text key={label} size="sm">
                {label}: {used}
              </Text>
            ) : (
              <Meter key={label} label={label} used={used} limit={limit} />
            ),
          )}
        </Layer>
        {upstreams.length > 0 && <Layer title={t('upstreams')}>{upstreams.map(gateOf('upstreams'))}</Layer>}
        {models.length > 0 && <Layer title={t('models')}>{models.map(gateOf('models'))}</Layer>}
        {budgets.length > 0 && <Layer title={t('budgets')}>{budgets.map(budget)}</Layer>}
        {keys.length > 0 && (
          <Layer title={t('keys')}>
            {keys.map((one) => (
              <CounterMeter key={one.name} {...one} kind="access-keys" />
            ))}
          </Layer>
        )}
        {ips.length > 0 && (
          <Layer title={t('addresses')}>
            {ips.map((one) => (
              <CounterMeter key={one.name} {...one} />
            ))}
          </Layer>
        )}
      </SimpleGrid>
      {nothingElse && (
        <Card withBorder>
          <EmptyState icon={IconGauge} title={t('emptyTitle')} hint={t('emptyHint')} />
        </Card>
      )}
    </>
  );
}

const gateOf = (kind: LinkedKind) => (one: Gate) => <GateMeters key={one.name} gate={one} kind={kind} />;
const budget = (one: Budget) => <BudgetMeter key={`${one.kind} ${one.currency} ${one.period} ${one.name}`} budget={one} />;

function Layer({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card withBorder component="section" aria-label={title}>
      <Title order={3} mb="sm">
        {title}
      </Title>
      <Stack gap="md">{children}</Stack>
    </Card>
  );
}

function CounterMeter({ name, used, limit, window_secs, kind }: Counter & { kind?: LinkedKind }) {
  const { t } = useTranslation('rate-limits');
  return (
    <Meter label={name} used={used} limit={limit} hint={t('in', { seconds: window_secs })}>
      {kind && <NameLink kind={kind} name={name} />}
    </Meter>
  );
}

function GateMeters({ gate: { name, limit, used, waiting, rpm_left, tpm_left }, kind }: { gate: Gate; kind: LinkedKind }) {
  const { t } = useTranslation('rate-limits');
  return (
    <div>
      <Group gap="xs" mb={4}>
        <NameLink kind={kind} name={name} fw={600} size="sm" />
        {waiting > 0 && (
          <Badge color="orange" variant="light" size="sm">
            {t('waiting', { count: waiting })}
          </Badge>
        )}
      </Group>
      <Stack gap="xs">
        {limit.max_concurrency !== null && <Meter label={t('underWay')} used={used} limit={limit.max_concurrency} />}
        {limit.rpm !== null && <Meter label={t('rpm')} used={limit.rpm - (rpm_left ?? limit.rpm)} limit={limit.rpm} />}
        {limit.tpm !== null && <Meter label={t('tpm')} used={limit.tpm - (tpm_left ?? limit.tpm)} limit={limit.tpm} />}
        {limit.tps_min_interval_ms !== null && (
          <Text size="sm" c="dimmed">
            {t('interval', { ms: limit.tps_min_interval_ms })}
          </Text>
        )}
      </Stack>
    </div>
  );
}

function BudgetMeter({ budget: { kind, name, currency, period, limit_micros, spent_micros, reserved_micros } }: { budget: Budget }) {
  const { t } = useTranslation('rate-limits');
  const { t: limits } = useTranslation('limits');
  return (
    <Meter
      label={`${t(`kinds.${kind}`)} ${name}`}
      used={(spent_micros ?? 0) + reserved_micros}
      limit={limit_micros}
      format={(micros) => formatMoney(micros, currency)}
      hint={limits(`periods.${period}`)}
    >
      {t(`kinds.${kind}`)} <NameOf word={kind} name={name} />
    </Meter>
  );
}
