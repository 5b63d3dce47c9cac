/** Asks the upstream which models it has, and makes models of those that are chosen. */
import { Button, Checkbox, Group, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { FetchedModels } from '@model-gateway/console/answers';
import { IconListSearch, IconPlus } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAddModels } from '../../api/add-models.ts';
import { call, path } from '../../api/client.ts';
import { useCatalogNames } from '../../api/use-catalog.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';

const shown = 300;

export function FetchModels({ upstream }: { upstream: string }) {
  const { t } = useTranslation('upstreams');
  const ask = useMutation({ mutationFn: () => call<FetchedModels>(path('upstreams', upstream, 'fetch-models'), { method: 'POST' }) });
  return (
    <Stack gap="xs">
      <Group>
        <Button variant="light" leftSection={<IconListSearch size={16} aria-hidden />} loading={ask.isPending} onClick={() => ask.mutate()}>
          {t('fetchModels')}
        </Button>
      </Group>
      {ask.error && <FaultNotice error={ask.error} title={t('fetchFailed')} />}
      {ask.data && <Choice upstream={upstream} found={ask.data} />}
    </Stack>
  );
}

function Choice({ upstream, found }: { upstream: string; found: FetchedModels }) {
  const { t } = useTranslation('upstreams');
  const taken = new Set((useCatalogNames().data ?? []).flatMap(({ name, aliases }) => [name, ...aliases]));
  const [filter, setFilter] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const addModels = useAddModels(upstream);
  const add = useMutation({
    mutationFn: () => addModels(chosen),
    onSuccess: (names) => {
      setChosen([]);
      notifications.show({ message: t('added', { count: names.length }), color: 'green' });
    },
  });
  const matching = found.models.filter((name) => name.toLowerCase().includes(filter.toLowerCase()));
  const free = matching.filter((name) => !taken.has(name));
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed" role="status" className="anywhere">
        {t('fetched', { parsed: found.parsed_count, raw: found.raw_count, source: found.source })}
      </Text>
      {found.models.length > 8 && (
        <TextInput
          type="search"
          aria-label={t('filterModels')}
          placeholder={t('filterModels')}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      <ScrollArea.Autosize mah={240} type="auto">
        <Checkbox.Group value={[...chosen]} onChange={setChosen} aria-label={t('fetchModels')}>
          <Stack gap={6} p={2}>
            {matching.slice(0, shown).map((name) => (
              <Checkbox key={name} value={name} label={taken.has(name) ? t('nameTaken', { name }) : name} disabled={taken.has(name)} className="anywhere" />
            ))}
          </Stack>
        </Checkbox.Group>
      </ScrollArea.Autosize>
      {add.error && <FaultNotice error={add.error} title={t('addFailed')} />}
      <Group gap="xs">
        <Button size="xs" leftSection={<IconPlus size={14} aria-hidden />} disabled={chosen.length === 0} loading={add.isPending} onClick={() => add.mutate()}>
          {t('addChosen', { count: chosen.length })}
        </Button>
        {free.length > 0 && (
          <Button size="xs" variant="subtle" onClick={() => setChosen(chosen.length === free.length ? [] : free)}>
            {t(chosen.length === free.length ? 'chooseNone' : 'chooseAll')}
          </Button>
        )}
      </Group>
    </Stack>
  );
}
