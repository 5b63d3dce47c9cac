/** Whose a key is that turned up somewhere: found by its whole value, which is sent in a body and kept nowhere. */
import { Anchor, Badge, Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { FoundKey } from '@model-gateway/console/answers';
import { IconKeyOff } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { useOverlayOpen } from '../../components/dialogs.tsx';
import { EnabledBadge } from '../../components/enabled-badge.tsx';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { formatTime } from '../../components/format.ts';
import { SecretInput } from '../../components/secret-input.tsx';
import { useReturnFocus } from '../../components/use-return-focus.ts';

export function FindKey() {
  const { t } = useTranslation('access-keys');
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button variant="default" leftSection={<IconKeyOff size={16} aria-hidden />} onClick={() => setOpened(true)}>
        {t('find')}
      </Button>
      {opened && <FindDialog onClose={() => setOpened(false)} />}
    </>
  );
}

function FindDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('access-keys');
  const isCovered = useOverlayOpen();
  useReturnFocus();
  return (
    <Modal opened onClose={onClose} closeOnEscape={!isCovered} title={t('find')} size="lg" closeButtonProps={{ 'aria-label': t('common:actions.close') }}>
      <FindKeyForm onLeave={onClose} />
    </Modal>
  );
}

/** The field for a value, and whose it is. */
export function FindKeyForm({ onLeave }: { onLeave?: () => void }) {
  const { t } = useTranslation('access-keys');
  const [value, setValue] = useState('');
  const search = useMutation({ mutationFn: (key: string) => call<FoundKey>('access-keys/lookup', { method: 'POST', body: { key } }) });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (value.trim() !== '') search.mutate(value.trim());
  };
  return (
    <Stack>
      <form onSubmit={onSubmit}>
        <Group align="flex-end">
          <SecretInput
            data-autofocus
            flex="1 1 260px"
            label={t('findValue')}
            description={t('findHint')}
            autoComplete="off"
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
          />
          <Button type="submit" loading={search.isPending} disabled={value.trim() === ''}>
            {t('findSubmit')}
          </Button>
        </Group>
      </form>
      {search.isError && <FaultNotice error={search.error} />}
      {search.data && <Result found={search.data} {...(onLeave && { onLeave })} />}
    </Stack>
  );
}

function Result({ found: { access_key, upstream_keys }, onLeave }: { found: FoundKey; onLeave?: () => void }) {
  const { t } = useTranslation('access-keys');
  if (access_key === null && upstream_keys.length === 0) return <Text role="status">{t('foundNothing')}</Text>;
  return (
    <Stack gap="sm" role="status">
      {access_key && (
        <Stack gap={4}>
          <Group gap="xs">
            <Text size="sm">{t('foundKey')}</Text>
            <KeyLink name={access_key.name} {...(onLeave && { onLeave })} />
            {access_key.expires_at !== null && !isAhead(access_key.expires_at) ? (
              <Badge color="gray">{t('expired')}</Badge>
            ) : (
              <EnabledBadge enabled={access_key.enabled} />
            )}
          </Group>
          {access_key.superseded && (
            <Text size="sm">
              {isAhead(access_key.superseded.valid_until) ? t('supersededUntil', { when: formatTime(access_key.superseded.valid_until) }) : t('superseded')}
            </Text>
          )}
          <Text size="sm" c="dimmed">
            {t('group')}: {access_key.group} · {t('owner')}: {access_key.owner || '–'} · {t('lastUsed')}:{' '}
            {access_key.last_used_at === null ? t('never') : formatTime(access_key.last_used_at)}
          </Text>
          <RequestsLink name={access_key.name} />
        </Stack>
      )}
      {upstream_keys.map((key) => (
        <Group key={`${key.upstream} ${key.id}`} gap="xs">
          <Text size="sm">{t('foundUpstreamKey', { position: key.position })}</Text>
          <Anchor component={Link} to="/upstreams" search={{ edit: key.upstream } as never} {...(onLeave && { onClick: onLeave })} className="anywhere">
            {key.upstream}
          </Anchor>
          <EnabledBadge enabled={key.upstream_enabled} />
          {key.label !== null && <Text size="sm">{key.label}</Text>}
          <Badge variant="default" className="mono" tt="none">
            {key.fingerprint}
          </Badge>
        </Group>
      ))}
    </Stack>
  );
}

const isAhead = (until: string | null): until is string => until !== null && Date.parse(until) > Date.now();

/** Where and when the key was used, and what to do when it leaked. */
export function KeyLink({ name, label = name, onLeave }: { name: string; label?: string; onLeave?: () => void }) {
  return (
    <Anchor component={Link} to="/key-use" search={{ key: name } as never} size="sm" className="anywhere" {...(onLeave && { onClick: onLeave })}>
      {label}
    </Anchor>
  );
}

/** Of one key: what it asked, from where, for which models. */
export function RequestsLink({ name }: { name: string }) {
  const { t } = useTranslation('access-keys');
  return (
    <Anchor component={Link} to="/logs" search={{ access_key: name } as never} size="sm">
      {t('itsRequests')}
    </Anchor>
  );
}
