/** The frame of one page: its title in the tab and on top, a sentence on what it is for, its actions. */
import { Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

export function Page({ title, hint, actions, children }: { title: string; hint?: string; actions?: ReactNode; children: ReactNode }) {
  const { t } = useTranslation();
  useDocumentTitle(`${title} · ${t('product')}`);
  return (
    <Stack gap="lg" maw={1440} mx="auto">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div style={{ flex: '1 1 260px' }}>
          <Title order={2} size="h1">
            {title}
          </Title>
          {hint && (
            <Text c="dimmed" size="sm" maw={720}>
              {hint}
            </Text>
          )}
        </div>
        {actions && (
          <Group gap="xs" miw={0} maw="100%">
            {actions}
          </Group>
        )}
      </Group>
      {children}
    </Stack>
  );
}
