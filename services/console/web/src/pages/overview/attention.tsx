/** What wants attention now, a sentence each, with a link and a button; when all is well it says so. */
import { Anchor, Button, Card, Group, Stack, Text } from '@mantine/core';
import type { Attention } from '@model-gateway/console/answers';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { describeFault } from '../../components/describe-fault.ts';
import { formatMoney, formatNumber, formatPercent, formatRecent } from '../../components/format.ts';
import { lazyPart } from '../../components/lazy-part.tsx';
import { loadAllTexts } from '../../i18n/i18n.ts';
import { useIsAdmin } from '../../session/use-me.ts';

const refreshMs = 15_000;
/** Comes with its texts only where a budget is near its end: the first page is small. */
const TopUpButton = lazyPart(async () => {
  const [{ TopUpButton: component }] = await Promise.all([import('../costs/budget-buttons.tsx'), loadAllTexts()]);
  return { default: component };
});

/** `isQuiet`: nothing passed yet, of which one could say that it is well. */
export function NeedsAttention({ isQuiet }: { isQuiet: boolean }) {
  const { t } = useTranslation('overview');
  const { data } = useQuery({ queryKey: ['attention'], queryFn: ({ signal }) => call<Attention>('attention', { signal }), refetchInterval: refreshMs });
  if (!data) return null;
  const lines = [...upstreamLines(data), ...budgetLines(data), ...unpricedLines(data), ...addressLines(data), ...deadLetterLines(data)];
  if (lines.length === 0 && isQuiet) return null;
  const color = lines.length > 0 ? 'orange' : 'green';
  const Icon = lines.length > 0 ? IconAlertTriangle : IconCircleCheck;
  return (
    <Card withBorder component="section" aria-label={t('attention')} style={{ borderInlineStart: `4px solid var(--mantine-color-${color}-filled)` }}>
      <Group gap="xs" wrap="nowrap">
        <Icon size={20} color={`var(--mantine-color-${color}-filled)`} aria-hidden />
        <Text fw={600} role="status">
          {t(lines.length > 0 ? 'attention' : 'allWell')}
        </Text>
      </Group>
      {lines.length > 0 && (
        <Stack gap={8} mt="xs">
          {lines}
        </Stack>
      )}
    </Card>
  );
}

interface LineProps {
  link: { to: string; search?: Record<string, unknown>; label: string };
  button?: ReactNode;
  children: ReactNode;
}

function Line({ link, button, children }: LineProps) {
  return (
    <Group justify="space-between" gap="xs" align="center">
      <Text size="sm" className="anywhere" flex="1 1 300px">
        {children}
      </Text>
      <Group gap="sm">
        <Anchor component={Link} size="sm" to={link.to} search={(link.search ?? {}) as never}>
          {link.label}
        </Anchor>
        {button}
      </Group>
    </Group>
  );
}

const upstreamLines = ({ upstreams }: Attention) => upstreams.items.map((one) => <FailingUpstream key={`upstream ${one.name}`} one={one} />);
const budgetLines = ({ budgets }: Attention) => budgets.items.map((one) => <FullBudget key={`budget ${one.kind} ${one.name}`} one={one} />);
const unpricedLines = ({ unpriced }: Attention) => (unpriced.total > 0 ? [<Unpriced key="unpriced" unpriced={unpriced} />] : []);
const addressLines = ({ new_addresses }: Attention) => new_addresses.items.map((one) => <NewAddress key={`address ${one.access_key}`} one={one} />);
const deadLetterLines = ({ dead_letters }: Attention) => (dead_letters > 0 ? [<SetAside key="letters" count={dead_letters} />] : []);

