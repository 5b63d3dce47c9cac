/** A bar with its figures in words: how much of a limit is used. */
import { Group, Progress, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatNumber } from './format.ts';

const color = (share: number): string => (share >= 1 ? 'red' : share >= 0.8 ? 'orange' : 'indigo');

interface Props {
  label: string;
  /** What it is called where nothing is written beside it. */
  name?: string;
  used: number;
  limit: number;
  /** Instead of the plain numbers. */
  format?: (value: number) => string;
  hint?: string;
  /** What is written instead of the label: a link, say. */
  children?: ReactNode;
}

export function Meter({ label, name = label, used, limit, format = formatNumber, hint, children }: Props) {
  const share = limit > 0 ? used / limit : 1;
  return (
    <div>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-end">
        {(children || label !== '') && (
          <Text size="sm" className="anywhere">
            {children ?? label}
          </Text>
        )}
        <Text
          size="sm"
          c="dimmed"
          ta="right"
          // In a column of a table, without a label, the limit may come below what is used of it.
          style={{ fontVariantNumeric: 'tabular-nums', overflowWrap: 'normal', ...(label !== '' && { whiteSpace: 'nowrap' }) }}
        >
          {format(used)} / {format(limit)} {hint}
        </Text>
      </Group>
      <Progress.Root size="md" mt={4}>
        <Progress.Section value={Math.min(100, share * 100)} color={color(share)} aria-label={name} />
      </Progress.Root>
    </div>
  );
}
