/** Who may use the console. */
import { Badge, Button, Select, Switch, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlus, IconUsers } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { useList } from '../../api/resources.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { EnabledBadge } from '../../components/enabled-badge.tsx';
import { formatTime } from '../../components/format.ts';
import { OpenButton } from '../../components/open-button.tsx';
import { Page } from '../../components/page.tsx';
import { ResourceDrawer } from '../../components/resource-drawer.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { useListState } from '../../components/use-address-state.ts';
import { useOpened } from '../../components/use-opened.ts';
import { useIsAdmin } from '../../session/use-me.ts';
import { deletionWithKeys } from './delete-with-keys.tsx';
import { KeysOfUser } from './keys-of-user.tsx';

interface User {
  username: string;
  role: 'admin' | 'monitor' | 'member';
  email: string | null;
  enabled: boolean;
  has_password: boolean;
  identity: string | null;
  last_login_at: string | null;
}

interface UserForm extends Record<string, unknown> {
  username: string;
  role: string;
  email: string;
  enabled: boolean;
  password: string;
}

const empty: UserForm = { username: '', role: 'monitor', email: '', enabled: true, password: '' };
/** As `owner` of a key names the user. */
const ownersOf = ({ username, email }: User): string[] => [...new Set([username, ...(email === null ? [] : [email])])];
const toForm = ({ username, role, email, enabled }: User): UserForm => ({ username, role, email: email ?? '', enabled, password: '' });
const toBody = ({ username, email, password, ...form }: UserForm) => ({
  username: username.trim(),
  ...form,
  email: email.trim() || null,
  ...(password !== '' && { password }),
});

export function UsersPage() {
  const { t } = useTranslation('users');
  const isAdmin = useIsAdmin();
  const [state, setState] = useListState('username');
  const edited = useOpened('edit');
  const created = useOpened('create');
  const list = useList<User>('users', { page: state.page, q: state.q, sort: state.sort }, { enabled: isAdmin });
  const create = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => created.open('new')}>
      {t('create')}
    </Button>
  );
  const columns: Column<User>[] = [
    {
      id: 'username',
      title: t('username'),
      sort: 'username',
      cell: ({ username }) => <OpenButton onOpen={() => edited.open(username)}>{username}</OpenButton>,
    },
    { id: 'role', title: t('role'), sort: 'role', cell: ({ role }) => <RoleBadge role={role} /> },
    { id: 'state', title: t('state'), cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
    { id: 'signsIn', title: t('signsIn'), wide: true, cell: ({ identity }) => (identity === null ? t('byPassword') : t('elsewhere', { issuer: identity })) },
    {
      id: 'lastLogin',
      title: t('lastLogin'),
      sort: 'last_login_at',
      wide: true,
      cell: ({ last_login_at }) => (last_login_at ? formatTime(last_login_at) : '–'),
    },
  ];
  return (
    <Page title={t('title')} hint={t('hint')} actions={create}>
      <DataTable
        caption={t('title')}
        query={list}
        columns={columns}
        rowKey={({ username }) => username}
        onOpen={({ username }) => edited.open(username)}
        state={state}
        onState={setState}
        empty={<EmptyState icon={IconUsers} title={t('emptyTitle')} hint={t('emptyHint')} action={create} />}
      />
      {edited.value !== null && <UserDrawer key={edited.value} username={edited.value} onClose={edited.close} />}
      {created.value !== null && isAdmin && <UserDrawer username={null} onClose={created.close} />}
    </Page>
  );
}

function RoleBadge({ role }: Pick<User, 'role'>) {
  const { t } = useTranslation();
  return (
    <Badge variant="light" color={role === 'admin' ? 'indigo' : 'gray'} tt="none">
      {t(`roles.${role}`)}
    </Badge>
  );
}

function UserDrawer({ username, onClose }: { username: string | null; onClose: () => void }) {
  const { t } = useTranslation('users');
  const { t: common } = useTranslation();
  const client = useQueryClient();
  const endSessions = async (name: string) => {
    try {
      await call('sessions', { method: 'DELETE', query: { username: name } });
      notifications.show({ message: t('sessionsEnded', { name }), color: 'green' });
    } catch (error) {
      notifications.show({ message: error instanceof Error ? error.message : String(error), color: 'red' });
    }
  };
  const isNew = username === null;
  return (
    <ResourceDrawer<User, UserForm>
      resource="users"
      name={username}
      createTitle={t('create')}
      empty={empty}
      toForm={toForm}
      toBody={toBody}
      onClose={onClose}
      deletion={(stored) => deletionWithKeys(client, ownersOf(stored))}
      actions={(stored) => (
        <Button variant="subtle" onClick={() => endSessions(stored.username)}>
          {t('endSessions')}
        </Button>
      )}
    >
      {(form, stored) => (
        <>
          <TextInput
            label={t('username')}
            description={isNew && t('usernameHint')}
            required
            disabled={!isNew}
            autoComplete="off"
            {...form.getInputProps('username')}
          />
          <Select
            label={t('role')}
            allowDeselect={false}
            data={(['admin', 'monitor', 'member'] as const).map((value) => ({ value, label: common(`roles.${value}`) }))}
            {...form.getInputProps('role')}
          />
          <TextInput label={t('email')} description={t('emailHint')} disabled={stored?.identity != null} {...form.getInputProps('email')} />
          {stored && <KeysOfUser owners={ownersOf(stored)} />}
          <Switch label={t('enabled')} description={t('enabledHint')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
          <SecretInput
            label={isNew ? t('password') : t('newPassword')}
            description={stored ? `${t('passwordHint')} ${t('keepPassword')}` : t('passwordHint')}
            required={isNew}
            autoComplete="new-password"
            {...form.getInputProps('password')}
          />
        </>
      )}
    </ResourceDrawer>
  );
}
