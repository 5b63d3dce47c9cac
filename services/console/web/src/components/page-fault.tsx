/** What a page that threw shows instead of itself; the menu stays usable. */
import { Button, Code, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

export function PageFault({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  useDocumentTitle(`${t('fault.page')} · ${t('product')}`);
  return (
    <Stack maw={640} p="lg" role="alert" align="flex-start">
      <Title order={2}>{t('fault.page')}</Title>
      <Text>{t('fault.pageHint')}</Text>
      <Code block>{error instanceof Error ? error.message : String(error)}</Code>
      <Button onClick={reset}>{t('actions.retry')}</Button>
    </Stack>
  );
}
