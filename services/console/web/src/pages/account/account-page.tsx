/** One's own password and sessions. */
import { Alert, Button, Card, Group, Stack, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { ask } from '../../components/ask.ts';
import { Page } from '../../components/page.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { forgetToken } from '../../session/token.ts';
import { useMe } from '../../session/use-me.ts';
import { SessionsTable } from './sessions-table.tsx';

export function AccountPage() {
  const { t } = useTranslation('account');
  const { data: me } = useMe();
  const isUser = me?.session !== undefined;
  return (
    <Page title={t('title')} hint={t('hint')} actions={isUser && <EndAll />}>
      {me && !isUser && (
        <Alert color="gray" title={t('keyTitle')}>
          {t('keyHint')}
        </Alert>
      )}
      {isUser && <PasswordCard username={me.username ?? ''} />}
      <SessionsTable showUser={me !== undefined && !isUser} />
    </Page>
  );
}

function PasswordCard({ username }: { username: string }) {
  const { t } = useTranslation('account');
  const client = useQueryClient();
  const form = useForm({
    initialValues: { current_password: '', new_password: '', repeat: '' },
    validate: { repeat: (value, values) => (value === values.new_password ? null : t('mismatch')) },
  });
  const change = useMutation({
    mutationFn: ({ current_password, new_password }: typeof form.values) => call('me/password', { method: 'POST', body: { current_password, new_password } }),
    onSuccess: () => {
      form.reset();
      notifications.show({ message: t('changed'), color: 'green' });
      return client.invalidateQueries({ queryKey: ['sessions'] });
    },
    onError: (error) => {
      if (error instanceof ApiProblem) form.setErrors(Object.fromEntries(error.details.map(({ field, message }) => [field, message])));
    },
  });
  const other = change.error && !(change.error instanceof ApiProblem && change.error.details.length > 0) ? change.error : null;
  return (
    <Card withBorder maw={480}>
      <form onSubmit={form.onSubmit((values) => change.mutate(values))} noValidate>
        <Stack>
          <Title order={3}>{t('password')}</Title>
          {/* Password managers store the new password under this name. */}
          <input type="text" autoComplete="username" value={username} readOnly hidden />
          <SecretInput label={t('current')} autoComplete="current-password" required {...form.getInputProps('current_password')} />
          <SecretInput label={t('new')} description={t('newHint')} autoComplete="new-password" required {...form.getInputProps('new_password')} />
          <SecretInput label={t('repeat')} autoComplete="new-password" required {...form.getInputProps('repeat')} />
          {other && (
            <Alert color="red" role="alert">
              {other.message}
            </Alert>
          )}
          <Group>
            <Button type="submit" loading={change.isPending}>
              {t('change')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

function EndAll() {
  const { t } = useTranslation('account');
  const { t: common } = useTranslation();
  const end = useMutation({
    mutationFn: () => call('sessions', { method: 'DELETE' }),
    onSuccess: () => forgetToken(),
    onError: (error) => notifications.show({ message: error.message, color: 'red' }),
  });
  const onAsk = () =>
    ask({
      title: t('endAll'),
      children: t('endAllHint'),
      labels: { confirm: t('endAll'), cancel: common('actions.cancel') },
      confirmProps: { color: 'red.9' },
      onConfirm: () => end.mutate(),
    });
  return (
    <Button variant="light" color="red" onClick={onAsk} loading={end.isPending}>
      {t('endAll')}
    </Button>
  );
}
