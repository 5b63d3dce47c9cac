/** One figure with its name, and how it moved. */
import { Card, Text } from '@mantine/core';
import { formatPercent } from './format.ts';

interface Props {
  label: string;
  value: string;
  /** Share by which it grew since the range before; null: not known. */
  change?: number | null;
  /** Growing is bad. */
  inverse?: boolean;
  hint?: string;
}

export function Figure({ label, value, change = null, inverse = false, hint }: Props) {
  const color = change === null || change === 0 ? 'dimmed' : change > 0 === inverse ? 'red' : 'teal';
  // A time is longer than a phone's half is wide.
  const isLong = value.length > 14;
  return (
    <Card withBorder padding="md">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text fz={isLong ? 16 : 24} lh={1.35} fw={650} className={isLong ? 'anywhere' : 'nowrap'} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {value}
      </Text>
      <Text size="xs" c={hint ? 'dimmed' : color} mih={18}>
        {hint ?? (change === null ? '' : `${change > 0 ? '+' : ''}${formatPercent(change)}`)}
      </Text>
    </Card>
  );
}

export const changeOf = (now: number, before: number | undefined): number | null => (before ? (now - before) / before : null);
