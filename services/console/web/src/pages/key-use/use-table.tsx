/** Requests of a key by what they have in common, those with most first. */
import { Anchor, Badge, Card, Group, Table, Text, Title } from '@mantine/core';
import type { KeyUse } from '@model-gateway/console/answers';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { formatMoney, formatNumber, formatRecent, formatTime } from '../../components/format.ts';

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
      {/* A phone has no room for times and failures: there they stand below what they are of. */}
      <Table aria-label={title} className="compact">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{title}</Table.Th>
            <Table.Th className="numeric nowrap">{t('requests')}</Table.Th>
            <Table.Th className="numeric nowrap" visibleFrom="md">
              {t('errors')}
            </Table.Th>
            <Table.Th className="numeric nowrap">{t('cost')}</Table.Th>
            <Table.Th visibleFrom="md">{t('first')}</Table.Th>
            <Table.Th visibleFrom="md">{t('last')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {parts.map((part) => (
            <Table.Tr key={part.value ?? ''}>
              <Table.Td className="anywhere">
                <Value
                  of={part.value}
                  search={{ access_key: name, [filter]: part.value, range: '7d' }}
                  isNew={part.value !== null && fresh.includes(part.value)}
                />
                <Text size="xs" c="dimmed" hiddenFrom="md">
                  {formatRecent(Date.parse(part.first_at))} – {formatRecent(Date.parse(part.last_at))}
                  {part.errors > 0 && ` · ${t('failed', { count: part.errors })}`}
                </Text>
              </Table.Td>
              <Table.Td className="numeric">{formatNumber(part.requests)}</Table.Td>
              <Table.Td className="numeric" visibleFrom="md">
                {formatNumber(part.errors)}
              </Table.Td>
              <Table.Td className="numeric nowrap">
                {part.cost.map(({ cost_micros, currency }) => formatMoney(cost_micros, currency)).join(' + ') || '–'}
              </Table.Td>
              <Table.Td visibleFrom="md" className="nowrap">
                {formatTime(part.first_at)}
              </Table.Td>
              <Table.Td visibleFrom="md" className="nowrap">
                {formatTime(part.last_at)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}

/** An address, a program or a model, which leads to its requests. */
function Value({ of: value, search, isNew }: { of: string | null; search: object; isNew: boolean }) {
  const { t } = useTranslation('key-use');
  if (value === null)
    return (
      <Text size="sm" c="dimmed">
        {t('notSaid')}
      </Text>
    );
  return (
    <Group gap="xs">
      <Anchor component={Link} size="sm" to="/logs" search={search as never} className="anywhere">
        {value}
      </Anchor>
      {isNew && (
        <Badge color="orange" variant="light">
          {t('new')}
        </Badge>
      )}
    </Group>
  );
}
