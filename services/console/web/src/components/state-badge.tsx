/** How a resource stands, in words as well as in colour; what says so when it is pointed at. */
import { Badge, Tooltip } from '@mantine/core';
import type { ResourceState } from '@model-gateway/console/answers';
import { useTranslation } from 'react-i18next';
import { EnabledBadge } from './enabled-badge.tsx';
import { formatDuration, formatNumber, formatRecent } from './format.ts';

const colors: Readonly<Record<ResourceState['status'], string>> = {
  disabled: 'gray',
  expired: 'gray',
  exhausted: 'red',
  refused: 'red',
  failing: 'red',
  limited: 'orange',
  degraded: 'yellow',
  healthy: 'green',
  idle: 'blue',
  unused: 'gray',
};

export function useStateWords(): (state: ResourceState) => string {
  const { t } = useTranslation('health');
  return ({ since, attempts, failed, p50_ms, last_error }) =>
    [
      since !== null && t('since', { when: formatRecent(Date.parse(since)) }),
      attempts > 0 && t('failedOf', { failed: formatNumber(failed), attempts: formatNumber(attempts) }),
      p50_ms !== null && t('p50', { time: formatDuration(p50_ms) }),
      last_error !== null && t('lastError', { error: last_error }),
    ]
      .filter((text) => text !== false)
      .join(' · ');
}

/** `enabled` is shown where the answer has no state. */
export function StateBadge({ state, enabled = true }: { state: ResourceState | undefined; enabled?: boolean }) {
  const { t } = useTranslation('health');
  const words = useStateWords();
  if (!state) return <EnabledBadge enabled={enabled} />;
  const more = words(state);
  return (
    <Tooltip label={more} disabled={more === ''} multiline maw={340}>
      <Badge color={colors[state.status]} variant="light" style={{ flexShrink: 0 }}>
        {t(`states.${state.status}`)}
      </Badge>
    </Tooltip>
  );
}
