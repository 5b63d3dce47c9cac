/** Saves what a page shows as a file, and says where it does not hold all. */
import { notifications } from '@mantine/notifications';
import type { TFunction } from 'i18next';
import { download, type Query } from '../api/stats.ts';
import { describeFault } from './describe-fault.ts';
import { formatNumber } from './format.ts';

export async function saveTable(t: TFunction, where: string, query: Query, name: string): Promise<void> {
  try {
    const first = await download(where, query, name);
    if (first !== null) notifications.show({ message: t('statistics:firstOnly', { number: formatNumber(first) }), color: 'orange', autoClose: 10_000 });
  } catch (error) {
    describeFault(error);
  }
}
