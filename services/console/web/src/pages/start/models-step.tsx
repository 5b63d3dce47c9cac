/** Which of the provider's models callers may use: the provider is asked, which also tells whether address and key are right. */
import { Alert, Button, Checkbox, Group, Loader, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import type { FetchedModels } from '@model-gateway/console/answers';
import { IconCircleCheck } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { useCatalogNames } from '../../api/use-catalog.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { useKept } from '../../components/use-kept.ts';
import { useMakeModels } from './make-models.ts';
import { NameFields } from './name-fields.tsx';
import { isSettled, type NameChoice, planNames } from './name-plan.ts';

const shown = 200;

export function ModelsStep({ upstream, onDone }: { upstream: string; onDone: (models: string[]) => void }) {
  const { t } = useTranslation('start');
  const [filter, setFilter] = useState('');
  const [chosen, setChosen] = useKept<readonly string[]>('start models', []);
  const [typed, setTyped] = useKept('start model', '');
  const found = useQuery({
    queryKey: ['fetch-models', upstream],
    queryFn: ({ signal }) => call<FetchedModels>(path('upstreams', upstream, 'fetch-models'), { method: 'POST', signal }),
    enabled: upstream !== '',
    retry: false,
    refetchOnWindowFocus: false,
  });
  const [prefix, setPrefix] = useKept('start prefix', '');
  const [choices, setChoices] = useKept<Readonly<Record<string, NameChoice>>>('start names', {});
  const names = useCatalogNames().data ?? [];
  const make = useMakeModels(upstream);
  const wanted = [...new Set([...chosen, ...(typed.trim() ? [typed.trim()] : [])])];
  const plan = planNames(wanted, prefix, choices, names);
  const save = useMutation({ mutationFn: () => make(plan), onSuccess: (made) => onDone(made) });
  const matching = (found.data?.models ?? []).filter((name) => name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <Stack mt="md">
      <Text>{t('models.hint')}</Text>
      {found.isPending && (
        <Group gap="xs" role="status">
          <Loader size="xs" />
          <Text size="sm">{t('models.asking', { upstream })}</Text>
        </Group>
      )}
      {found.error && <FaultNotice error={found.error} title={t('models.failed')} onRetry={() => found.refetch()} />}
      {found.data && (
        <>
          <Alert color="green" variant="light" icon={<IconCircleCheck aria-hidden />} role="status">
            {t('models.found', { count: found.data.models.length })}
          </Alert>
          {found.data.models.length > 8 && (
            <TextInput
              type="search"
              aria-label={t('models.filter')}
              placeholder={t('models.filter')}
              value={filter}
              onChange={(event) => setFilter(event.currentTarget.value)}
            />
          )}
          {matching.length > 1 && (
            <Group gap="xs">
              <Button size="compact-sm" variant="subtle" onClick={() => setChosen([...new Set([...chosen, ...matching])])}>
                {t('models.all', { count: matching.length })}
              </Button>
              <Button size="compact-sm" variant="subtle" disabled={chosen.length === 0} onClick={() => setChosen([])}>
                {t('models.none')}
              </Button>
            </Group>
          )}
          <ScrollArea.Autosize mah={280} type="auto">
            <Checkbox.Group value={[...chosen]} onChange={setChosen} aria-label={t('models.label')}>
              <Stack gap={6} p={2}>
                {matching.slice(0, shown).map((name) => (
                  <Checkbox key={name} value={name} label={name} className="anywhere" />
                ))}
              </Stack>
            </Checkbox.Group>
            {matching.length > shown && (
              <Text size="sm" c="dimmed">
                {t('models.more', { count: matching.length - shown })}
              </Text>
            )}
          </ScrollArea.Autosize>
        </>
      )}
      <TextInput label={t('models.other')} description={t('models.otherHint')} value={typed} onChange={(event) => setTyped(event.currentTarget.value)} />
      {wanted.length > 0 && (
        <NameFields prefix={prefix} onPrefix={setPrefix} plan={plan} onChoice={(id, choice) => setChoices((known) => ({ ...known, [id]: choice }))} />
      )}
      {save.error && <FaultNotice error={save.error} title={t('notSaved')} />}
      <Group justify="flex-end">
        <Button disabled={wanted.length === 0 || !plan.every(isSettled)} loading={save.isPending} onClick={() => save.mutate()}>
          {t('models.next', { count: wanted.length })}
        </Button>
      </Group>
    </Stack>
  );
}
