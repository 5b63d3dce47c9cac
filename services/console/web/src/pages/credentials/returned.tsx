/** The vendor's page sent the browser back here: the login that began in this browser is completed. */
import { Alert, Drawer, Loader, Stack } from '@mantine/core';
import type { SsoLogin } from '@model-gateway/console/answers';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { useIsAdmin } from '../../session/use-me.ts';
import { forgetLogin, recallLogin } from './credential.ts';
import { LoginEnd } from './login-steps.tsx';

/** `address`: with the code in it, which is of one use; it leaves the address bar at once. */
export function Returned({ address }: { address: string }) {
  const { t } = useTranslation('credentials');
  const { t: common } = useTranslation();
  const isAdmin = useIsAdmin();
  const client = useQueryClient();
  const navigate = useNavigate();
  const asked = useRef(false);
  const state = new URL(address).searchParams.get('state') ?? '';
  const id = recallLogin(state);
  const complete = useMutation({
    mutationFn: (login: string) => call<SsoLogin>(path('sso-credentials', 'login', login, 'complete'), { method: 'POST', body: { redirect_url: address } }),
    onSuccess: () => {
      forgetLogin(state);
      void client.invalidateQueries();
    },
  });
  const { mutate } = complete;
  useEffect(() => {
    if (asked.current || !isAdmin) return;
    asked.current = true;
    void navigate({ to: '/credentials', search: {}, replace: true } as never);
    if (id !== undefined) mutate(id);
  }, [isAdmin, id, mutate, navigate]);
  const close = () => complete.reset();
  if (id === undefined && !complete.data) return <Alert color="orange">{t('unknownReturn')}</Alert>;
  if (complete.isIdle) return null;
  return (
    <Drawer opened onClose={close} position="right" size="lg" title={t('returnTitle')} closeButtonProps={{ 'aria-label': common('actions.close') }}>
      <Stack>
        {complete.isPending && <Loader size="sm" />}
        {complete.isError && <FaultNotice error={complete.error} title={t('refused')} />}
        {complete.data && <LoginEnd login={complete.data} onAgain={close} onClose={close} />}
      </Stack>
    </Drawer>
  );
}
