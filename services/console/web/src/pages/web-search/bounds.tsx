/** Within which bounds the gateway searches and fetches, and whom it asks. */
import { Button, Fieldset, Group, NumberInput, SimpleGrid, Stack, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { showFaults } from '../../components/form-faults.ts';
import { NameSelect } from '../../components/name-select.tsx';
import { type Revised, useConflict } from '../../components/use-conflict.tsx';
import { type FilledWith, useDraft } from '../../components/use-draft.ts';
import { useIsAdmin } from '../../session/use-me.ts';
import type { SearchConfig } from './search-provider.ts';

/** Settings that are whole numbers; each has its bounds in the API, which names what is wrong. */
const figures = ['max_uses', 'max_rounds', 'max_results', 'timeout_ms', 'fetch_max_bytes', 'fetch_max_chars', 'fetch_max_redirects'] as const;

/** The revision, which both the header and the body of an answer have, is none of its values. */
const toForm = ({ etag: _etag, $etag: _header, ...values }: Revised<SearchConfig>): Record<string, unknown> => values;
const isConflict = (error: unknown): boolean => error instanceof ApiProblem && error.status === 412;
const empty: Record<string, unknown> = { default_provider: null, fetch_enabled: true };
const read = (signal?: AbortSignal) => call<Revised<SearchConfig>>('search-config', signal ? { signal } : {});

export function Bounds() {
  const { t } = useTranslation('web-search');
  const { t: common } = useTranslation();
  const isAdmin = useIsAdmin();
  const client = useQueryClient();
  const stored = useQuery({ queryKey: ['search-config'], queryFn: ({ signal }) => read(signal) });
  const form = useForm<Record<string, unknown>>({ initialValues: empty });
  const filled = useRef<FilledWith<Record<string, unknown>>>({ values: empty, etag: null });
  useDraft('search-config', form, filled);
  const { notice, onConflict } = useConflict<SearchConfig, Record<string, unknown>>({
    form,
    filled,
    toForm,
    read,
    onThere: (there) => {
      client.setQueryData(['search-config'], there);
      save.reset();
    },
  });
  const save = useMutation({
    // Its own revision, not that of what was read since: nobody's change is overwritten unseen.
    mutationFn: (body: Record<string, unknown>) => call<Revised<SearchConfig>>('search-config', { method: 'PATCH', body, etag: filled.current.etag }),
    onSuccess: (saved) => {
      client.setQueryData(['search-config'], saved);
      fill(saved);
      notifications.show({ message: common('saved'), color: 'green' });
    },
    onError: (error) => (isConflict(error) ? onConflict().catch(() => {}) : showFaults(form, error)),
  });
  const fill = (config: Revised<SearchConfig>): void => {
    const values = toForm(config);
    form.setValues(values);
    form.resetDirty(values);
    filled.current = { values, etag: config.$etag ?? null };
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: filled when the settings arrive, and never over what was typed since
  useEffect(() => {
    if (stored.data && !form.isDirty()) fill(stored.data);
  }, [stored.data]);
  if (!stored.data) return stored.isError ? <FaultNotice error={stored.error} /> : null;
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Fieldset legend={t('bounds')} disabled={!isAdmin} mt="md">
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {t('boundsHint')}
          </Text>
          <NameSelect
            resource="search-providers"
            label={t('defaultProvider')}
            description={t('defaultProviderHint')}
            error={form.errors['default_provider']}
            clearable
            value={(form.values['default_provider'] as string | null) ?? null}
            onChange={(value) => form.setFieldValue('default_provider', value)}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'end' }}>
            {figures.map((figure) => (
              <NumberInput
                key={figure}
                label={t(`figures.${figure}`)}
                description={t(`figureHints.${figure}`)}
                min={0}
                allowDecimal={false}
                thousandSeparator=","
                {...form.getInputProps(figure)}
              />
            ))}
          </SimpleGrid>
          <Switch label={t('fetch')} description={t('fields:search_config.fetch_enabled')} {...form.getInputProps('fetch_enabled', { type: 'checkbox' })} />
          {notice}
          {save.isError && !notice && <FaultNotice error={save.error} title={t('notSaved')} />}
          {isAdmin && (
            <Group>
              <Button type="submit" loading={save.isPending} disabled={!form.isDirty()}>
                {t('saveBounds')}
              </Button>
            </Group>
          )}
        </Stack>
      </Fieldset>
    </form>
  );
}
