/** A question before something is done. */
import { modals } from '@mantine/modals';
import i18next from 'i18next';
import { countOverlay, wantDialogs, whenDialogs } from './dialogs.tsx';

wantDialogs();

type Question = Parameters<typeof modals.openConfirmModal>[0];

/** Opens the dialog; the answer comes through `onConfirm` or `onCancel`. */
export function ask(question: Question): void {
  countOverlay(1);
  let isAnswered = false;
  whenDialogs(() => {
    const modalId = modals.openConfirmModal({
      closeButtonProps: { 'aria-label': i18next.t('actions.close') },
      ...question,
      // The keyboard begins at the answer that changes nothing.
      cancelProps: { 'data-autofocus': true, ...question.cancelProps },
      // The dialog takes a moment to close: the second press of a double click is not a second answer.
      onConfirm: () => {
        if (isAnswered) return;
        isAnswered = true;
        question.onConfirm?.();
      },
      // The Escape that asks comes to the question as well: the library listens at the window, behind the drawer when it was loaded after it.
      closeOnEscape: false,
      onClose: () => {
        // The key that closed it is still on its way to what lies below.
        setTimeout(() => countOverlay(-1));
        question.onClose?.();
      },
    });
    setTimeout(() => modals.updateModal({ modalId, closeOnEscape: true }));
  });
}
