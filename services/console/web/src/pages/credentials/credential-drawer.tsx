/** One credential: how it stands, the way out where somebody has to do something, and what an admin may do with it. */
import { Alert, Button, Drawer, Group, Stack, Table, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { SsoCredential } from '@model-gateway/console/answers';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { useRemove } from '../../api/resources.ts';
import { ask } from '../../components/ask.ts';
import { useConfirmDelete } from '../../components/confirm-delete.tsx';
import { describeFault } from '../../components/describe-fault.ts';
import { useOverlayOpen } from '../../components/dialogs.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatTime } from '../../components/format.ts';
import { useKept } from '../../components/use-kept.ts';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { useIsAdmin } from '../../session/use-me.ts';
import { CredentialState } from './credential-state.tsx';
import { EditCredential } from './edit-credential.tsx';
import { LoginDrawer } from './login-drawer.tsx';
import { Upstreams } from './upstream-links.tsx';
import { useProfileNames, useProfiles } from './use-profiles.ts';

const refreshMs = 5_000;

export function CredentialDrawer({ name, onClose }: { name: string; onClose: () => void }) {
  const { t: common } = useTranslation();
  const isCovered = useOverlayOpen();
  const [again, setAgain] = useKept(`login of ${name}`, false);
  const [editing, setEditing] = useKept(`editing of ${name}`, false);
  const profiles = useProfiles();
  useReturnFocus();
  const one = useQuery({
    queryKey: ['sso-credentials', 'one', name],
    queryFn: ({ signal }) => call<SsoCredential>(path('sso-credentials', name), { signal }),
    refetchInterval: refreshMs,
  });
  if (again && one.data) return <LoginDrawer again={one.data} onClose={() => setAgain(false)} />;
  const profile = profiles.data?.items.find(({ id }) => id === one.data?.profile);
  if (editing && one.data && profile) return <EditCredential credential={one.data} profile={profile} onClose={() => setEditing(false)} />;
  return (
    <Drawer
      opened
      onClose={onClose}
      closeOnEscape={!isCovered}
      position="right"
      size="lg"
      title={name}
      closeButtonProps={{ 'aria-label': common('actions.close') }}
    >
      {one.isError && <FaultNotice error={one.error} onRetry={() => one.refetch()} />}
      {one.data && (
        <Stack>
          <WayOut credential={one.data} />
          <Facts credential={one.data} />
          <Actions credential={one.data} onAgain={() => setAgain(true)} onEdit={() => setEditing(true)} onClose={onClose} />
        </Stack>
      )}
    </Drawer>
  );
}

/** Nothing where all is well. */
function WayOut({ credential }: { credential: SsoCredential }) {
  const { t } = useTranslation('credentials');
  const isMachine = useIsMachine(credential);
  const { enabled, state, reason, profile } = credential;
  if (enabled && state === 'ok' && reason === null) return null;
  const way = !enabled ? 'disabled' : state === 'needs_login' && isMachine ? 'repair' : state;
  return (
    <Alert color={enabled && state === 'needs_login' ? 'red' : 'orange'} title={t(`ways.${way}`, { profile })}>
      {reason !== null && <span lang="en">{reason}</span>}
    </Alert>
  );
}

function useIsMachine({ profile }: SsoCredential): boolean {
  return (
    useProfiles()
      .data?.items.find(({ id }) => id === profile)
      ?.flows.includes('machine') ?? false
  );
}

function Facts({ credential }: { credential: SsoCredential }) {
  const { t, i18n } = useTranslation('credentials');
  const labelOf = (setting: string): string => (i18n.exists(`credentials:settings.${setting}`) ? t(`settings.${setting}`) : setting);
  const nameOf = useProfileNames();
  const time = (value: string | null) => (value === null ? '–' : formatTime(value));
  const facts: [string, ReactNode][] = [
    [t('state'), <CredentialState key="state" credential={credential} />],
    [
      t('profile'),
      <span key="profile" lang="en">
        {nameOf(credential.profile)}
      </span>,
    ],
    [t('account'), credential.account ?? '–'],
    ...(credential.description === '' ? [] : ([[t('description'), credential.description]] satisfies [string, ReactNode][])),
    [t('expires'), time(credential.expires_at)],
    [t('refreshed'), time(credential.refreshed_at)],
    [t('due'), time(credential.refresh_due_at)],
    [t('upstreams'), <Upstreams key="upstreams" names={credential.upstreams} />],
    ...Object.entries(credential.settings).map(([setting, value]): [string, ReactNode] => [
      labelOf(setting),
      <span key={setting} className="mono anywhere">
        {value}
      </span>,
    ]),
  ];
  return (
    <Table variant="vertical" layout="fixed">
      <Table.Tbody>
        {facts.map(([label, value]) => (
          <Table.Tr key={label}>
            <Table.Th w="36%" className="anywhere">
              {label}
            </Table.Th>
            <Table.Td className="anywhere">{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface ActionsProps {
  credential: SsoCredential;
  onAgain: () => void;
  onEdit: () => void;
  onClose: () => void;
}

function Actions({ credential, onAgain, onEdit, onClose }: ActionsProps) {
  const { t } = useTranslation('credentials');
  const { t: common } = useTranslation();
  const isAdmin = useIsAdmin();
  const isMachine = useIsMachine(credential);
  const client = useQueryClient();
  const remove = useRemove('sso-credentials');
  const confirmDelete = useConfirmDelete();
  const { name, enabled, state } = credential;
  const act = useMutation({
    mutationFn: (what: 'refresh' | 'revoke') =>
      what === 'refresh'
        ? call(path('sso-credentials', name, 'refresh'), { method: 'POST' })
        : call(path('sso-credentials', name), { method: 'PATCH', body: { state: 'revoked' } }),
    onSuccess: (_answer, what) => notifications.show({ message: t(`said.${what}`, { name }), color: 'green' }),
    onError: describeFault,
    onSettled: () => client.invalidateQueries(),
  });
  const revoke = () =>
    ask({
      title: t('revokeTitle', { name }),
      children: <Text size="sm">{t('revokeHint')}</Text>,
      labels: { confirm: t('revoke'), cancel: common('actions.cancel') },
      confirmProps: { color: 'red.9' },
      onConfirm: () => act.mutate('revoke'),
    });
  const removeIt = async () => {
    await remove.mutateAsync({ name });
    onClose();
  };
  if (!isAdmin) return <Alert color="gray">{common('readOnly')}</Alert>;
  return (
    <Group justify="space-between">
      <Group gap="xs">
        <Button color="red" variant="subtle" onClick={() => confirmDelete(name, removeIt, t('deleteHint'))}>
          {common('actions.delete')}
        </Button>
        {state !== 'revoked' && (
          <Button color="red" variant="subtle" onClick={revoke}>
            {t('revoke')}
          </Button>
        )}
      </Group>
      {enabled && (
        <Group gap="xs">
          <Button variant="default" onClick={onEdit}>
            {common('actions.edit')}
          </Button>
          <Button variant="default" loading={act.isPending} onClick={() => act.mutate('refresh')}>
            {t('refresh')}
          </Button>
          <Button onClick={onAgain}>{t(isMachine ? 'change' : 'again')}</Button>
        </Group>
      )}
    </Group>
  );
}
