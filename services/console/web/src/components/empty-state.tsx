/** Shown where there is no data yet: why, and what to do about it. */
import { Stack, Text, ThemeIcon } from '@mantine/core';
import { IconInbox, type TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';

export function EmptyState({ icon: Icon = IconInbox, title, hint, action }: { icon?: TablerIcon; title: string; hint?: string; action?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py="xl" ta="center">
      <ThemeIcon size={48} radius="xl" variant="light" color="gray" aria-hidden>
        <Icon size={26} stroke={1.5} />
      </ThemeIcon>
      <Text fw={600}>{title}</Text>
      {hint && (
        <Text c="dimmed" size="sm" maw={440}>
          {hint}
        </Text>
      )}
      {action}
    </Stack>
  );
}
