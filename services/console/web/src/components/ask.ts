/** A question before something is done. */
import { modals } from '@mantine/modals';
import i18next from 'i18next';
import { wantDialogs } from './dialogs.tsx';

wantDialogs();

/** Shows it; `onConfirm` and `onCancel` tell the answer. */
export const ask: typeof modals.openConfirmModal = (question) =>
  modals.openConfirmModal({ closeButtonProps: { 'aria-label': i18next.t('actions.close') }, ...question });
