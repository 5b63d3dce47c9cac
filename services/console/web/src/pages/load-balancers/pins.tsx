/** Access keys that are sent to one entry while it is healthy. Each change is stored at once. */

import { ActionIcon, Button, Fieldset, Group, Pagination, Select, Stack, Table, Text } from '@mantine/core';
import type { Pin } from '@model-gateway/console/answers';
import { IconPin, IconTrash } from '@tabler/icons-react';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import type { Page } from '../../api/resources.ts';
import { Editable } from '../../components/editable.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { NameSelect } from '../../components/name-select.tsx';

const pageSize = 10;

export function Pins({ name, models }: { name: string; models: string[] }) {
  const { t } = useTranslation('load-balancers');
  const client = useQueryClient();
  const [page, setPage] = useState(1);
  const [accessKey, setAccessKey] = useState<string | null>(null);
  const [entry, setEntry] = useState<string | null>(null);
  const pins = useQuery({
    queryKey: ['load-balancers', 'pins', name, page],
    queryFn: ({ signal }) => call<Page<Pin>>(path('load-balancers', name, 'pins'), { query: { page, page_size: pageSize }, signal }),
    placeholderData: keepPreviousData,
  });
  const again = () => client.invalidateQueries({ queryKey: ['load-balancers', 'pins', name] });
  const add = useMutation({
    mutationFn: (pin: Pin) => call(path('load-balancers', name, 'pins'), { method: 'PUT', body: pin }),
    onSuccess: () => {
      setAccessKey(null);
      return again();
    },
  });
  const remove = useMutation({
    mutationFn: (key: string) => call(path('load-balancers', name, 'pins', key), { method: 'DELETE' }),
    onSuccess: again,
  });
  const fault = add.error ?? remove.error ?? pins.error;
  const total = pins.data?.total ?? 0;
  return (
    <Fieldset legend={t('pins')}>
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          {t('pinsHint')}
        </Text>
        {fault && <FaultNotice error={fault} title={t('pinFault')} />}
        {total > 0 && (
          <Table aria-label={t('pins')}>
            <Table.Tbody>
              {pins.data?.items.map((pin) => (
                <Table.Tr key={pin.access_key}>
                  <Table.Td className="anywhere">{pin.access_key}</Table.Td>
                  <Table.Td className="anywhere">{pin.entry}</Table.Td>
                  <Table.Td w={44}>
                    <Editable>
                      <ActionIcon color="red" aria-label={t('unpin', { name: pin.access_key })} onClick={() => remove.mutate(pin.access_key)}>
                        <IconTrash size={16} aria-hidden />
                      </ActionIcon>
                    </Editable>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
        {total > pageSize && <Pagination size="sm" total={Math.ceil(total / pageSize)} value={page} onChange={setPage} />}
        <Editable>
          <Group align="flex-end" gap="xs">
            <NameSelect flex="1 1 160px" resource="access-keys" label={t('pinKey')} value={accessKey} onChange={setAccessKey} />
            <Select flex="1 1 160px" label={t('pinEntry')} data={models} value={entry} onChange={setEntry} />
            <Button
              variant="light"
              leftSection={<IconPin size={16} aria-hidden />}
              disabled={accessKey === null || entry === null}
              loading={add.isPending}
              onClick={() => accessKey !== null && entry !== null && add.mutate({ access_key: accessKey, entry })}
            >
              {t('pin')}
            </Button>
          </Group>
        </Editable>
      </Stack>
    </Fieldset>
  );
}
