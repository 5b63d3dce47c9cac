/** Asks before something is deleted, then says what happened. */
import { Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ask } from './ask.ts';
import { describeFault } from './describe-fault.ts';

export function useConfirmDelete() {
  const { t } = useTranslation();
  return (name: string, remove: () => Promise<unknown>, hint?: ReactNode) =>
    ask({
      title: t('confirmDelete.title', { name }),
      children: hint === undefined || typeof hint === 'string' ? <Text size="sm">{hint ?? t('confirmDelete.hint')}</Text> : hint,
      labels: { confirm: t('actions.delete'), cancel: t('actions.cancel') },
      confirmProps: { color: 'red.9' },
      onConfirm: () => {
        remove().then(() => notifications.show({ message: t('removed', { name }), color: 'green' }), describeFault);
      },
    });
}
