/** How each entry stands right now, read again every three seconds. */

import { Fieldset, Stack, Text } from '@mantine/core';
import type { BalancerNodes } from '@model-gateway/console/answers';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call, path } from '../../api/client.ts';
import { FaultNotice } from '../../components/fault-notice.tsx';
import { NodeCard } from '../../components/node-card.tsx';
import { useRouterView } from '../../components/use-router-view.tsx';

const refreshMs = 3000;

export function Nodes({ name }: { name: string }) {
  const { t } = useTranslation('load-balancers');
  const nodes = useQuery({
    queryKey: ['load-balancers', 'nodes', name],
    queryFn: ({ signal }) => call<BalancerNodes>(path('load-balancers', name, 'nodes'), { signal }),
    refetchInterval: refreshMs,
  });
  const { part, chooser } = useRouterView(nodes.data);
  return (
    <Fieldset legend={t('nodes')}>
      <Stack gap="xs">
        {nodes.isError && <FaultNotice error={nodes.error} />}
        {chooser}
        {part?.nodes.map((node) => (
          <NodeCard key={node.model} node={node} />
        ))}
        {part?.nodes.length === 0 && (
          <Text size="sm" c="dimmed">
            {t('noNodes')}
          </Text>
        )}
      </Stack>
    </Fieldset>
  );
}
