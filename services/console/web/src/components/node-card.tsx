/** How one node of a route stands: state, place in the order, score, keys. */
import { Badge, Card, Group, Stack, Text } from '@mantine/core';
import type { ExplainedKey, ExplainedNode, NodeStanding } from '@model-gateway/contracts';
import { useTranslation } from 'react-i18next';
import { formatDuration, formatNumber } from './format.ts';
import { useProtocolName } from './protocol.tsx';

const colors: Readonly<Record<NodeStanding, string>> = { healthy: 'green', probing: 'yellow', ejected: 'red', waiting: 'orange', disabled: 'gray' };

export function NodeCard({ node }: { node: ExplainedNode }) {
  const { t } = useTranslation('routing');
  const nameOf = useProtocolName();
  const figures = [
    node.upstream && `${node.upstream}${node.upstream_protocol ? ` · ${nameOf(node.upstream_protocol)}` : ''}`,
    t('weight', { weight: node.weight }),
    node.score !== null && t(`scores.${node.score_kind ?? 'other'}`, { score: formatNumber(node.score) }),
    node.latency_ms !== null && t('latency', { time: formatDuration(node.latency_ms) }),
    node.retry_after_ms !== null && t('retryAfter', { time: formatDuration(node.retry_after_ms) }),
  ].filter((text) => typeof text === 'string');
  return (
    <Card withBorder padding="sm" style={node.position === 1 ? { borderColor: 'var(--mantine-primary-color-filled)' } : undefined}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap="xs" wrap="nowrap">
          <Badge circle size="lg" variant={node.position === 1 ? 'filled' : 'light'} color={node.position === null ? 'gray' : undefined}>
            {node.position ?? '–'}
          </Badge>
          <Text fw={600} className="anywhere">
            {node.model}
          </Text>
        </Group>
        <Badge color={colors[node.state]} variant="light" style={{ flexShrink: 0 }}>
          {t(`states.${node.state}`)}
        </Badge>
      </Group>
      <Text size="sm" c="dimmed" className="anywhere" mt={4}>
        {figures.join(' · ')}
      </Text>
      {node.reason && (
        <Text size="sm" mt={4} className="anywhere">
          {t(`reasons.${node.reason}`, { defaultValue: t(`obstacles.${node.reason}`, { defaultValue: node.reason }) })}
        </Text>
      )}
      {node.keys.length > 0 && (
        <Stack gap={2} mt="xs">
          {node.keys.map((key) => (
            <KeyLine key={key.id} entry={key} />
          ))}
        </Stack>
      )}
    </Card>
  );
}

function KeyLine({ entry }: { entry: ExplainedKey }) {
  const { t } = useTranslation('routing');
  return (
    <Text size="xs" c={entry.obstacle ? 'var(--mantine-color-error)' : 'dimmed'}>
      {t('key', { position: entry.position, index: entry.index + 1, weight: entry.weight })} · {t(`why.${entry.why}`)}
      {entry.obstacle && ` · ${t(`obstacles.${entry.obstacle}`, { defaultValue: entry.obstacle })}`}
    </Text>
  );
}
