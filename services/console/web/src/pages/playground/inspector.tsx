/** What crossed the wire: the client's request, what the upstream was sent, the reply, and what a translation lost. */
import { Alert, Badge, Group, Stack, Table, Tabs, Text } from '@mantine/core';
import { IconArrowsExchange } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '../../components/empty-state.tsx';
import { formatDuration } from '../../components/format.ts';
import { LossRows } from '../../components/loss-rows.tsx';
import { NameLink } from '../../components/name-link.tsx';
import { useProtocolName } from '../../components/protocol.tsx';
import { Snippet } from '../../components/snippet.tsx';
import type { CallRecord } from './run-call.ts';

const longText = 2000;
/** Images and documents would hide the rest. */
const shorten = (_name: string, value: unknown) => (typeof value === 'string' && value.length > longText ? `${value.slice(0, 80)}… (${value.length})` : value);
const print = (value: unknown): string => JSON.stringify(value, shorten, 2);
const printWhole = (value: unknown): string => JSON.stringify(value, null, 2);

function printRaw(raw: string): string {
  try {
    return print(JSON.parse(raw));
  } catch {
    // A stream: shown as it came.
    return raw;
  }
}

export function Inspector({ record, viaKey }: { record: CallRecord | null; viaKey: boolean }) {
  const { t } = useTranslation('playground');
  const nameOf = useProtocolName();
  if (!record) return <EmptyState icon={IconArrowsExchange} title={t('nothingSent')} hint={t('nothingSentHint')} />;
  const { translation, translationHeader } = record;
  return (
    <Stack gap="sm">
      <Figures record={record} />
      <Tabs defaultValue="bodies" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="bodies">{t('bodies')}</Tabs.Tab>
          <Tabs.Tab value="reply">{t('reply')}</Tabs.Tab>
          <Tabs.Tab value="losses">
            {t('losses')} {translation && translation.losses.length > 0 && `(${translation.losses.length})`}
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="bodies" pt="sm">
          <Stack gap="sm">
            <Snippet title={t('clientBody')} text={print(record.clientBody)} copy={printWhole(record.clientBody)} maxHeight={300} />
            {translation?.upstream_body != null && (
              <Snippet
                title={`${t('upstreamBody')}${translation.upstream_protocol ? ` · ${nameOf(translation.upstream_protocol)}` : ''}`}
                text={print(translation.upstream_body)}
                copy={printWhole(translation.upstream_body)}
                maxHeight={300}
              />
            )}
            {viaKey && (
              <Alert color="blue" variant="light">
                {t('viaKeyHint')} {translationHeader && <code className="mono">{translationHeader}</code>}
              </Alert>
            )}
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="reply" pt="sm">
          {record.raw ? (
            <Snippet title={t('rawReply')} text={printRaw(record.raw)} copy={record.raw} maxHeight={560} />
          ) : (
            <Text c="dimmed">{t('noReply')}</Text>
          )}
        </Tabs.Panel>
        <Tabs.Panel value="losses" pt="sm">
          <Losses record={record} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

function Figures({ record }: { record: CallRecord }) {
  const { t } = useTranslation('playground');
  const { status, firstMs, totalMs, requestId } = record;
  return (
    <Group gap="sm">
      {status !== null && <Badge color={status < 400 ? 'green' : 'red'}>{status}</Badge>}
      {firstMs !== null && <Text size="sm">{t('first', { time: formatDuration(firstMs) })}</Text>}
      {totalMs !== null && <Text size="sm">{t('total', { time: formatDuration(totalMs) })}</Text>}
      {requestId && (
        <Text size="xs" className="mono anywhere">
          <NameLink kind="request" name={requestId} />
        </Text>
      )}
    </Group>
  );
}

function Losses({ record: { translation } }: { record: CallRecord }) {
  const { t } = useTranslation('playground');
  if (!translation || translation.losses.length === 0) return <Text c="dimmed">{t(translation ? 'noLosses' : 'lossesUnknown')}</Text>;
  return (
    <Table aria-label={t('losses')}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('lossField')}</Table.Th>
          <Table.Th>{t('lossAction')}</Table.Th>
          <Table.Th>{t('lossReason')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        <LossRows losses={translation.losses} />
      </Table.Tbody>
    </Table>
  );
}
