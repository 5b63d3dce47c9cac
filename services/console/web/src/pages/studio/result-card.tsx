/** What came of a trial: its figures, and the body before and after. */
import { Alert, Badge, Card, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { TextDiff } from '../../components/text-diff.tsx';

interface Props {
  /** The API's answer: another one is another run. */
  answer: unknown;
  before: string;
  after: string;
  figures: readonly string[];
  children?: ReactNode;
}

export function ResultCard({ answer, before, after, figures, children }: Props) {
  const { t } = useTranslation('studio');
  const card = useRef<HTMLDivElement>(null);
  // Each run brings its result into view: it stands below what was typed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new result is the reason
  useEffect(() => {
    card.current?.scrollIntoView({ block: 'nearest' });
  }, [answer]);
  return (
    <Card withBorder ref={card} component="section" aria-label={t('result')}>
      <Stack>
        <Group gap="sm">
          <Title order={3} size="h4">
            {t('result')}
          </Title>
          {figures.map((figure) => (
            <Badge key={figure} variant="default" size="lg" tt="none" fw={500}>
              {figure}
            </Badge>
          ))}
        </Group>
        {children}
        {before === after && (
          <Alert color="gray" variant="light">
            <Text size="sm">{t('unchanged')}</Text>
          </Alert>
        )}
        <TextDiff before={before} after={after} labels={{ before: t('before'), after: t('after'), unchanged: t('unchangedLines') }} />
      </Stack>
    </Card>
  );
}
