/** Parts of the application that are loaded when they are first shown. One that cannot be loaded any more, as after an update of the gateway, says so in its own place: the page around it stays, with what was typed there. */
import { Alert, Box, Button, Stack, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { type LazyExoticComponent, lazy, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { untilReachable } from '../api/reachability.ts';

/** While the gateway is away it waits for it; what fails then is missing. */
export const whenThere = <T,>(load: () => Promise<T>): Promise<T> =>
  load().catch(async () => {
    await untilReachable();
    return load();
  });

/** Like `lazy` of React. `missing`: what is shown where the part cannot be loaded; `MissingOverlay` for parts without a place of their own on the page. */
// biome-ignore lint/suspicious/noExplicitAny: as React says it of components with whatever properties
export const lazyPart = <C extends (props: any) => ReactNode>(
  load: () => Promise<{ default: C }>,
  missing: () => ReactNode = MissingPart,
): LazyExoticComponent<C> => lazy(() => whenThere(load).catch(() => ({ default: missing as unknown as C })));

function MissingPart() {
  const { t } = useTranslation();
  return (
    <Alert color="orange" icon={<IconRefresh aria-hidden />} title={t('missingPart.title')} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{t('missingPart.hint')}</Text>
        <Button size="xs" variant="default" onClick={() => location.reload()}>
          {t('missingPart.reload')}
        </Button>
      </Stack>
    </Alert>
  );
}

/** At the edge of the window. */
export function MissingOverlay() {
  return (
    <Box pos="fixed" bottom={16} right={16} maw="min(420px, calc(100vw - 32px))" style={{ zIndex: 'var(--mantine-z-index-overlay)' }}>
      <MissingPart />
    </Box>
  );
}
