/** Notice while the gateway does not answer: without it, outdated figures look current. All queries run again when the gateway is back. */
import { Alert } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { queryClient } from '../api/query-client.ts';
import { untilReachable, useIsReachable } from '../api/reachability.ts';

export function AwayBanner() {
  const { t } = useTranslation();
  const isReachable = useIsReachable();
  useEffect(() => {
    if (!isReachable) void untilReachable().then(() => queryClient.invalidateQueries());
  }, [isReachable]);
  if (isReachable) return null;
  return (
    <Alert color="orange" icon={<IconPlugConnectedX aria-hidden />} title={t('away.title')} role="status" mb="md">
      {t('away.hint')}
    </Alert>
  );
}
