/** Own keys: made within what a group allows, shown with what is spent, rotated and switched off. */
import { Badge, Box, Button, Card, Group, Loader, Stack, Table, Text } from '@mantine/core';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { ask } from '../../components/ask.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { describeFault } from '../../components/describe-fault.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { EnabledBadge } from '../../components/enabled-badge.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatAmount, formatTime } from '../../components/format.ts';
import { useKept } from '../../components/use-kept.ts';
import { ClientSetupDialog } from './client-setup.tsx';
import { NewMyKey } from './new-my-key.tsx';
import { type MyKey, useMyChange, useMyGroups, useMyKeys } from './use-my.ts';

const readValue = async (name: string): Promise<string> => (await call<{ key: string }>(path('my', 'keys', name, 'api-key'))).key;

export function MyKeysTab() {
  const { t } = useTranslation('my');
  const keys = useMyKeys();
  const groups = useMyGroups();
  const [isNew, setNew] = useKept('my new key opened', false);
  const [shown, setShown] = useState<{ key: MyKey; value: string } | null>(null);
  const mayMake = groups.data?.items.filter(({ member_keys, keys: own, enabled }) => enabled && member_keys !== null && own < member_keys.max) ?? [];
  const create = mayMake.length > 0 && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setNew(true)}>
      {t('create')}
    </Button>
  );
  if (keys.isError) return <FaultNotice error={keys.error} onRetry={() => keys.refetch()} />;
  if (!keys.data || !groups.data) return <Loader />;
  const { items } = keys.data;
  return (
    <Stack>
      {items.length === 0 ? (
        <Card withBorder>
          <EmptyState icon={IconKey} title={t('emptyTitle')} hint={t(mayMake.length > 0 ? 'emptyHint' : 'emptyAsk')} action={create} />
        </Card>
      ) : (
        <>
          <Group justify="flex-end">{create}</Group>
          <Card withBorder padding={0}>
            <Keys items={items} onShow={setShown} />
          </Card>
        </>
      )}
      {isNew && (
        <NewMyKey
          groups={mayMake}
          onClose={() => setNew(false)}
          onMade={(key) => {
            setNew(false);
            setShown({ key, value: key.key });
          }}
        />
      )}
      {shown && <ClientSetupDialog name={shown.key.name} value={shown.value} models={modelsOf(shown.key)} onClose={() => setShown(null)} />}
    </Stack>
  );
  function modelsOf({ group }: MyKey): string[] {
    return groups.data?.items.find(({ name }) => name === group)?.models ?? [];
  }
}

