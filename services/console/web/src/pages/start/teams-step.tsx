/** Teams: what each may use and spend, and its first key. */
import { ActionIcon, Button, Fieldset, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { NamesSelect } from '../../components/name-select.tsx';
import { useDraft } from '../../components/use-draft.ts';

interface Team {
  /** Of the row; not sent. */
  id: number;
  name: string;
  /** US dollars a month; empty: no limit. */
  amount: number | string;
  models: string[];
}

/** A team that was made, with the value of its key. */
export interface MadeTeam {
  name: string;
  key: string;
}

const newTeam = (id: number, name = ''): Team => ({ id, name, amount: '', models: ['*'] });

const entriesOf = ({ name, amount, models }: Team) => [
  {
    action: 'create',
    resource: 'key-groups',
    body: { name: name.trim(), models, on_break: 'auto', budget: amount === '' ? null : { limit: String(amount), period: 'month' } },
  },
  { action: 'create', resource: 'access-keys', body: { name: `${name.trim()}-key`, group: name.trim() } },
];

/** All teams in one commit; the keys in the order of the teams. */
async function makeTeams(teams: readonly Team[]): Promise<MadeTeam[]> {
  const { results } = await call<{ results: { resource: string; body: { key?: string } | null }[] }>('batch', {
    method: 'POST',
    body: { entries: teams.flatMap(entriesOf) },
  });
  const keys = results.filter(({ resource }) => resource === 'access-keys').map(({ body }) => body?.key ?? '');
  return teams.map(({ name }, index) => ({ name: name.trim(), key: keys[index] ?? '' }));
}

export function TeamsStep({ onDone }: { onDone: (teams: MadeTeam[]) => void }) {
  const { t } = useTranslation('start');
  const client = useQueryClient();
  const form = useForm({
    initialValues: { teams: [newTeam(1, 'team')] },
    validate: { teams: { name: (name) => (name.trim() === '' ? t('teams.needsName') : null) } },
  });
  useDraft('start teams', form);
  const create = useMutation({
    mutationFn: makeTeams,
    onSuccess: async (made) => {
      await Promise.all(['access-keys', 'key-groups'].map((queryKey) => client.invalidateQueries({ queryKey: [queryKey] })));
      onDone(made);
    },
  });
  const { teams } = form.values;
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values.teams))} noValidate>
      <Stack mt="md">
        <Text>{t('teams.hint')}</Text>
        {teams.map(({ id }, index) => (
          <Fieldset key={id} legend={t('teams.legend', { index: index + 1 })}>
            <Group align="flex-start" gap="sm">
              <TextInput flex="1 1 160px" label={t('teams.name')} required {...form.getInputProps(`teams.${index}.name`)} />
              <NumberInput
                flex="1 1 160px"
                label={t('teams.amount')}
                placeholder={t('teams.unlimited')}
                min={0}
                decimalScale={2}
                {...form.getInputProps(`teams.${index}.amount`)}
              />
              {teams.length > 1 && (
                <ActionIcon
                  mt={25}
                  size="lg"
                  color="red"
                  aria-label={t('teams.remove', { index: index + 1 })}
                  onClick={() => form.removeListItem('teams', index)}
                >
                  <IconTrash size={18} aria-hidden />
                </ActionIcon>
              )}
            </Group>
            <NamesSelect
              resources={['models', 'load-balancers']}
              label={t('teams.models')}
              description={t('teams.modelsHint')}
              {...form.getInputProps(`teams.${index}.models`)}
            />
          </Fieldset>
        ))}
        <Group>
          <Button
            variant="light"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => form.insertListItem('teams', newTeam(Math.max(...teams.map(({ id }) => id)) + 1))}
          >
            {t('teams.add')}
          </Button>
        </Group>
        <Text size="sm" c="dimmed">
          {t('teams.prices')} {t('teams.onBreak')}
        </Text>
        {create.error && <FaultNotice error={create.error} title={t('notSaved')} />}
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending}>
            {t('teams.next', { count: teams.length })}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
