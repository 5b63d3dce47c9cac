/** What the own keys cost, by key and by model. */
import { Card, Loader, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core';
import type { MyCosts } from '@model-gateway/console/answers';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatMoney, formatNumber } from '../../components/format.ts';
import { useMyCosts } from './use-my.ts';

const ranges = [1, 7, 30, 90] as const;

export function MyCostsTab() {
  const { t } = useTranslation('my');
  const [days, setDays] = useState<number>(30);
  const costs = useMyCosts(days);
  return (
    <Stack>
      <SegmentedControl
        aria-label={t('key-use:range')}
        data={ranges.map((value) => ({ value: String(value), label: t('key-use:days', { count: value }) }))}
        value={String(days)}
        onChange={(value) => setDays(Number(value))}
        style={{ alignSelf: 'flex-start', flexWrap: 'wrap' }}
      />
      {costs.isError && <FaultNotice error={costs.error} onRetry={() => costs.refetch()} />}
      {costs.isPending && <Loader />}
      {costs.data && (
        <>
          <Sums title={t('byKey')} parts={costs.data.keys} />
          <Sums title={t('byModel')} parts={costs.data.models} />
        </>
      )}
    </Stack>
  );
}

function Sums({ title, parts }: { title: string; parts: MyCosts['keys'] }) {
  const { t } = useTranslation('my');
  return (
    <Card withBorder padding={0} component="section" aria-label={title}>
      <Title order={3} size="h4" p="sm">
        {title}
      </Title>
      {parts.length === 0 ? (
        <Text p="sm" size="sm" c="dimmed">
          {t('key-use:unused')}
        </Text>
      ) : (
        <Table aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{title}</Table.Th>
              <Table.Th className="numeric">{t('key-use:requests')}</Table.Th>
              <Table.Th className="numeric">{t('key-use:errors')}</Table.Th>
              <Table.Th className="numeric">{t('cost')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {parts.map(({ value, requests, errors, cost }) => (
              <Table.Tr key={value}>
                <Table.Td className="anywhere">{value || '–'}</Table.Td>
                <Table.Td className="numeric">{formatNumber(requests)}</Table.Td>
                <Table.Td className="numeric">{formatNumber(errors)}</Table.Td>
                <Table.Td className="numeric">{cost.map(({ cost_micros, currency }) => formatMoney(cost_micros, currency)).join(' + ') || '–'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Card>
  );
}
