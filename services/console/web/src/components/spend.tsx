/** What something cost in the last 30 days, beside what it may spend: as a column of its list, and at the head of its page. */
import { Anchor, Card, Group, Stack, Text } from '@mantine/core';
import type { Spend } from '@model-gateway/console/answers';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { formatMoney, formatNumber, formatTime } from './format.ts';
import { Meter } from './meter.tsx';

/** What money is counted by. */
export type SpendDimension = 'access_key' | 'key_group' | 'model' | 'upstream';

const refreshMs = 60_000;

/** By name. */
export function useSpend(by: SpendDimension | undefined, names: readonly string[]): ReadonlyMap<string, Spend> {
  const { data } = useQuery({
    queryKey: ['spend', by, names],
    queryFn: ({ signal }) => call<{ items: Spend[] }>('stats/spend', { method: 'POST', body: { by, names }, signal }),
    enabled: by !== undefined && names.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });
  return new Map((data?.items ?? []).map((item) => [item.value, item]));
}

const inWords = ({ cost }: Spend): string => cost.map(({ cost_micros, currency }) => formatMoney(cost_micros, currency)).join(' + ');

export function SpentCell({ spend }: { spend: Spend | undefined }) {
  if (!spend) return '';
  return spend.cost.length === 0 ? '–' : inWords(spend);
}

/** A bar, and in words what is left out of it. */
export function BudgetCell({ spend }: { spend: Spend | undefined }) {
  if (!spend?.budget) return '–';
  const { name, spent_micros, limit_micros, currency } = spend.budget;
  return <Meter label="" name={name} used={spent_micros} limit={limit_micros} format={(micros) => formatMoney(micros, currency)} />;
}

/** Above the form of one of them. */
export function SpendHead({ by, name }: { by: SpendDimension; name: string }) {
  const { t } = useTranslation('costs');
  const spend = useSpend(by, [name]).get(name);
  if (!spend) return null;
  const { budget } = spend;
  return (
    <Card withBorder padding="sm" component="section" aria-label={t('spentHead')}>
      <Group justify="space-between" align="flex-start" gap="md">
        <Stack gap={0}>
          <Text size="sm" c="dimmed">
            {t('spent30')}
          </Text>
          <Text fz={20} fw={650}>
            {inWords(spend) || '–'}
          </Text>
          <Text size="xs" c="dimmed">
            {t('ofRequests', { count: spend.requests, number: formatNumber(spend.requests) })}
            {spend.unpriced_requests > 0 && ` · ${t('ofUnpriced', { number: formatNumber(spend.unpriced_requests) })}`}
          </Text>
        </Stack>
        {spend.cost[0] && <Sparkline values={spend.cost[0].daily_micros} label={t('byDay')} />}
      </Group>
      {budget && (
        <>
          <Meter
            label={t('budget')}
            name={name}
            used={budget.spent_micros}
            limit={budget.limit_micros}
            format={(micros) => formatMoney(micros, budget.currency)}
            hint={t(`limits:periods.${budget.period}`)}
          />
          <Text size="xs" c="dimmed" mt={2}>
            {budget.to === null ? t('noReset') : t('resets', { when: formatTime(budget.to) })}
          </Text>
        </>
      )}
      <Group gap="md" mt={4}>
        <Anchor component={Link} size="sm" to="/logs" search={{ [by]: name } as never}>
          {t('itsRequests')}
        </Anchor>
        <Anchor component={Link} size="sm" to="/statistics" search={{ [by]: name, by: by === 'model' ? 'access_key' : 'model', range: '30d' } as never}>
          {t('itsStatistics')}
        </Anchor>
      </Group>
    </Card>
  );
}

const [width, height] = [180, 44];

/** One line over its days; the figures are in words beside it. */
function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const greatest = Math.max(...values, 1);
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, at) => `${(at * step).toFixed(1)},${(height - 2 - (value / greatest) * (height - 4)).toFixed(1)}`).join(' ');
  return (
    <svg width={width} height={height} role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`}>
      <polyline points={points} fill="none" stroke="var(--mantine-primary-color-filled)" strokeWidth={1.5} />
    </svg>
  );
}
