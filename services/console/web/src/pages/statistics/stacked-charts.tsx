/** Requests and money over time, stacked by what they are grouped by. */
import { SimpleGrid } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { type Query, type SeriesAnswer, type Span, startsOf, stepOf, useSeries } from '../../api/stats.ts';
import type { Series } from '../../components/chart.tsx';
import { ChartCard } from '../../components/chart-card.tsx';
import { formatCompact, formatMoney } from '../../components/format.ts';
import { useProtocolName } from '../../components/protocol.tsx';
import { logFiltersOf } from '../../components/stretch.tsx';

const colors = ['#4263eb', '#2f9e44', '#f08c00', '#0c8599', '#e03131', '#9c36b5', '#66a80f', '#868e96'];
/** Those with the most have a colour each, the rest one together. */
const limit = colors.length - 1;

export function StackedCharts({ span, by, filters }: { span: Span; by: string; filters: Query }) {
  const { t } = useTranslation('statistics');
  const protocolOf = useProtocolName();
  const grouped = useSeries(span, { ...filters, by, order: 'requests', limit });
  // In steps of the same length, so that what is left over is the rest.
  const whole = useSeries(span, { ...filters, granularity: grouped.data?.granularity }, grouped.data ? 30_000 : false).data;
  const answer = grouped.data;
  const drawn = useMemo(() => {
    if (!answer || !whole || whole.granularity !== answer.granularity) return null;
    const currency = whole.items.flatMap(({ cost }) => cost)[0]?.currency ?? null;
    const nameOf = (value: string | null) => (value === null ? t([`noneOf.${by}`, 'none']) : by.endsWith('protocol') ? protocolOf(value) : value);
    const microsOf = (item: SeriesAnswer['items'][number]) => item.cost.find((one) => one.currency === currency)?.cost_micros ?? 0;
    const stack = (read: (item: SeriesAnswer['items'][number]) => number) => stackOf({ answer, whole, read, nameOf, rest: t('rest') });
    return { times: startsOf(answer), requests: stack(({ requests }) => requests), cost: currency === null ? null : stack(microsOf), currency };
  }, [answer, whole, by, t, protocolOf]);
  const money = useMemo(() => (value: number) => formatMoney(Math.round(value), drawn?.currency ?? null), [drawn?.currency]);
  if (!answer || !drawn || answer.items.length === 0) return null;
  const shared = { times: drawn.times, stacked: true, stepMs: stepOf(answer), filters: logFiltersOf(filters) };
  const name = t(`by.${by}`);
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <ChartCard title={t('requestsBy', { name })} series={drawn.requests} format={formatCompact} {...shared} />
      {drawn.cost && <ChartCard title={t('costBy', { name })} series={drawn.cost} format={money} {...shared} />}
    </SimpleGrid>
  );
}

interface Stacked {
  answer: SeriesAnswer;
  whole: SeriesAnswer;
  read: (item: SeriesAnswer['items'][number]) => number;
  nameOf: (value: string | null) => string;
  rest: string;
}

function stackOf({ answer, whole, read, nameOf, rest }: Stacked): Series[] {
  const times = startsOf(answer);
  const place = new Map(times.map((time, at) => [time, at]));
  const parts = new Map<string | null, number[]>();
  const left = times.map(() => 0);
  for (const item of whole.items) {
    const at = place.get(item.start);
    if (at !== undefined) left[at] = (left[at] ?? 0) + read(item);
  }
  for (const item of answer.items) {
    const value = item.value ?? null;
    const values = parts.get(value) ?? times.map(() => 0);
    parts.set(value, values);
    const at = place.get(item.start);
    if (at === undefined) continue;
    values[at] = (values[at] ?? 0) + read(item);
    left[at] = Math.max(0, (left[at] ?? 0) - read(item));
  }
  const series = [...parts]
    .sort(([, one], [, other]) => sum(other) - sum(one))
    .map(([value, values], at) => ({ label: nameOf(value), color: colors[at] ?? '#868e96', values }));
  return sum(left) > 0 ? [...series, { label: rest, color: '#868e96', values: left }] : series;
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
