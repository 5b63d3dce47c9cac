/** Asks the upstream which models it has. */
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { IconListSearch } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';

interface Found {
  models: string[];
  parsed_count: number;
  raw_count: number;
  source: string;
}

export function FetchModels({ upstream }: { upstream: string }) {
  const { t } = useTranslation('upstreams');
  const ask = useMutation({ mutationFn: () => call<Found>(path('upstreams', upstream, 'fetch-models'), { method: 'POST' }) });
  return (
    <Stack gap="xs">
      <Group>
        <Button variant="light" leftSection={<IconListSearch size={16} aria-hidden />} loading={ask.isPending} onClick={() => ask.mutate()}>
          {t('fetchModels')}
        </Button>
      </Group>
      {ask.error && <FaultNotice error={ask.error} title={t('fetchFailed')} />}
      {ask.data && (
        <div role="status">
          <Text size="sm" c="dimmed">
            {t('fetched', { parsed: ask.data.parsed_count, raw: ask.data.raw_count, source: ask.data.source })}
          </Text>
          <Group gap={4} mt={4}>
            {ask.data.models.map((model) => (
              <Badge key={model} variant="default" tt="none">
                {model}
              </Badge>
            ))}
          </Group>
        </div>
      )}
    </Stack>
  );
}
