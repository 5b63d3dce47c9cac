/** Traffic, latency, tokens and money over time, from one answer. */
import { SimpleGrid } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { type Query, type SeriesAnswer, startsOf, stepOf } from '../api/stats.ts';
import type { Series } from './chart.tsx';
import { ChartCard } from './chart-card.tsx';
import { formatCompact, formatDuration, formatMoney, formatNumber } from './format.ts';
import { RevisionLinks, useRevisionMarks } from './revision-marks.tsx';

const colors = { good: '#4263eb', bad: '#e03131', warm: '#f08c00', calm: '#0c8599', plant: '#2f9e44' };

interface Props {
  answer: SeriesAnswer;
  /** What else narrows the requests behind a point, as the log's filters. */
  filters?: Query;
}

export function StatsCharts({ answer, filters = {} }: Props) {
  const { t } = useTranslation('statistics');
  const drawn = useMemo(() => {
    const times = startsOf(answer);
    const found = new Map(answer.items.map((item) => [item.start, item]));
    const line = (label: string, color: string, read: (item: SeriesAnswer['items'][number]) => number | null, none: number | null = 0): Series => ({
      label,
      color,
      values: times.map((time) => {
        const item = found.get(time);
        return item ? read(item) : none;
      }),
    });
    const currencies = [...new Set(answer.items.flatMap(({ cost }) => cost.map(({ currency }) => currency)))];
    return {
      times,
      // On top of one another they are all requests.
      traffic: [line(t('errors'), colors.bad, (item) => item.errors), line(t('succeeded'), colors.good, (item) => item.requests - item.errors)],
      latency: [
        line('p50', colors.plant, (item) => item.duration_ms.p50, null),
        line('p95', colors.warm, (item) => item.duration_ms.p95, null),
        line(t('firstContent'), colors.calm, (item) => item.first_content_ms.p50, null),
      ],
      tokens: [
        line(t('input'), colors.calm, (item) => item.input_tokens),
        line(t('cached'), colors.plant, (item) => item.cache_read_tokens),
        line(t('output'), colors.good, (item) => item.output_tokens + item.reasoning_tokens),
      ],
      cost: currencies.map((currency, at) => ({
        ...line(currency, Object.values(colors)[at % 5]!, (item) => item.cost.find((one) => one.currency === currency)?.cost_micros ?? 0),
        format: (value: number) => formatMoney(value, currency),
      })),
      // Several kinds of money share an axis of plain amounts: beside one another, since their sum means nothing.
      money: (value: number) => (currencies.length > 1 ? formatNumber(value / 1_000_000) : formatMoney(value, currencies[0] ?? null)),
    };
  }, [answer, t]);
  const marks = useRevisionMarks(answer.from, answer.to);
  const shared = { times: drawn.times, marks, stepMs: stepOf(answer), filters };
  return (
    <>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <ChartCard title={t('traffic')} series={drawn.traffic} stacked format={formatCompact} {...shared} />
        <ChartCard title={t('latency')} series={drawn.latency} format={formatDuration} {...shared} />
        <ChartCard title={t('tokens')} series={drawn.tokens} stacked format={formatCompact} {...shared} />
        {drawn.cost.length > 0 && <ChartCard title={t('cost')} series={drawn.cost} stacked={drawn.cost.length === 1} format={drawn.money} {...shared} />}
      </SimpleGrid>
      <RevisionLinks marks={marks} />
    </>
  );
}
