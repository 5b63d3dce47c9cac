/** Another gateway's configuration: converted, with what became of each of its keys, and handed to the import below. */
import { Badge, Button, Card, Group, ScrollArea, SegmentedControl, Stack, Switch, Table, Text, Title } from '@mantine/core';
import type { ConvertedFile } from '@model-gateway/console/answers';
import { IconArrowDown, IconUpload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { FileChoice } from '../../components/file-choice.tsx';
import { formatNumber } from '../../components/format.ts';
import { sayFault } from '../../i18n/fault-texts.ts';

const sources = ['litellm', 'new-api', 'one-api'] as const;
type Status = ConvertedFile['findings'][number]['status'];
const colors: Readonly<Record<Status, string>> = { exact: 'green', approximate: 'blue', manual: 'yellow', unsupported: 'red' };
const shown = 500;
/** Characters of a file that is converted here. */
const maxText = 4_000_000;

/** `onUse`: what was converted, as a file for the import. */
export function ForeignImport({ onUse }: { onUse: (file: string) => void }) {
  const { t } = useTranslation('transfer');
  const [source, setSource] = useState<string>(sources[0]);
  const sayTooLong = (length: number): string => {
    const said = t('foreign.tooLong', { size: formatNumber(length), max: formatNumber(maxText), source });
    return source === 'litellm' ? said : `${said} ${t('foreign.tooLongTables')}`;
  };
  const convert = useMutation({
    mutationFn: async (file: File) => {
      const text = await file.text();
      if (text.length > maxText) throw new Error(sayTooLong(text.length));
      return call<ConvertedFile>('import/convert', { method: 'POST', body: { source, text } });
    },
  });
  const [fault] = convert.error instanceof ApiProblem ? convert.error.details : [];
  // The field of the API is the file that was chosen.
  const refusal = fault?.field === 'text' ? new Error(t('foreign.saidOfFile', { said: fault.message })) : convert.error;
  return (
    <Card withBorder>
      <Stack>
        <Title order={3}>{t('foreign.title')}</Title>
        <Text size="sm" c="dimmed">
          {t('foreign.hint')}
        </Text>
        <Group>
          <SegmentedControl
            aria-label={t('foreign.source')}
            value={source}
            onChange={(next) => {
              setSource(next);
              convert.reset();
            }}
            data={[
              { value: 'litellm', label: 'LiteLLM' },
              { value: 'new-api', label: 'new-api' },
              { value: 'one-api', label: 'one-api' },
            ]}
          />
          <FileChoice accept=".yaml,.yml,.json,.sql,application/json,application/yaml,application/sql" onChange={(file) => file && convert.mutate(file)}>
            {(props) => (
              <Button {...props} variant="default" loading={convert.isPending} leftSection={<IconUpload size={16} aria-hidden />}>
                {t('foreign.choose')}
              </Button>
            )}
          </FileChoice>
        </Group>
        <Text size="sm">{t(source === 'litellm' ? 'foreign.litellm' : 'foreign.tables')}</Text>
        {refusal && <FaultNotice error={refusal} title={t('foreign.refused')} />}
        {convert.data && (
          <>
            <Findings findings={convert.data.findings} />
            <Group>
              <Button leftSection={<IconArrowDown size={16} aria-hidden />} onClick={() => onUse(convert.data.file)}>
                {t('foreign.use')}
              </Button>
            </Group>
          </>
        )}
      </Stack>
    </Card>
  );
}

function Findings({ findings }: Pick<ConvertedFile, 'findings'>) {
  const { t } = useTranslation('transfer');
  const [all, setAll] = useState(false);
  const listed = findings.filter(({ status }) => all || status !== 'exact');
  const count = (status: Status): number => findings.filter((one) => one.status === status).length;
  return (
    <Stack gap="xs">
      <Group gap="xs" role="status">
        <Text size="sm">{t('foreign.keys', { count: findings.length })}</Text>
        {(Object.keys(colors) as Status[]).map((status) => (
          <Badge key={status} variant="light" color={colors[status]}>
            {t(`foreign.statuses.${status}`)} {count(status)}
          </Badge>
        ))}
      </Group>
      <Switch label={t('foreign.showExact')} checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />
      {listed.length > 0 && (
        <ScrollArea.Autosize mah={320} type="auto" viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': t('foreign.findings') }}>
          <Table aria-label={t('foreign.findings')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('foreign.path')}</Table.Th>
                <Table.Th>{t('foreign.status')}</Table.Th>
                <Table.Th>{t('foreign.message')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {listed.slice(0, shown).map(({ source_path, status, message }) => (
                <Table.Tr key={source_path}>
                  <Table.Td className="mono anywhere">{source_path}</Table.Td>
                  <Table.Td>
                    <Badge variant="light" color={colors[status]}>
                      {t(`foreign.statuses.${status}`)}
                    </Badge>
                  </Table.Td>
                  <Table.Td>{sayFault(message)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          {listed.length > shown && (
            <Text size="sm" c="dimmed">
              {t('foreign.more', { count: listed.length - shown })}
            </Text>
          )}
        </ScrollArea.Autosize>
      )}
    </Stack>
  );
}
