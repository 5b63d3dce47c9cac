/** An address that names no page. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from './page.tsx';

export function NotFound() {
  const { t } = useTranslation();
  return (
    <Page title={t('fault.notFound')} hint={t('fault.notFoundHint')}>
      <div>
        <Button component={Link} to="/" variant="light">
          {t('fault.home')}
        </Button>
      </div>
    </Page>
  );
}
