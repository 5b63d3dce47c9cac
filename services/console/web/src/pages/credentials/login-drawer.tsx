/** A login in a drawer: which kind, what the vendor wants to know, then the way in. */
import { Alert, Button, Drawer, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import type { SsoCredential, SsoLogin, SsoProfile } from '@model-gateway/console/answers';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useOverlayOpen } from '../../components/dialogs.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { useDraft } from '../../components/use-draft.ts';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { emptyLogin, type LoginForm, loginAgain, rememberLogin, toBody } from './credential.ts';
import { LoginFields } from './login-fields.tsx';
import { LoginSteps } from './login-steps.tsx';
import { useProfiles } from './use-profiles.ts';

interface Props {
  /** The credential that gets a new login; absent: a new one. */
  again?: SsoCredential;
  onClose: () => void;
}

interface Imported {
  credential: SsoCredential;
  upstream_error: string | null;
}

export function LoginDrawer({ again, onClose }: Props) {
  const { t } = useTranslation('credentials');
  const { t: common } = useTranslation();
  const isCovered = useOverlayOpen();
  const profiles = useProfiles();
  useReturnFocus();
  return (
    <Drawer
      opened
      onClose={onClose}
      closeOnEscape={!isCovered}
      closeOnClickOutside={false}
      position="right"
      size="lg"
      title={again ? t('againTitle', { name: again.name }) : t('create')}
      closeButtonProps={{ 'aria-label': common('actions.close') }}
    >
      {profiles.isError && <FaultNotice error={profiles.error} onRetry={() => profiles.refetch()} />}
      {profiles.data?.items.length === 0 && <Alert color="gray">{t('noProfile')}</Alert>}
      {profiles.data && profiles.data.items.length > 0 && <Login profiles={profiles.data.items} again={again} onClose={onClose} />}
    </Drawer>
  );
}

function Login({ profiles, again, onClose }: { profiles: readonly SsoProfile[]; again: SsoCredential | undefined; onClose: () => void }) {
  const { t } = useTranslation('credentials');
  const { t: common } = useTranslation();
  const client = useQueryClient();
  const [begun, setBegun] = useState<SsoLogin | null>(null);
  const form = useForm<LoginForm>({ initialValues: initial(profiles, again) });
  useDraft(`login ${again?.name ?? ''}`, form);
  const profile = profiles.find(({ id }) => id === form.values.profile) ?? profiles[0]!;
  const { flow } = form.values;
  const isStepwise = flow === 'device' || flow === 'code';
  const send = useMutation({
    mutationFn: async (values: LoginForm) => {
      const body = toBody(values, profile, again !== undefined);
      if (isStepwise) return { login: await call<SsoLogin>('sso-credentials/login', { method: 'POST', body }) };
      return { imported: await call<Imported>('sso-credentials/import', { method: 'POST', body }) };
    },
    onSuccess: ({ login, imported }) => {
      if (login?.authorize_url) rememberLogin(login.id, login.authorize_url);
      if (login) return setBegun(login);
      const { credential, upstream_error: fault } = imported!;
      notifications.show({ message: fault ?? t('done', { name: credential.name }), color: fault ? 'orange' : 'green', autoClose: fault ? false : 4_000 });
      void client.invalidateQueries();
      onClose();
    },
    onError: (error) => error instanceof ApiProblem && form.setErrors(Object.fromEntries(error.details.map(({ field, message }) => [field, message]))),
  });
  if (begun) return <LoginSteps login={begun} onAgain={() => setBegun(null)} onClose={onClose} />;
  return (
    <form onSubmit={form.onSubmit((values) => send.mutate(values))} noValidate>
      <Stack>
        <LoginFields form={form} profiles={profiles} profile={profile} isAgain={again !== undefined} />
        {send.isError && <FaultNotice error={send.error} title={t('refused')} />}
        {isStepwise && (
          <Text size="sm" c="dimmed">
            {t(`next.${flow}`)}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {common('actions.cancel')}
          </Button>
          <Button type="submit" loading={send.isPending}>
            {t(isStepwise ? 'begin' : 'take')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function initial(profiles: readonly SsoProfile[], again: SsoCredential | undefined): LoginForm {
  const form = again ? loginAgain(again) : { ...emptyLogin, profile: profiles[0]!.id };
  return { ...form, flow: profiles.find(({ id }) => id === form.profile)?.flows[0] ?? '' };
}
