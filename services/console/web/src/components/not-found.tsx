/** An address that names no page. */
import { Button } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from './empty-state.tsx';

export function NotFound() {
  const { t } = useTranslation();
  return (
    <EmptyState
      icon={IconMapOff}
      title={t('fault.notFound')}
      hint={t('fault.notFoundHint')}
      action={
        <Button component={Link} to="/" variant="light">
          {t('fault.home')}
        </Button>
      }
    />
  );
}
