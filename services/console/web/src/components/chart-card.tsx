/** A chart in a card with its legend in the head; what is done to it leads on: a stretch to the statistics of that time, a point to its requests. */
import { Card, Group, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Query } from '../api/stats.ts';
import { Chart, type Mark, type Series, type Stretch } from './chart.tsx';

interface Props {
  title: string;
  times: readonly number[];
  series: readonly Series[];
  stacked?: boolean;
  format: (value: number) => string;
  marks?: readonly Mark[];
  stepMs: number;
  /** Of the log, for the requests behind a point. */
  filters: Query;
}

export function ChartCard({ title, filters, ...chart }: Props) {
  const { t } = useTranslation('statistics');
  const navigate = useNavigate();
  const legend = useRef<HTMLDivElement>(null);
  const onPoint = ({ from, to }: Stretch) => void navigate({ to: '/logs', search: { ...filters, from, to } as never });
  const onZoom = ({ from, to }: Stretch) =>
    void navigate({ to: '/statistics', search: ((search: object) => ({ ...search, range: undefined, from, to })) as never });
  return (
    <Card withBorder padding="sm" className="chart-card">
      <Group justify="space-between" gap="xs" align="flex-start" pb={4}>
        <Text fw={600} size="sm" className="nowrap">
          {title}
        </Text>
        <div ref={legend} className="chart-legend" />
      </Group>
      <Chart caption={`${title}. ${t('chartHint')}`} legend={legend} onPoint={onPoint} onZoom={onZoom} {...chart} />
    </Card>
  );
}
