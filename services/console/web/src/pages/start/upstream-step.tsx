/** The provider: chosen from the well-known ones, or one that is there already. */
import { Button, Chip, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { FetchedModels } from '@model-gateway/console/answers';
import { type ProviderPreset, providerPresets } from '@model-gateway/protocols/playground';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { useList } from '../../api/resources.ts';
import { useProtocols } from '../../api/use-protocols.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { showFaults } from '../../components/form-faults.ts';
import { ProtocolSelect } from '../../components/protocol.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { useDraft } from '../../components/use-draft.ts';

const first = providerPresets[0]!;

/** What the first-run wizard asks about the first upstream. */
export interface Provider {
  preset: string;
  name: string;
  protocol: string;
  base_url: string;
  key: string;
}

const fromPreset = ({ id, protocol, baseUrl }: ProviderPreset) => ({ preset: id, name: id, protocol: protocol as string, base_url: baseUrl ?? '' });
export const emptyProvider: Provider = { ...fromPreset(first), key: '' };

interface Props {
  /** Upstream that this step made before; '' when none. */
  made: string;
  initial: Provider;
  /** Without a provider when one was chosen that is there. */
  onDone: (upstream: string, provider?: Provider) => void;
}

export function UpstreamStep({ made, initial, onDone }: Props) {
  const { t } = useTranslation('start');
  const protocols = useProtocols();
  const present = useList<{ name: string }>('upstreams', { page: 1, page_size: 50, sort: 'name' }).data?.items ?? [];
  const save = useTestedSave(made);
  const form = useForm({ initialValues: initial });
  useDraft('start upstream', form);
  const preset = providerPresets.find(({ id }) => id === form.values.preset) ?? first;
  const choose = (id: string | string[]) => {
    const chosen = providerPresets.find((one) => one.id === id) ?? first;
    form.setValues(fromPreset(chosen));
    form.clearErrors();
  };
  const submit = (provider: Provider, keep = false) =>
    save.mutate(
      { provider, keep },
      {
        onSuccess: (name) => onDone(name, provider),
        onError: (error) => showFaults(form, error, { api_keys: 'key' }),
      },
    );
  return (
    <form onSubmit={form.onSubmit((provider) => submit(provider))} noValidate>
      <Stack mt="md">
        <Text>{t('upstream.hint')}</Text>
        <Chip.Group value={preset.id} onChange={choose}>
          <Group gap="xs" role="group" aria-label={t('upstream.provider')}>
            {providerPresets.map(({ id, name }) => (
              <Chip key={id} value={id}>
                {name}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
        <TextInput label={t('upstream.name')} required {...form.getInputProps('name')} />
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <TextInput
            label={t('upstream.address')}
            type="url"
            required
            placeholder="https://api.example.com/v1"
            style={{ flexBasis: 300 }}
            {...form.getInputProps('base_url')}
          />
          <ProtocolSelect
            label={t('upstream.protocol')}
            allowDeselect={false}
            protocols={protocols}
            style={{ flexBasis: 220 }}
            {...form.getInputProps('protocol')}
          />
        </Group>
        <SecretInput
          label={t('upstream.key')}
          description={t('upstream.keyHint')}
          placeholder={preset.keyHint}
          autoComplete="off"
          {...form.getInputProps('key')}
        />
        {save.error && <FaultNotice error={save.error} title={t(save.error instanceof FailedTest ? 'upstream.noAnswer' : 'notSaved')} />}
        {save.error instanceof FailedTest && (
          <Group justify="space-between">
            <Text size="sm">{t('upstream.notKept')}</Text>
            <Button variant="default" loading={save.isPending} onClick={() => submit(form.values, true)}>
              {t('upstream.keep')}
            </Button>
          </Group>
        )}
        <Group justify="space-between">
          {present.length > 0 ? (
            <Select
              aria-label={t('upstream.present')}
              placeholder={t('upstream.present')}
              data={present.map(({ name }) => name)}
              value={null}
              onChange={(name) => name && onDone(name)}
            />
          ) : (
            <span />
          )}
          <Button type="submit" loading={save.isPending}>
            {t('upstream.next')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The provider did not answer: what the test said. */
class FailedTest extends Error {}

/**
 * Stores the provider and asks it for its models. One that does not answer is taken away again, unless the user wants to keep it: nobody should have to find
 * and delete what a wrong address left behind. `made`: the upstream that this step stored before, which is changed.
 */
function useTestedSave(made: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ provider: { name, protocol, base_url, key }, keep }: { provider: Provider; keep: boolean }) => {
      const isChange = made !== '' && name.trim() === made;
      const body = { name: name.trim(), protocol, base_url: base_url.trim(), api_keys: key.trim() ? [{ key: key.trim() }] : [] };
      const stored = await (isChange
        ? call<{ name: string }>(path('upstreams', made), { method: 'PATCH', body })
        : call<{ name: string }>('upstreams', { method: 'POST', body }));
      if (keep) return stored.name;
      try {
        const found = await call<FetchedModels>(path('upstreams', stored.name, 'fetch-models'), { method: 'POST' });
        client.setQueryData(['fetch-models', stored.name], found);
      } catch (error) {
        if (!isChange) await call(path('upstreams', stored.name), { method: 'DELETE' });
        throw new FailedTest(error instanceof Error ? error.message : '');
      }
      return stored.name;
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['upstreams'] }),
  });
}
