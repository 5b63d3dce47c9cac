/** Requests of a key by what they have in common, those with most first. */
import { Anchor, Badge, Card, Group, Table, Text, Title } from '@mantine/core';
import type { KeyUse } from '@model-gateway/console/answers';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { formatMoney, formatNumber, formatTime } from '../../components/format.ts';

interface Props {
  name: string;
  title: string;
  parts: KeyUse['addresses'];
  /** Values to mark as new. */
  fresh?: readonly string[];
  /** Filter of the log that such a value is; else it is searched. */
  filter?: string;
}

export function UseTable({ name, title, parts, fresh = [], filter = 'q' }: Props) {
  const { t } = useTranslation('key-use');
  return (
    <Card withBorder padding={0} component="section" aria-label={title}>
      <Title order={4} p="sm">
        {title}
      </Title>
      <Table.ScrollContainer minWidth={640}>
        <Table aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{title}</Table.Th>
              <Table.Th className="numeric">{t('requests')}</Table.Th>
              <Table.Th className="numeric">{t('errors')}</Table.Th>
              <Table.Th className="numeric">{t('cost')}</Table.Th>
              <Table.Th>{t('first')}</Table.Th>
              <Table.Th>{t('last')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {parts.map(({ value, requests, errors, cost, first_at, last_at }) => (
              <Table.Tr key={value ?? ''}>
                <Table.Td className="anywhere">
                  <Group gap="xs">
                    {value === null ? (
                      <Text size="sm" c="dimmed">
                        {t('notSaid')}
                      </Text>
                    ) : (
                      <Anchor component={Link} size="sm" to="/logs" search={{ access_key: name, [filter]: value, range: '7d' } as never} className="anywhere">
                        {value}
                      </Anchor>
                    )}
                    {value !== null && fresh.includes(value) && (
                      <Badge color="orange" variant="light">
                        {t('new')}
                      </Badge>
                    )}
                  </Group>
                </Table.Td>
                <Table.Td className="numeric">{formatNumber(requests)}</Table.Td>
                <Table.Td className="numeric">{formatNumber(errors)}</Table.Td>
                <Table.Td className="numeric nowrap">{cost.map(({ cost_micros, currency }) => formatMoney(cost_micros, currency)).join(' + ') || '–'}</Table.Td>
                <Table.Td className="nowrap">{formatTime(first_at)}</Table.Td>
                <Table.Td className="nowrap">{formatTime(last_at)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}
