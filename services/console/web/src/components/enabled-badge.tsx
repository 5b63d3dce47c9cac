/** On or off, in words as well as in colour. */
import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';

export function EnabledBadge({ enabled }: { enabled: boolean }) {
  const { t } = useTranslation();
  return (
    <Badge color={enabled ? 'green' : 'gray'} variant="light">
      {t(enabled ? 'state.enabled' : 'state.disabled')}
    </Badge>
  );
}
