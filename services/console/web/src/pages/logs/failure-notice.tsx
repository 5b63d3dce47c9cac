/** Why a request failed, in one sentence: whose fault, the upstream's own words, what to do, and how often it happened lately. */
import { Anchor, Badge, Box, Card, Group, Stack, Text, Title } from '@mantine/core';
import type { LogDetails } from '@model-gateway/console/answers';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '../../components/format.ts';

type Failure = NonNullable<LogDetails['failure']>;
type Known = { row: LogDetails; failure: Failure };

export function FailureNotice({ row, failure }: Known) {
  const { t } = useTranslation('failures');
  const code = row.error_code ?? '';
  const { upstream, said, fault } = failure;
  const color = code === 'client_gone' ? 'gray' : 'red';
  const words = {
    code,
    upstream: upstream ?? row.upstream ?? t('fault.upstream'),
    model: row.model ?? row.requested_model ?? '–',
    key: row.access_key ?? '–',
    group: row.key_group ?? '–',
  };
  const rest = upstream === null ? 'other' : 'other_upstream';
  const last = row.attempts.findLast(({ error_code }) => error_code !== null);
  // Of an upstream that was never reached, nothing else is known.
  const reason = code === 'upstream_failed' && last?.error_code?.startsWith('connect_') ? 'upstream_unavailable' : code;
  return (
    <Card withBorder component="section" aria-label={t('title')} style={{ borderInlineStart: `4px solid var(--mantine-color-${color}-filled)` }}>
      <Stack gap="xs">
        <Group gap="xs">
          <IconAlertTriangle size={18} color={`var(--mantine-color-${color}-filled)`} aria-hidden />
          <Title order={3}>{t('title')}</Title>
        </Group>
        <Group gap="xs" align="flex-start">
          <Badge variant="light" color={color} tt="none">
            {t(`fault.${fault}`)}
          </Badge>
          <Text className="anywhere" flex="1 1 240px">
            {t([`why.${reason}`, `why.${rest}`], words)}
          </Text>
        </Group>
        {said !== null && (
          <Box pl="sm" style={{ borderInlineStart: '3px solid var(--mantine-color-default-border)' }}>
            <Text size="sm">{t(last && isItsAnswer(last) ? 'said' : 'seen', words)}</Text>
            <Text component="blockquote" m={0} className="anywhere">
              {said}
            </Text>
          </Box>
        )}
        <Text size="sm" className="anywhere">
          <b>{t('do')}:</b> {t([`advice.${reason}`, `advice.${rest}`], words)}
        </Text>
        <Recent code={code} recent={failure.recent} />
        <Onward row={row} failure={failure} />
      </Stack>
    </Card>
  );
}

/** Whether an attempt's message is the upstream's own, not the gateway's about a connection that failed or broke. */
export const isItsAnswer = ({ status }: LogDetails['attempts'][number]): boolean => status !== null && status >= 400;

function Recent({ code, recent }: { code: string; recent: Failure['recent'] }) {
  const { t } = useTranslation('failures');
  const [first] = recent.upstreams;
  const number = formatNumber(recent.requests);
  return (
    <Text size="sm" className="anywhere">
      {recent.or_more ? t('recentMore', { number }) : t('recent', { count: recent.requests, number })}{' '}
      {recent.requests > 1 && first?.upstream != null && (
        <>{t(first.requests === recent.requests ? 'through' : 'mostly', { upstream: first.upstream, number: formatNumber(first.requests) })} </>
      )}
      {recent.requests > 1 && (
        <Anchor component={Link} inherit underline="always" to="/logs" search={{ error_code: code, range: '1h' } as never}>
          {t('showRecent')}
        </Anchor>
      )}
    </Text>
  );
}

/** To whatever has to be changed, and to what would happen today. */
function Onward({ row, failure: { fault, upstream } }: Known) {
  const { t } = useTranslation('failures');
  const places = [
    (fault === 'upstream' || fault === 'configuration') && upstream !== null && (['upstream', '/upstreams', upstream] as const),
    (fault === 'key_group' || fault === 'limit') && row.key_group !== null && (['key_group', '/key-groups', row.key_group] as const),
    (fault === 'access_key' || fault === 'limit') && row.access_key !== null && (['access_key', '/access-keys', row.access_key] as const),
  ].filter((place) => place !== false);
  const model = row.requested_model ?? row.model;
  return (
    <Group gap="md">
      {places.map(([kind, to, name]) => (
        <Anchor key={kind} component={Link} size="sm" to={to} search={{ edit: name } as never} className="anywhere">
          {t(`open.${kind}`, { name })}
        </Anchor>
      ))}
      {row.access_key !== null && model !== null && (
        <Anchor component={Link} size="sm" to="/explain" search={{ access_key: row.access_key, model, protocol: row.client_protocol ?? '' } as never}>
          {t('explain')}
        </Anchor>
      )}
    </Group>
  );
}
