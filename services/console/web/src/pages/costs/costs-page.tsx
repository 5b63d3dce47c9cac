/** What is spent, by whom and on what: the month so far and its forecast, stacked by day, with the budgets and when they begin anew. */
import { Anchor, Button, Card, Group, SegmentedControl, Select, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import type { TopAnswer } from '@model-gateway/console/answers';
import { IconCoins, IconDownload } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '../../components/empty-state.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { Figure } from '../../components/figure.tsx';
import { formatDayUtc, formatMoney, formatMoneyShort, formatNumber, formatPercent } from '../../components/format.ts';
import { PageLink } from '../../components/name-link.tsx';
import { Page } from '../../components/page.tsx';
import { saveTable } from '../../components/save-table.ts';
import { StackedBars } from '../../components/stacked-bars.tsx';
import { useFilter } from '../../components/use-address-state.ts';
import { useNow } from '../../components/use-now.ts';
import { useIsAdmin } from '../../session/use-me.ts';
import { Budgets } from './budgets.tsx';
import { type Days, daysOf, forecast, monthEnd, type Span, spans, startsOf } from './months.ts';
import { costQuery, currenciesOf, type Grouping, groupings, maxRows, microsOf, stacksOf, sumOf, useDailyCosts, useTopCosts } from './use-costs.ts';

const isGrouping = (value: string | null): value is Grouping => groupings.includes(value as Grouping);
const isSpan = (value: string | null): value is Span => spans.includes(value as Span);

export function CostsPage() {
  const { t } = useTranslation(['costs', 'statistics']);
  const isAdmin = useIsAdmin();
  // Questions are about whole days: they are asked anew when one begins.
  const now = useNow();
  const [chosenBy, setBy] = useFilter('by');
  const [chosenSpan, setSpan] = useFilter('span');
  const [chosenCurrency, setCurrency] = useFilter('currency');
  const by = isGrouping(chosenBy) ? chosenBy : 'key_group';
  const span = isSpan(chosenSpan) ? chosenSpan : 'month';
  const days = daysOf(span, now);
  const month = useDailyCosts(daysOf('month', now));
  const before = useDailyCosts(daysOf('last-month', now));
  const whole = useDailyCosts(days);
  const grouped = useDailyCosts(days, by);
  const top = useTopCosts(days, by);
  const currencies = currenciesOf([...(whole.data?.items ?? []), ...(month.data?.items ?? []), ...(before.data?.items ?? [])]);
  const currency = chosenCurrency !== null && currencies.includes(chosenCurrency) ? chosenCurrency : (currencies[0] ?? 'USD');
  const failed = [month, before, whole, grouped, top].find(({ error }) => error !== null);
  const isOld = top.isPlaceholderData || whole.isPlaceholderData;
  const save = () => saveTable(t, 'stats/series', { ...costQuery(days, by), limit: 1000 }, `costs-${by}-${span}.csv`);
  const unpriced = (whole.data?.items ?? []).reduce((sum, { unpriced_requests }) => sum + unpriced_requests, 0);
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={
        <>
          {currencies.length > 1 && (
            <Select aria-label={t('currency')} w={100} allowDeselect={false} data={currencies} value={currency} onChange={setCurrency} />
          )}
          <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />} onClick={() => void save()}>
            {t('statistics:export')}
          </Button>
        </>
      }
    >
      {failed?.error && <FaultNotice error={failed.error} onRetry={() => failed.refetch()} />}
      <Figures
        month={sumOf(month.data?.items ?? [], currency)}
        before={sumOf(before.data?.items ?? [], currency)}
        now={now}
        currency={currency}
        shown={sumOf(whole.data?.items ?? [], currency)}
      />
      {unpriced > 0 && (
        <Card withBorder padding="sm" style={{ borderInlineStart: '4px solid var(--mantine-color-orange-filled)' }}>
          <Text size="sm">
            {t('unpriced', { count: unpriced, number: formatNumber(unpriced) })}{' '}
            <Anchor component={Link} inherit underline="always" to="/pricing">
              {t(isAdmin ? 'toPricing' : 'seePricing')}
            </Anchor>
          </Text>
        </Card>
      )}
      <Card withBorder component="section" aria-label={t('byDay')}>
        <Group justify="space-between" mb="md" gap="sm">
          <Select
            label={t('statistics:groupBy')}
            allowDeselect={false}
            data={groupings.map((name) => ({ value: name, label: t(`statistics:by.${name}`) }))}
            value={by}
            onChange={setBy}
          />
          <div className="choices">
            <SegmentedControl
              aria-label={t('statistics:range')}
              data={spans.map((value) => ({ value, label: t(`spans.${value}`) }))}
              value={span}
              onChange={setSpan}
            />
          </div>
        </Group>
        {grouped.data && whole.data && sumOf(whole.data.items, currency) > 0 ? (
          <StackedBars
            caption={t('byDay')}
            names={startsOf(days).map(formatDayUtc)}
            parts={stacksOf(days, grouped.data, whole.data, currency).map(({ value, rest, micros }) => ({
              label: rest ? t('rest') : (value ?? t([`statistics:noneOf.${by}`, 'statistics:none'])),
              values: micros,
            }))}
            format={(micros) => formatMoney(Math.round(micros), currency)}
          />
        ) : (
          whole.isSuccess && <EmptyState icon={IconCoins} title={t('nothing')} hint={t('nothingHint')} />
        )}
        {top.data && whole.data && (
          // While either is of another range no share is known.
          <CostTable answer={top.data} by={by} currency={currency} days={days} all={isOld ? 0 : sumOf(whole.data.items, currency)} />
        )}
      </Card>
      <Budgets now={now} />
    </Page>
  );
}

