/** The losses of a translation as rows of a table: field, what became of it, and why. */
import { Table } from '@mantine/core';
import type { Loss } from '@model-gateway/contracts';
import { useTranslation } from 'react-i18next';

export function LossRows({ losses }: { losses: readonly Loss[] }) {
  const { t } = useTranslation('logs');
  return losses.map(({ field, action, detail }) => (
    <Table.Tr key={`${field} ${action} ${detail}`}>
      <Table.Td className="mono">{field}</Table.Td>
      <Table.Td>{t(`loss.${action}`, { defaultValue: action })}</Table.Td>
      <Table.Td>{detail}</Table.Td>
    </Table.Tr>
  ));
}
