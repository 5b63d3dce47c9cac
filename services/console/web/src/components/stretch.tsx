/** A stretch of time in the address: what a chart was zoomed to, or what lies behind one of its points. */
import { Badge, CloseButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Query } from '../api/stats.ts';
import type { Stretch } from './chart.tsx';
import { formatTime } from './format.ts';

/** The first and the last time that there is. */
const isTime = (value: number): boolean => Number.isInteger(value) && Math.abs(value) <= 8_640_000_000_000_000;

/** null: the address has none, or no whole one. */
export function stretchOf(search: Record<string, unknown>): Stretch | null {
  const [from, to] = [Number(search['from'] ?? Number.NaN), Number(search['to'] ?? Number.NaN)];
  return isTime(from) && isTime(to) && from < to ? { from, to } : null;
}

/** Filters of statistics as the log has them: what it cannot ask for, such as what has no model, is left out. */
export function logFiltersOf(filters: Query): Query {
  const names: Record<string, string> = { error: 'error_code' };
  return Object.fromEntries(Object.entries(filters).flatMap(([name, value]) => (value === '' ? [] : [[names[name] ?? name, value]])));
}

export function StretchBadge({ stretch: { from, to }, onRemove }: { stretch: Stretch; onRemove: () => void }) {
  const { t } = useTranslation('statistics');
  return (
    <Badge size="lg" variant="light" tt="none" rightSection={<CloseButton size="xs" aria-label={t('leaveStretch')} onClick={onRemove} />}>
      {formatTime(from)} – {formatTime(to)}
    </Badge>
  );
}