function FailingUpstream({ one: { name, state, last_failure } }: { one: Attention['upstreams']['items'][number] }) {
  const { t } = useTranslation('overview');
  const isAdmin = useIsAdmin();
  const client = useQueryClient();
  const disable = useMutation({
    mutationFn: () => call(path('upstreams', name), { method: 'PATCH', body: { enabled: false } }),
    onSuccess: () => client.invalidateQueries(),
    onError: describeFault,
  });
  const words = {
    name,
    failed: formatNumber(state.failed),
    attempts: formatNumber(state.attempts),
    when: state.since === null ? '' : formatRecent(Date.parse(state.since)),
  };
  return (
    <Line
      link={{ to: '/health', label: t('look') }}
      button={
        isAdmin && (
          <Button size="compact-sm" variant="default" loading={disable.isPending} onClick={() => disable.mutate()} aria-label={t('disableOf', { name })}>
            {t('disable')}
          </Button>
        )
      }
    >
      {t(`upstream.${state.status}`, words)}
      {last_failure?.message ? ` ${t('upstream.said', { said: last_failure.message })}` : ''}
    </Line>
  );
}

function FullBudget({ one }: { one: Attention['budgets']['items'][number] }) {
  const { kind, name, currency, period, limit_micros, spent_micros, share } = one;
  const { t } = useTranslation('overview');
  const isAdmin = useIsAdmin();
  const words = { name, share: formatPercent(share), spent: formatMoney(spent_micros, currency), limit: formatMoney(limit_micros, currency) };
  const owner = kind === 'group' ? '/key-groups' : '/access-keys';
  return (
    <Line
      link={{ to: '/costs', search: { by: kind === 'group' ? 'key_group' : 'access_key' }, label: t('look') }}
      button={
        isAdmin && (
          <>
            <Suspense>
              <TopUpButton budget={one} size="compact-sm" />
            </Suspense>
            <ButtonLink to={owner} search={{ edit: name }} name={t('raiseOf', { name })} label={t('raise')} />
          </>
        )
      }
    >
      {t(`budget.${kind}`, words)} {t(`budget.${period}`)} {share >= 1 && t('budget.refused')}
    </Line>
  );
}

function Unpriced({ unpriced: { total, requests, share, items } }: { unpriced: Attention['unpriced'] }) {
  const { t } = useTranslation('overview');
  const isAdmin = useIsAdmin();
  const first = items[0]?.model ?? '';
  const names = items.map(({ model }) => model).join(', ') + (total > items.length ? ', …' : '');
  return (
    <Line
      link={{ to: '/statistics', search: { by: 'model', order: 'requests', range: '24h' }, label: t('look') }}
      button={isAdmin && <ButtonLink to="/pricing" search={{ create: 'new', model: first }} name={t('addPriceOf', { name: first })} label={t('addPrice')} />}
    >
      {t('unpriced', { count: requests, number: formatNumber(requests), share: formatPercent(share), names })}
    </Line>
  );
}

function NewAddress({ one: { access_key: name, addresses, first_at } }: { one: Attention['new_addresses']['items'][number] }) {
  const { t } = useTranslation('overview');
  const isAdmin = useIsAdmin();
  const client = useQueryClient();
  const accept = useMutation({
    mutationFn: () => call(path('access-keys', name, 'accept-addresses'), { method: 'POST' }),
    onSuccess: () => client.invalidateQueries(),
    onError: describeFault,
  });
  return (
    <Line
      link={{ to: '/key-use', search: { key: name }, label: t('look') }}
      button={
        isAdmin && (
          <Button size="compact-sm" variant="default" loading={accept.isPending} onClick={() => accept.mutate()} aria-label={t('acceptOf', { name })}>
            {t('accept')}
          </Button>
        )
      }
    >
      {t('newAddress', { count: addresses.length, name, addresses: addresses.join(', '), when: formatRecent(Date.parse(first_at)) })}
    </Line>
  );
}

function SetAside({ count }: { count: number }) {
  const { t } = useTranslation('overview');
  const isAdmin = useIsAdmin();
  return (
    <Line
      link={{ to: '/logs', label: t('toLogs') }}
      button={isAdmin && <ButtonLink to="/settings/set-aside" search={{}} name={t('review')} label={t('review')} />}
    >
      {t('deadLetters', { count })}
    </Line>
  );
}

function ButtonLink({ to, search, name, label }: { to: string; search: Record<string, unknown>; name: string; label: string }) {
  return (
    <Button component={Link} size="compact-sm" variant="default" to={to} search={search as never} aria-label={name}>
      {label}
    </Button>
  );
}
