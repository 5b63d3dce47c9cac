/** One access key, as one looks at it when it turned up somewhere: where and when it was used, and what to do now. */
import { Alert, Anchor, Badge, Button, Card, Group, Loader, Select, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { KeyUse } from '@model-gateway/console/answers';
import { IconBan, IconCheck, IconMail } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useOne } from '../../api/resources.ts';
import { describeFault } from '../../components/describe-fault.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { Figure } from '../../components/figure.tsx';
import { formatMoney, formatNumber, formatTime } from '../../components/format.ts';
import { NameSelect } from '../../components/name-select.tsx';
import { Page } from '../../components/page.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import { useFilter } from '../../components/use-address-state.ts';
import { useIsAdmin } from '../../session/use-me.ts';
import type { AccessKey } from '../access-keys/access-key.ts';
import { FindKeyForm } from '../access-keys/find-key.tsx';
import { NewKey } from '../access-keys/new-key.tsx';
import { RotateButton } from '../access-keys/rotate-key.tsx';
import { mailTo } from './mail-to.ts';
import { ranges, useKeyChange, useKeyUse } from './use-key-use.ts';
import { UseTable } from './use-table.tsx';

export function KeyUsePage() {
  const { t } = useTranslation('key-use');
  const [name, setName] = useFilter('key');
  const isAdmin = useIsAdmin();
  return (
    <Page title={name ?? t('title')} hint={t('hint')}>
      {isAdmin && (
        <Card withBorder component="section" aria-label={t('access-keys:find')}>
          <FindKeyForm />
        </Card>
      )}
      <NameSelect resource="access-keys" label={t('byName')} maw={360} value={name} onChange={setName} />
      {name !== null && <OneKey key={name} name={name} />}
    </Page>
  );
}

function OneKey({ name }: { name: string }) {
  const { t } = useTranslation('key-use');
  const [chosen, setRange] = useFilter('days');
  const days = ranges.find((one) => one === chosen) ?? '30';
  const stored = useOne<AccessKey>('access-keys', name);
  const use = useKeyUse(name, days);
  if (stored.isError) return <FaultNotice error={stored.error} onRetry={() => stored.refetch()} />;
  if (!stored.data) return <Loader />;
  return (
    <Stack gap="lg">
      <KeyHead stored={stored.data} />
      <Group justify="space-between" align="flex-end">
        <Title order={3}>{t('used')}</Title>
        <Select
          label={t('range')}
          allowDeselect={false}
          data={ranges.map((value) => ({ value, label: t('days', { count: Number(value) }) }))}
          value={days}
          onChange={(value) => setRange(value === '30' ? null : value)}
        />
      </Group>
      {use.isError && <FaultNotice error={use.error} onRetry={() => use.refetch()} />}
      {use.isPending && <Loader />}
      {use.data && <Use use={use.data} />}
    </Stack>
  );
}

function KeyHead({ stored }: { stored: AccessKey }) {
  const { t } = useTranslation('key-use');
  const { name, key, group, owner, enabled, expires_at, previous_valid_until, state } = stored;
  const facts: [string, string][] = [
    [t('access-keys:key'), key],
    [t('access-keys:group'), group],
    [t('access-keys:owner'), owner || t('nobody')],
    [t('access-keys:expires'), expires_at === null ? t('access-keys:never') : formatTime(expires_at)],
  ];
  return (
    <Card withBorder component="section" aria-label={t('theKey')}>
      <Stack gap="sm">
        <Group gap="sm">
          <Anchor component={Link} to="/access-keys" search={{ edit: name } as never} fw={600} className="anywhere">
            {name}
          </Anchor>
          <StateBadge state={state} enabled={enabled} />
        </Group>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="xs">
          {facts.map(([label, value]) => (
            <div key={label}>
              <Text size="xs" c="dimmed">
                {label}
              </Text>
              <Text size="sm" className="anywhere">
                {value}
              </Text>
            </div>
          ))}
        </SimpleGrid>
        {previous_valid_until && <Overlap name={name} until={previous_valid_until} />}
        <KeyActions stored={stored} />
      </Stack>
    </Card>
  );
}

function Overlap({ name, until }: { name: string; until: string }) {
  const { t } = useTranslation('key-use');
  const isAdmin = useIsAdmin();
  const end = useKeyChange(name, { action: 'end-overlap', method: 'POST' });
  return (
    <Alert color="yellow">
      <Group justify="space-between" gap="sm">
        <Text size="sm">{t('overlap', { when: formatTime(until) })}</Text>
        {isAdmin && (
          <Button size="compact-sm" variant="default" loading={end.isPending} onClick={() => end.mutate()}>
            {t('endOverlap')}
          </Button>
        )}
      </Group>
    </Alert>
  );
}

