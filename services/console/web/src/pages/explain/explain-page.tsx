/** Where a request would go, and why each other node would not be asked: nothing is sent. */
import { Autocomplete, Button, Card, Group, SimpleGrid, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { RouteExplanation } from '@model-gateway/console/answers';
import { playgroundDialects } from '@model-gateway/protocols/playground';
import { IconRoute } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { offeredNames, useGrantedNames } from '../../api/use-catalog.ts';
import { CodeEditor } from '../../components/code-editor.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { showFaults } from '../../components/form-faults.ts';
import { jsonFaults, parseOrNull } from '../../components/json-text.ts';
import { NameSelect } from '../../components/name-select.tsx';
import { Page } from '../../components/page.tsx';
import { ProtocolSelect } from '../../components/protocol.tsx';
import { useDraft } from '../../components/use-draft.ts';
import { ExplanationView } from './explanation-view.tsx';

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** The address may say what is asked. */
export function ExplainPage() {
  const { t } = useTranslation('explain');
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const spoken = playgroundDialects.find(({ id }) => id === search['protocol']) ?? playgroundDialects[0]!;
  const form = useForm({
    initialValues: { access_key: textOf(search['access_key']), model: textOf(search['model']), client_protocol: spoken.id as string, body: '' },
    validate: ({ access_key, model, body }) => ({
      ...jsonFaults({ body }, t('notJson')),
      ...(access_key === '' && { access_key: t('required') }),
      ...(model.trim() === '' && { model: t('required') }),
    }),
  });
  useDraft('explain', form);
  const names = useGrantedNames(null);
  const explain = useMutation({
    mutationFn: ({ body, model, ...request }: typeof form.values) =>
      call<RouteExplanation>('route/explain', { method: 'POST', body: { ...request, model: model.trim(), ...(body.trim() && { body: parseOrNull(body) }) } }),
    onError: (error) => showFaults(form, error),
  });
  return (
    <Page title={t('title')} hint={t('hint')}>
      <Card withBorder>
        <form onSubmit={form.onSubmit((values) => explain.mutate(values))} noValidate>
          <Stack>
            <SimpleGrid cols={{ base: 1, sm: 3 }}>
              <NameSelect
                resource="access-keys"
                label={t('accessKey')}
                required
                {...form.getInputProps('access_key')}
                onChange={(value) => form.setFieldValue('access_key', value ?? '')}
              />
              <Autocomplete label={t('model')} required data={[...new Set(names)]} limit={offeredNames} {...form.getInputProps('model')} />
              <ProtocolSelect
                label={t('protocol')}
                allowDeselect={false}
                protocols={playgroundDialects.map(({ id }) => id)}
                {...form.getInputProps('client_protocol')}
              />
            </SimpleGrid>
            <CodeEditor
              language="json"
              label={t('body')}
              description={t('bodyHint')}
              minHeight="60px"
              maxHeight="240px"
              value={form.values.body}
              onChange={(text) => form.setFieldValue('body', text)}
              error={form.errors['body']}
            />
            <Group justify="flex-end">
              <Button type="submit" loading={explain.isPending} leftSection={<IconRoute size={16} aria-hidden />}>
                {t('explain')}
              </Button>
            </Group>
          </Stack>
        </form>
      </Card>
      {explain.error && <FaultNotice error={explain.error} />}
      {explain.data && <ExplanationView answer={explain.data} />}
    </Page>
  );
}
