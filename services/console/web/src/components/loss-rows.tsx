/** The losses of a translation as rows of a table: field, what became of it, and why. */
import { Table } from '@mantine/core';
import type { Loss } from '@model-gateway/contracts';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';

/** Rows hold the English text; the table of translations is loaded where another language is in use. */
function useReasonText(): (detail: string) => string {
  const { i18n } = useTranslation();
  const table = useQuery({
    queryKey: ['loss-reasons'],
    queryFn: () => import('@model-gateway/contracts/loss-reasons'),
    enabled: i18n.language === 'zh',
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  });
  return (detail) => (i18n.language === 'zh' && table.data ? table.data.translateLossReason(detail, 'zh') : detail);
}

export function LossRows({ losses }: { losses: readonly Loss[] }) {
  const { t } = useTranslation('logs');
  const reasonText = useReasonText();
  return losses.map(({ field, action, detail }) => (
    <Table.Tr key={`${field} ${action} ${detail}`}>
      <Table.Td className="mono">{field}</Table.Td>
      <Table.Td>{t(`loss.${action}`, { defaultValue: action })}</Table.Td>
      <Table.Td>{reasonText(detail)}</Table.Td>
    </Table.Tr>
  ));
}