/** What one does with a key that leaked, in the order of haste. */
function KeyActions({ stored: { name, owner, enabled } }: { stored: AccessKey }) {
  const { t } = useTranslation('key-use');
  const isAdmin = useIsAdmin();
  const [shown, setShown] = useState<AccessKey | null>(null);
  const change = useKeyChange(name, { method: 'PATCH', body: { enabled: !enabled } });
  if (!isAdmin) return null;
  return (
    <Group gap="xs">
      <Button
        color={enabled ? 'red.9' : undefined}
        variant={enabled ? 'filled' : 'default'}
        leftSection={enabled ? <IconBan size={16} aria-hidden /> : <IconCheck size={16} aria-hidden />}
        loading={change.isPending}
        onClick={() => change.mutate()}
      >
        {t(enabled ? 'disableNow' : 'enableAgain')}
      </Button>
      <RotateButton name={name} variant="default" onRotated={setShown} />
      <TellOwner name={name} owner={owner ?? ''} />
      {shown && <NewKey shown={shown} onClose={() => setShown(null)} />}
    </Group>
  );
}

/** By the gateway's own mail where a channel sends any, else in the reader's mail program. */
function TellOwner({ name, owner }: { name: string; owner: string }) {
  const { t } = useTranslation('key-use');
  const hasAddress = owner.includes('@');
  const mailOwner = useMutation({
    mutationFn: () => call<Record<'told', string>>(path('access-keys', name, 'tell-owner'), { method: 'POST' }),
    onSuccess: (answer) => void notifications.show({ message: t('told', { owner: answer.told }), color: 'green' }),
    onError: (error) => {
      if (error instanceof ApiProblem && error.status === 409) location.href = mailTo(owner, t('mailSubject', { name }), t('mailText', { name }));
      else describeFault(error);
    },
  });
  return (
    <Button
      variant="default"
      leftSection={<IconMail size={16} aria-hidden />}
      disabled={!hasAddress}
      loading={mailOwner.isPending}
      onClick={() => mailOwner.mutate()}
    >
      {t(hasAddress ? 'tellOwner' : 'noOwner')}
    </Button>
  );
}

function Use({ use }: { use: KeyUse }) {
  const { t } = useTranslation('key-use');
  const { name, total, truncated, addresses, user_agents, models, known_addresses } = use;
  const fresh = known_addresses.filter(({ is_new }) => is_new).map(({ address }) => address);
  return (
    <Stack gap="lg">
      {fresh.length > 0 && <NewAddresses name={name} addresses={fresh} />}
      {total === null ? (
        <Text role="status">{t('unused')}</Text>
      ) : (
        <>
          <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
            <Figure label={t('requests')} value={formatNumber(total.requests)} hint={t('failed', { count: total.errors })} />
            <Figure label={t('cost')} value={total.cost.map(({ cost_micros, currency }) => formatMoney(cost_micros, currency)).join(' + ') || '–'} hint=" " />
            <Figure label={t('first')} value={formatTime(total.first_at)} hint=" " />
            <Figure label={t('last')} value={formatTime(total.last_at)} hint=" " />
          </SimpleGrid>
          {truncated && <Text size="sm">{t('truncated')}</Text>}
          <UseTable name={name} title={t('addresses')} parts={addresses} fresh={fresh} />
          <UseTable name={name} title={t('agents')} parts={user_agents} />
          <UseTable name={name} title={t('models')} parts={models} filter="model" />
        </>
      )}
      {known_addresses.length > 0 && (
        <Text size="sm" c="dimmed">
          {t('known', { count: known_addresses.length })}
        </Text>
      )}
    </Stack>
  );
}

function NewAddresses({ name, addresses }: { name: string; addresses: readonly string[] }) {
  const { t } = useTranslation('key-use');
  const isAdmin = useIsAdmin();
  const accept = useKeyChange(name, { action: 'accept-addresses', method: 'POST' });
  return (
    <Alert color="orange" title={t('newAddresses', { count: addresses.length })}>
      <Stack gap="xs">
        <Group gap="xs">
          {addresses.map((address) => (
            <Badge key={address} variant="default" className="mono" tt="none">
              {address}
            </Badge>
          ))}
        </Group>
        {isAdmin && (
          <Group>
            <Button size="compact-sm" variant="default" loading={accept.isPending} onClick={() => accept.mutate()}>
              {t('accept', { count: addresses.length })}
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}
