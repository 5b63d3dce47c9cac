/** What one of several routers says: turns, bindings and breakers are every router's own, so that one is looked at at a time. */
import { Alert, Select, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';

interface Gathered<Part extends { process: string }> {
  routers: readonly Part[];
  processes: { missing: readonly string[] };
}

/** The part of the chosen router, the first one's until another is chosen; and what chooses, null while there is nothing to choose or to say. */
export function useRouterView<Part extends { process: string }>(gathered: Gathered<Part> | undefined): { part: Part | undefined; chooser: ReactNode } {
  const { t } = useTranslation('routing');
  const [chosen, setChosen] = useState<string | null>(null);
  const { routers = [], processes: { missing } = { missing: [] } } = gathered ?? {};
  const part = routers.find(({ process }) => process === chosen) ?? routers[0];
  if (routers.length < 2 && missing.length === 0) return { part, chooser: null };
  return {
    part,
    chooser: (
      <Stack gap="xs" mb="sm">
        {missing.length > 0 && <Alert color="orange">{t('missing', { names: missing.join(', ') })}</Alert>}
        {routers.length > 1 && (
          <Select
            label={t('router')}
            description={t('routerHint')}
            data={routers.map(({ process }) => process)}
            value={part?.process ?? null}
            onChange={setChosen}
            allowDeselect={false}
          />
        )}
      </Stack>
    ),
  };
}
