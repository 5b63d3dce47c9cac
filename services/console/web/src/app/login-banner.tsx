/** Says on every page that upstreams are out of routing until somebody logs in again. */
import { Alert, Anchor, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

export function LoginBanner({ names }: { names: readonly string[] }) {
  const { t } = useTranslation();
  return (
    <Alert color="red" role="status" mb="md" title={t('loginNeeded', { count: names.length })}>
      <Group gap="sm">
        {names.map((name) => (
          <Anchor key={name} component={Link} to="/credentials" search={{ edit: name } as never} size="sm" c="inherit" underline="always" className="anywhere">
            {name}
          </Anchor>
        ))}
      </Group>
    </Alert>
  );
}
