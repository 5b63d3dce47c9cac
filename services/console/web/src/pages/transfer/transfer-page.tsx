/** The whole configuration as one file: out, and in again after a look at what would change. */
import { Alert, Button, Card, Group, Input, SegmentedControl, Stack, Text, Textarea, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconDownload, IconUpload } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isOutdated, type Preview } from '../../api/changes.ts';
import { call } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { ChangeList } from '../../components/change-list.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { FileChoice } from '../../components/file-choice.tsx';
import { formatBytes, formatNumber } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { useKept } from '../../components/use-kept.ts';
import { ForeignImport } from './foreign-import.tsx';

export function TransferPage() {
  const { t } = useTranslation('transfer');
  const [converted, setConverted] = useState({ number: 0, file: '' });
  return (
    <Page title={t('title')} hint={t('hint')}>
      <Export />
      <ForeignImport onUse={(file) => setConverted(({ number }) => ({ number: number + 1, file }))} />
      <Import key={converted.number} given={converted.file} />
    </Page>
  );
}

function Export() {
  const { t } = useTranslation('transfer');
  const [format, setFormat] = useState('yaml');
  const download = useMutation({
    mutationFn: async (lostSecrets: 'refuse' | 'mask') =>
      save(await call<string>('export', { query: { format, lost_secrets: lostSecrets }, as: 'text' }), `gateway.${format}`),
  });
  return (
    <Card withBorder>
      <Stack align="flex-start">
        <Title order={3}>{t('export')}</Title>
        <Text size="sm" c="dimmed">
          {t('exportHint')}
        </Text>
        <Group>
          <SegmentedControl aria-label={t('format')} value={format} onChange={setFormat} data={['yaml', 'json']} />
          <Button leftSection={<IconDownload size={16} aria-hidden />} loading={download.isPending} onClick={() => download.mutate('refuse')}>
            {t('download')}
          </Button>
        </Group>
        {download.isError && <FaultNotice error={download.error} />}
        {download.error instanceof ApiProblem && download.error.status === 409 && (
          <Button variant="default" onClick={() => download.mutate('mask')}>
            {t('withoutLost')}
          </Button>
        )}
      </Stack>
    </Card>
  );
}

function save(text: string, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** In characters. With more in a field, browsers block for seconds at each change. */
const maxEdited = 200_000;

/** In place of the field. */
function LongFile({ text, onRemove }: { text: string; onRemove: () => void }) {
  const { t } = useTranslation('transfer');
  const facts = useMemo(() => ({ size: formatBytes(new Blob([text]).size), lines: formatNumber(text.split('\n').length) }), [text]);
  return (
    <Input.Wrapper label={t('file')}>
      <Group gap="sm" role="status">
        <Text size="sm">{t('long', facts)}</Text>
        <Button size="compact-sm" variant="default" onClick={onRemove}>
          {t('remove')}
        </Button>
      </Group>
    </Input.Wrapper>
  );
}

/** `given`: what is in the field at first. */
function Import({ given }: { given: string }) {
  const { t } = useTranslation('transfer');
  const client = useQueryClient();
  const [text, setText] = useKept('import', given);
  const send = (dryRun: boolean, etag: string | null = null) =>
    call<Preview>('import', { method: 'POST', query: { dry_run: dryRun }, body: text, bodyType: 'application/yaml', etag });
  const rehearsal = useMutation({ mutationFn: () => send(true) });
  const apply = useMutation({
    mutationFn: () => send(false, rehearsal.data?.$etag),
    // What was agreed to is no longer what would happen.
    onError: (error) => isOutdated(error) && rehearsal.mutate(),
    onSuccess: async ({ total_changes }) => {
      rehearsal.reset();
      setText('');
      notifications.show({ message: t('applied', { count: total_changes }), color: 'green' });
      await client.invalidateQueries();
    },
  });
  const change = (next: string) => {
    setText(next);
    // What was shown no longer belongs to what stands here.
    rehearsal.reset();
    apply.reset();
  };
  return (
    <Card withBorder>
      <Stack>
        <Title order={3}>{t('import')}</Title>
        <Text size="sm" c="dimmed">
          {t('importHint')}
        </Text>
        {text.length > maxEdited ? (
          <LongFile text={text} onRemove={() => change('')} />
        ) : (
          <Textarea
            label={t('file')}
            placeholder={t('filePlaceholder')}
            autosize
            minRows={6}
            maxRows={20}
            classNames={{ input: 'mono' }}
            value={text}
            onChange={(event) => change(event.currentTarget.value)}
          />
        )}
        <Group>
          <FileChoice accept=".yaml,.yml,.json,application/json,application/yaml" onChange={(file) => void file?.text().then(change)}>
            {(props) => (
              <Button {...props} variant="default" leftSection={<IconUpload size={16} aria-hidden />}>
                {t('choose')}
              </Button>
            )}
          </FileChoice>
          <Button
            disabled={text.trim() === ''}
            loading={rehearsal.isPending}
            onClick={() => {
              apply.reset();
              rehearsal.mutate();
            }}
          >
            {t('preview')}
          </Button>
        </Group>
        {rehearsal.isError && <FaultNotice error={rehearsal.error} title={t('refused')} />}
        {isOutdated(apply.error) && (
          <Alert color="orange" role="alert">
            {t('history:previewOutdated')}
          </Alert>
        )}
        {apply.isError && !isOutdated(apply.error) && <FaultNotice error={apply.error} title={t('refused')} />}
        {rehearsal.data && (
          <Stack>
            <Alert color="blue" title={t('wouldChange', { count: rehearsal.data.total_changes })} />
            <ChangeList {...rehearsal.data} />
            {rehearsal.data.total_changes > 0 && (
              <Group>
                <Button loading={apply.isPending} onClick={() => apply.mutate()}>
                  {t('apply')}
                </Button>
              </Group>
            )}
          </Stack>
        )}
      </Stack>
    </Card>
  );
}
