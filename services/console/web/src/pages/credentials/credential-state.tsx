/** How a credential stands, in words as well as in colour. */
import { Badge } from '@mantine/core';
import type { SsoCredential } from '@model-gateway/console/answers';
import { useTranslation } from 'react-i18next';

const colors: Readonly<Record<SsoCredential['state'] | 'disabled', string>> = {
  ok: 'green',
  refreshing: 'blue',
  needs_login: 'red',
  revoked: 'gray',
  disabled: 'gray',
};

export function CredentialState({ credential: { enabled, state } }: { credential: Pick<SsoCredential, 'enabled' | 'state'> }) {
  const { t } = useTranslation('credentials');
  const shown = enabled ? state : 'disabled';
  return (
    <Badge color={colors[shown]} variant="light" style={{ flexShrink: 0 }}>
      {t(`states.${shown}`)}
    </Badge>
  );
}
