/** The way of a request as steps: name, grant, switches, nodes, limits, outcome. */
import { Alert, Badge, Card, SimpleGrid, Stack, Text, Timeline } from '@mantine/core';
import type { RouteExplanation } from '@model-gateway/console/answers';
import { IconArrowRampRight, IconBox, IconCheck, IconGauge, IconLock, IconLockOpen, IconScale, IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { formatAmount, formatNumber } from '../../components/format.ts';
import { NodeCard } from '../../components/node-card.tsx';
import { useRouterView } from '../../components/use-router-view.tsx';

const size = 16;
const leftOf = ({ limit, left, money }: RouteExplanation['limits'][number]): { left: string; limit: string } =>
  money
    ? { left: formatAmount(money.left, money.currency), limit: formatAmount(money.limit, money.currency) }
    : { left: formatNumber(left), limit: formatNumber(limit) };

export function ExplanationView({ answer }: { answer: RouteExplanation }) {
  const { t } = useTranslation('explain');
  const { part = answer, chooser } = useRouterView(answer);
  const { resolved, switches, limits } = answer;
  const { nodes, refusal } = part;
  return (
    <Card withBorder aria-label={t('result')} component="section">
      {chooser}
      <Timeline bulletSize={30} lineWidth={2} active={99} color={refusal ? 'red' : undefined}>
        <Timeline.Item bullet={<IconBox size={size} aria-hidden />} title={t('name', { name: answer.requested_model })}>
          <Text size="sm" className="anywhere">
            {resolved ? t(`resolved.${resolved.kind}`, { name: resolved.name, via: t(`via.${resolved.via}`) }) : t('unresolved')}
          </Text>
        </Timeline.Item>
        {resolved && (
          <Timeline.Item
            bullet={answer.granted ? <IconLockOpen size={size} aria-hidden /> : <IconLock size={size} aria-hidden />}
            title={t(answer.granted ? 'granted' : 'notGranted')}
          >
            <Text size="sm" className="anywhere">
              {t('group', { key: answer.access_key, group: answer.key_group })}
            </Text>
          </Timeline.Item>
        )}
        {switches.length > 0 && (
          <Timeline.Item bullet={<IconArrowRampRight size={size} aria-hidden />} title={t('switches')}>
            {switches.map((one) => (
              <Text key={`${one.owner} ${one.index}`} size="sm" className="anywhere">
                {t('switch', { owner: one.owner, index: one.index + 1, model: one.use_model })}
              </Text>
            ))}
          </Timeline.Item>
        )}
        {nodes.length > 0 && (
          <Timeline.Item bullet={<IconScale size={size} aria-hidden />} title={t('nodes')}>
            <Text size="sm" c="dimmed" mb="xs">
              {[answer.strategy, answer.static_binding && t('staticBinding'), answer.pinned_to && t('pinned', { model: answer.pinned_to })]
                .filter(Boolean)
                .join(' · ')}
            </Text>
            <Text size="xs" c="dimmed" mb="xs">
              {t('standing')}
            </Text>
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
              {nodes.map((node) => (
                <NodeCard key={node.model} node={node} />
              ))}
            </SimpleGrid>
          </Timeline.Item>
        )}
        {limits.length > 0 && (
          <Timeline.Item bullet={<IconGauge size={size} aria-hidden />} title={t('limits')}>
            <Stack gap={2}>
              {limits.map((one) => (
                <Text key={`${one.layer} ${one.name}`} size="sm" className="anywhere">
                  {t(`layers.${one.layer}`, { defaultValue: one.layer })} · {one.name}: {t('left', leftOf(one))}
                </Text>
              ))}
            </Stack>
          </Timeline.Item>
        )}
        <Timeline.Item bullet={refusal ? <IconX size={size} aria-hidden /> : <IconCheck size={size} aria-hidden />} title={t('outcome')}>
          {refusal ? (
            <Alert color="red" variant="light" mt="xs">
              <Badge color="red" mr="xs">
                {refusal.status} {refusal.code}
              </Badge>
              <Text span size="sm" className="anywhere">
                {refusal.message}
              </Text>
            </Alert>
          ) : (
            <Text size="sm">{t('sent')}</Text>
          )}
        </Timeline.Item>
      </Timeline>
    </Card>
  );
}
