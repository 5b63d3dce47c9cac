/** A login under way: the code to enter at the vendor's page, or the page that sends the browser back. */
import { Alert, Anchor, Button, Group, Loader, Stack, Text, Textarea } from '@mantine/core';
import type { SsoLogin } from '@model-gateway/console/answers';
import { IconCircleCheck, IconExternalLink } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatClock } from '../../components/format.ts';
import { QrCode } from './qr-code.tsx';

interface Props {
  login: SsoLogin;
  /** Back to what the login began with. */
  onAgain: () => void;
  onClose: () => void;
}

export function LoginSteps({ login, onAgain, onClose }: Props) {
  const client = useQueryClient();
  const [completed, setCompleted] = useState<SsoLogin | null>(null);
  const isDevice = login.user_code !== null;
  const looked = useQuery({
    queryKey: ['sso-login', login.id],
    queryFn: ({ signal }) => call<SsoLogin>(path('sso-credentials', 'login', login.id), { signal }),
    initialData: login,
    enabled: completed === null,
    retry: false,
    // A login that another window completed is gone, and no fault of this one.
    refetchInterval: ({ state }) => (state.data?.status === 'pending' && state.status !== 'error' ? Math.max(login.interval_ms ?? 0, 2_000) : false),
    refetchIntervalInBackground: true,
  });
  const current = completed ?? looked.data;
  useEffect(() => {
    if (current.status === 'done') void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'sso-login' });
  }, [current.status, client]);
  if (current.status !== 'pending') return <LoginEnd login={current} onAgain={onAgain} onClose={onClose} />;
  if (looked.isError) return <Gone isDevice={isDevice} error={looked.error} onAgain={onAgain} onClose={onClose} />;
  return isDevice ? <DeviceStep login={current} onClose={onClose} /> : <CodeStep login={current} onDone={setCompleted} onClose={onClose} />;
}

/** Its address was completed in another window, or its time is over. */
function Gone({ isDevice, error, onAgain, onClose }: { isDevice: boolean; error: Error } & Pick<Props, 'onAgain' | 'onClose'>) {
  const { t } = useTranslation('credentials');
  return (
    <Stack>
      {isDevice ? <FaultNotice error={error} title={t('failed')} /> : <Alert color="blue">{t('elsewhere')}</Alert>}
      <Ends onAgain={onAgain} onClose={onClose} />
    </Stack>
  );
}

function Ends({ onAgain, onClose }: Pick<Props, 'onAgain' | 'onClose'>) {
  const { t } = useTranslation('credentials');
  const { t: common } = useTranslation();
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onAgain}>
        {t('beginAgain')}
      </Button>
      <Button onClick={onClose}>{common('actions.close')}</Button>
    </Group>
  );
}

export function LoginEnd({ login, onAgain, onClose }: Props) {
  const { t } = useTranslation('credentials');
  const { t: common } = useTranslation();
  if (login.status === 'failed')
    return (
      <Stack>
        <Alert color="red" role="alert" title={t('failed')}>
          <span lang="en">{login.error}</span>
        </Alert>
        <Ends onAgain={onAgain} onClose={onClose} />
      </Stack>
    );
  return (
    <Stack>
      <Alert color="green" role="status" icon={<IconCircleCheck aria-hidden />} title={t('done', { name: login.credential ?? login.name })}>
        {login.upstream && t('upstreamMade', { name: login.upstream })}
      </Alert>
      {login.upstream_error && (
        <Alert color="orange">
          <span lang="en">{login.upstream_error}</span>
        </Alert>
      )}
      <Group justify="flex-end">
        <Button onClick={onClose}>{common('actions.close')}</Button>
      </Group>
    </Stack>
  );
}

/** A link to a vendor, who learns nothing of where it was clicked. */
function VendorLink({ address, label }: { address: string; label: string }) {
  return (
    <Button component="a" href={address} target="_blank" rel="noopener noreferrer" variant="light" rightSection={<IconExternalLink size={16} aria-hidden />}>
      {label}
    </Button>
  );
}

function DeviceStep({ login, onClose }: { login: SsoLogin; onClose: () => void }) {
  const { t } = useTranslation('credentials');
  const { t: common } = useTranslation();
  const address = login.verification_uri_complete ?? login.verification_uri ?? '';
  return (
    <Stack>
      <Text size="sm">{t('deviceHint')}</Text>
      <Group align="flex-start" gap="lg">
        <QrCode text={address} label={t('qr', { address })} />
        <Stack gap="xs" flex="1 1 200px">
          <Text size="sm" c="dimmed">
            {t('code')}
          </Text>
          <Group gap="xs" wrap="nowrap">
            <Text className="mono" fz={28} fw={700} data-testid="user-code" style={{ letterSpacing: '0.08em', overflowWrap: 'anywhere' }}>
              {login.user_code}
            </Text>
            <CopyButton text={login.user_code ?? ''} label={t('copyCode')} />
          </Group>
          <VendorLink address={address} label={t('openPage')} />
          <Anchor href={address} target="_blank" rel="noopener noreferrer" size="sm" className="anywhere">
            {address}
          </Anchor>
        </Stack>
      </Group>
      <Group gap="sm" role="status">
        <Loader size="sm" aria-hidden />
        <Text size="sm">{t('waiting', { until: formatClock(login.expires_at) })}</Text>
      </Group>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {common('actions.close')}
        </Button>
      </Group>
    </Stack>
  );
}

function CodeStep({ login, onDone, onClose }: { login: SsoLogin; onDone: (ended: SsoLogin) => void; onClose: () => void }) {
  const { t } = useTranslation('credentials');
  const { t: common } = useTranslation();
  const [address, setAddress] = useState('');
  const complete = useMutation({
    mutationFn: () => call<SsoLogin>(path('sso-credentials', 'login', login.id, 'complete'), { method: 'POST', body: { redirect_url: address.trim() } }),
    onSuccess: onDone,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        complete.mutate();
      }}
    >
      <Stack>
        <Text size="sm">{t('codeHint')}</Text>
        <Group>
          <VendorLink address={login.authorize_url ?? ''} label={t('openPage')} />
          <CopyButton text={login.authorize_url ?? ''} label={t('copyAddress')} />
        </Group>
        <Textarea
          label={t('returned')}
          description={t('returnedHint')}
          required
          autosize
          minRows={3}
          maxRows={10}
          spellCheck={false}
          autoComplete="off"
          classNames={{ input: 'mono' }}
          value={address}
          onChange={(event) => setAddress(event.currentTarget.value)}
        />
        {complete.isError && <FaultNotice error={complete.error} title={t('refused')} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {common('actions.close')}
          </Button>
          <Button type="submit" loading={complete.isPending} disabled={address.trim() === ''}>
            {t('complete')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
