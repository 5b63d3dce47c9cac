/** When the configuration was changed, for the axes of charts: admins see their revisions where a curve bends. */
import { Anchor, Group, Text } from '@mantine/core';
import type { CommitPage } from '@model-gateway/console/answers';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { useIsAdmin } from '../session/use-me.ts';
import type { Mark } from './chart.tsx';
import { formatRecent } from './format.ts';

/** The newest; a chart has no place for more. */
const limit = 100;
const shownLinks = 8;

export interface RevisionMark extends Mark {
  revision: number;
}

export function useRevisionMarks(from: number, to: number): readonly RevisionMark[] {
  const isAdmin = useIsAdmin();
  const { data } = useQuery({
    queryKey: ['history', 'marks'],
    queryFn: ({ signal }) => call<CommitPage>('history', { query: { limit }, signal }),
    enabled: isAdmin,
    refetchInterval: 60_000,
  });
  return useMemo(
    () =>
      (data?.items ?? [])
        .map(({ revision, occurred_at }) => ({ revision, at: Date.parse(occurred_at), label: `r${revision}` }))
        .filter(({ at }) => at >= from && at < to)
        .reverse(),
    [data, from, to],
  );
}

export function RevisionLinks({ marks }: { marks: readonly RevisionMark[] }) {
  const { t } = useTranslation('statistics');
  if (marks.length === 0) return null;
  return (
    <Group gap="xs">
      <Text size="xs" c="dimmed">
        {t('revisions')}
      </Text>
      {marks.slice(-shownLinks).map(({ revision, at, label }) => (
        <Anchor key={revision} component={Link} size="xs" to="/settings/history" search={{ revision } as never}>
          {label} ({formatRecent(at)})
        </Anchor>
      ))}
    </Group>
  );
}