function Figures({ month, before, shown, now, currency }: { month: number; before: number; shown: number; now: number; currency: string }) {
  const { t } = useTranslation('costs');
  const expected = forecast(month, { from: daysOf('month', now).from, to: monthEnd(now) }, now);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
      <Figure label={t('monthToDate')} value={formatMoneyShort(month, currency)} />
      <Figure label={t('forecast')} value={expected === null ? '–' : formatMoneyShort(Math.round(expected), currency)} hint={t('forecastHint')} />
      <Figure label={t('lastMonth')} value={formatMoneyShort(before, currency)} />
      <Figure label={t('inRange')} value={formatMoneyShort(shown, currency)} />
    </SimpleGrid>
  );
}

/** Where it shows what was spent on it: of a tag the keys that have it, since statistics know the keys alone. */
const spentOn = (by: Grouping, value: string | null, range: string): { to: string; search: never } =>
  by === 'tag'
    ? { to: '/access-keys', search: (value === null ? {} : { tags: [value] }) as never }
    : { to: '/statistics', search: { [by]: value ?? '', by: by === 'model' ? 'access_key' : 'model', order: 'cost', range } as never };

interface CostTableProps {
  answer: TopAnswer;
  by: Grouping;
  currency: string;
  days: Days;
  /** What the range cost, also what is not in the answer. */
  all: number;
}

function CostTable({ answer, by, currency, days, all }: CostTableProps) {
  const { t } = useTranslation(['costs', 'statistics']);
  const items = answer.items.filter((item) => microsOf(item, currency) > 0 || item.unpriced_requests > 0);
  // What is left over of tags is not known: a key with several of them counts in each.
  const rest = by === 'tag' || answer.items.length < maxRows ? 0 : all - sumOf(items, currency);
  const range = days.to - days.from > 31 * 86_400_000 ? '90d' : '30d';
  if (items.length === 0) return null;
  return (
    <Stack mt="md" gap="xs">
      <Table.ScrollContainer minWidth={560}>
        <Table aria-label={t('table')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t(`statistics:by.${by}`)}</Table.Th>
              {['cost', 'share', 'requests', 'unpricedRequests'].map((name) => (
                <Table.Th key={name} className="numeric">
                  {t(`column.${name}`)}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.map((item) => (
              <Table.Tr key={item.value ?? ''}>
                <Table.Td className="anywhere">
                  <Anchor component={Link} inherit {...spentOn(by, item.value, range)}>
                    {item.value ?? t([`statistics:noneOf.${by}`, 'statistics:none'])}
                  </Anchor>
                  <PageLink word={by} name={item.value} />
                </Table.Td>
                <Table.Td className="numeric">{formatMoney(microsOf(item, currency), currency)}</Table.Td>
                <Table.Td className="numeric">{all === 0 ? '–' : formatPercent(microsOf(item, currency) / all)}</Table.Td>
                <Table.Td className="numeric">{formatNumber(item.requests)}</Table.Td>
                <Table.Td className="numeric">
                  <Text span inherit c={item.unpriced_requests > 0 ? 'orange' : undefined}>
                    {formatNumber(item.unpriced_requests)}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
            {rest > 0 && (
              <Table.Tr>
                <Table.Td>{t('rest')}</Table.Td>
                <Table.Td className="numeric">{formatMoney(rest, currency)}</Table.Td>
                <Table.Td className="numeric">{formatPercent(rest / all)}</Table.Td>
                <Table.Td />
                <Table.Td />
              </Table.Tr>
            )}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="xs" c="dimmed">
        {t('note')} {by === 'tag' && t('tagNote')}
      </Text>
    </Stack>
  );
}
