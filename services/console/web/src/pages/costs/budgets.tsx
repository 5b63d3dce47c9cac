/** Budgets: what is spent of each, when it begins anew, and whether it lasts until then. */
import { Anchor, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { BudgetStatus } from '@model-gateway/console/answers';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatMoney, formatNumber, formatTime } from '../../components/format.ts';
import { Meter } from '../../components/meter.tsx';
import { NameOf } from '../../components/name-link.tsx';
import { BudgetButtons } from './budget-buttons.tsx';
import { forecast, reachedAt } from './months.ts';
import { useBudgets } from './use-costs.ts';

/** The fullest; all others have much left. */
const maxShown = 60;

export function Budgets({ now }: { now: number }) {
  const { t } = useTranslation('costs');
  const budgets = useBudgets();
  const items = budgets.data?.items ?? [];
  return (
    <Card withBorder component="section" aria-label={t('budgets')}>
      <Group justify="space-between" mb="sm">
        <Title order={3}>{t('budgets')}</Title>
        <Group gap="md">
          <Anchor component={Link} size="sm" to="/key-groups">
            {t('toGroups')}
          </Anchor>
          <Anchor component={Link} size="sm" to="/access-keys">
            {t('toKeys')}
          </Anchor>
        </Group>
      </Group>
      {budgets.isError && <FaultNotice error={budgets.error} onRetry={() => budgets.refetch()} />}
      {budgets.isSuccess && items.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('noBudget')}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        {items.slice(0, maxShown).map((budget) => (
          <OneBudget key={`${budget.kind} ${budget.name}`} budget={budget} now={now} />
        ))}
      </SimpleGrid>
      {items.length > maxShown && (
        <Text size="sm" c="dimmed" mt="sm">
          {t('moreBudgets', { number: formatNumber((budgets.data?.total ?? 0) - maxShown) })}
        </Text>
      )}
    </Card>
  );
}

function OneBudget({ budget, now }: { budget: BudgetStatus; now: number }) {
  const { t } = useTranslation(['costs', 'limits', 'rate-limits']);
  const { kind, name, currency, period, from, to, limit_micros, spent_micros, topped_up_micros, forgiven_micros, state } = budget;
  return (
    <Stack gap={2}>
      <Meter
        label={`${t(`rate-limits:kinds.${kind}`)} ${name}`}
        used={spent_micros}
        limit={limit_micros}
        format={(micros) => formatMoney(micros, currency)}
        hint={t(`limits:periods.${period}`)}
      >
        {t(`rate-limits:kinds.${kind}`)} <NameOf word={kind} name={name} />
      </Meter>
      <Group justify="space-between" gap="xs">
        <Text size="sm" c={state === 'exhausted' ? 'red' : 'dimmed'}>
          {to === null ? t('noReset') : t('resets', { when: formatTime(to) })}
          {topped_up_micros > 0 && ` ${t('toppedUp', { amount: formatMoney(topped_up_micros, currency) })}`}
          {forgiven_micros > 0 && ` ${t('wasReset', { amount: formatMoney(forgiven_micros, currency) })}`}
          {state === 'exhausted' ? ` ${t('refused')}` : to === null ? '' : ` ${outlook(budget, { from, to }, now, t)}`}
        </Text>
        <Group gap="xs">
          <BudgetButtons budget={budget} />
          <Anchor component={Link} size="sm" to={kind === 'group' ? '/key-groups' : '/access-keys'} search={{ edit: name } as never}>
            {t('change', { name })}
          </Anchor>
        </Group>
      </Group>
    </Stack>
  );
}

function outlook(
  { spent_micros, limit_micros, currency }: BudgetStatus,
  period: { from: number; to: number },
  now: number,
  t: (key: string, words: Record<string, string>) => string,
): string {
  const ends = reachedAt(spent_micros, limit_micros, period, now);
  if (ends !== null) return t('endsAt', { when: formatTime(ends) });
  const expected = forecast(spent_micros, period, now);
  return expected === null ? '' : t('expected', { amount: formatMoney(Math.round(expected), currency) });
}
