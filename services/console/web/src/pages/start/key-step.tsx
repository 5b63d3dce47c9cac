/** A key for the first client, in a group that may use every model. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { showFaults } from '../../components/form-faults.ts';

const groupName = 'everyone';

async function ensureGroup(): Promise<void> {
  try {
    await call(path('key-groups', groupName));
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status !== 404) throw error;
    await call('key-groups', { method: 'POST', body: { name: groupName, models: ['*'], on_break: 'auto' } });
  }
}

export function KeyStep({ onDone }: { onDone: (key: string) => void }) {
  const { t } = useTranslation('start');
  const client = useQueryClient();
  const form = useForm({ initialValues: { name: 'my-first-key' } });
  const create = useMutation({
    mutationFn: async ({ name }: { name: string }) => {
      await ensureGroup();
      return (await call<{ key: string }>('access-keys', { method: 'POST', body: { name: name.trim(), group: groupName } })).key;
    },
    onSuccess: async (key) => {
      await Promise.all([client.invalidateQueries({ queryKey: ['access-keys'] }), client.invalidateQueries({ queryKey: ['key-groups'] })]);
      onDone(key);
    },
    onError: (error) => showFaults(form, error),
  });
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))} noValidate>
      <Stack mt="md">
        <Text>{t('key.hint', { group: groupName })}</Text>
        <Text size="sm" c="dimmed">
          {t('key.onBreak')}
        </Text>
        <TextInput label={t('key.name')} required {...form.getInputProps('name')} />
        {create.error && <FaultNotice error={create.error} title={t('notSaved')} />}
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending}>
            {t('key.next')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
