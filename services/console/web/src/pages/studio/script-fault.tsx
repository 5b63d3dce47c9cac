/** Why a script failed, with its line; faults of the request itself are shown as on other pages. */
import { Alert, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ApiProblem } from '../../api/problem.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';

export function ScriptFaultNotice({ error }: { error: ApiProblem }) {
  const { t } = useTranslation('studio');
  const isOfScript = error.status === 422 && error.details.length === 0;
  if (!isOfScript) return <FaultNotice error={error} />;
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={t('scriptFailed')} role="alert">
      <Group gap="xs">
        <b className="mono">{error.code}</b>
        {error.line !== null && <Text size="sm">{t('atLine', { line: error.line })}</Text>}
      </Group>
      <Text size="sm" className="spoken">
        {error.message}
      </Text>
    </Alert>
  );
}
