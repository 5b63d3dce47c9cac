/** Says that something failed which has no place of its own on the page. */
import { notifications } from '@mantine/notifications';

export const describeFault = (error: unknown): void =>
  void notifications.show({ message: error instanceof Error ? error.message : String(error), color: 'red', autoClose: 10_000 });