function Keys({ items, onShow }: { items: readonly MyKey[]; onShow: (shown: { key: MyKey; value: string }) => void }) {
  const { t } = useTranslation('my');
  return (
    <Table aria-label={t('tabs.keys')} className="compact">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('name')}</Table.Th>
          <Table.Th visibleFrom="md">{t('key')}</Table.Th>
          <Table.Th visibleFrom="md">{t('group')}</Table.Th>
          <Table.Th>{t('spent')}</Table.Th>
          <Table.Th visibleFrom="md">{t('expires')}</Table.Th>
          <Table.Th visibleFrom="md">{t('lastUsed')}</Table.Th>
          <Table.Th visibleFrom="md">{t('state')}</Table.Th>
          <Table.Th>{t('actions')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((key) => (
          <Table.Tr key={key.name}>
            <Table.Td className="anywhere">
              {key.name}
              <Box hiddenFrom="md">
                <State of={key} />
              </Box>
            </Table.Td>
            <Table.Td visibleFrom="md">
              <Group gap={4} wrap="nowrap">
                <Text size="sm" className="mono nowrap">
                  {key.key}
                </Text>
                {!key.anonymous && <CopyButton text={() => readValue(key.name)} label={t('access-keys:copy', { name: key.name })} />}
              </Group>
            </Table.Td>
            <Table.Td className="anywhere" visibleFrom="md">
              {key.group}
            </Table.Td>
            <Table.Td style={{ overflowWrap: 'break-word' }}>
              <Spent of={key} />
            </Table.Td>
            <Table.Td visibleFrom="md">{key.expires_at === null ? t('access-keys:never') : formatTime(key.expires_at)}</Table.Td>
            <Table.Td visibleFrom="md">{key.last_used_at === null ? t('access-keys:never') : formatTime(key.last_used_at)}</Table.Td>
            <Table.Td visibleFrom="md">
              <State of={key} />
            </Table.Td>
            <Table.Td>
              <Actions of={key} onShow={onShow} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Spent({ of: { budget, spent } }: { of: MyKey }) {
  const { t } = useTranslation('my');
  if (budget === null) return '–';
  return `${formatAmount(spent, budget.currency)} / ${formatAmount(budget.limit, budget.currency)} ${t(`periods.${budget.period}`)}`;
}

function State({ of: { enabled, expires_at, previous_valid_until } }: { of: MyKey }) {
  const { t } = useTranslation('my');
  const isPast = expires_at !== null && Date.parse(expires_at) <= Date.now();
  return (
    <Stack gap={2} align="flex-start">
      {isPast ? (
        <Badge color="red" variant="light">
          {t('access-keys:expired')}
        </Badge>
      ) : (
        <EnabledBadge enabled={enabled} />
      )}
      {previous_valid_until !== null && enabled && <Text size="xs">{t('key-use:overlap', { when: formatTime(previous_valid_until) })}</Text>}
    </Stack>
  );
}

function Actions({ of: key, onShow }: { of: MyKey; onShow: (shown: { key: MyKey; value: string }) => void }) {
  const { t } = useTranslation('my');
  const { t: common } = useTranslation();
  const { name } = key;
  const rotate = useMyChange((hours: number) => call<MyKey>(path('my', 'keys', name, 'rotate'), { method: 'POST', body: { overlap_hours: hours } }));
  const disable = useMyChange(() => call(path('my', 'keys', name), { method: 'PATCH', body: { enabled: false } }));
  const remove = useMyChange(() => call(path('my', 'keys', name), { method: 'DELETE' }));
  const question = (title: string, hint: string, confirm: string, onConfirm: () => void) =>
    ask({ title, children: <Text size="sm">{hint}</Text>, labels: { confirm, cancel: common('actions.cancel') }, onConfirm });
  const onRotate = () =>
    question(t('access-keys:rotateTitle', { name }), t('rotateHint'), t('access-keys:rotate'), () =>
      rotate.mutate(dayOfHours, { onSuccess: (rotated) => onShow({ key: rotated, value: rotated.key }), onError: describeFault }),
    );
  return (
    <Group gap={4} className="row-actions">
      <Button size="compact-sm" variant="subtle" disabled={key.anonymous} onClick={async () => onShow({ key, value: await readValue(name) })}>
        {t('setUp')}
      </Button>
      <Button size="compact-sm" variant="subtle" loading={rotate.isPending} onClick={onRotate}>
        {t('access-keys:rotate')}
      </Button>
      {key.enabled ? (
        <Button
          size="compact-sm"
          variant="subtle"
          color="red"
          loading={disable.isPending}
          onClick={() => question(t('disableTitle', { name }), t('disableHint'), t('disable'), () => disable.mutate(undefined, { onError: describeFault }))}
        >
          {t('disable')}
        </Button>
      ) : (
        <Button
          size="compact-sm"
          variant="subtle"
          color="red"
          loading={remove.isPending}
          onClick={() =>
            question(t('deleteTitle', { name }), t('deleteHint'), common('actions.delete'), () => remove.mutate(undefined, { onError: describeFault }))
          }
        >
          {common('actions.delete')}
        </Button>
      )}
    </Group>
  );
}

/** The old value works for a day beside the new one: time to change it everywhere. */
const dayOfHours = 24;
